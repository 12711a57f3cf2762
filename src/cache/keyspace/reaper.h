// The Reaper frees what nobody may see any more, in slices and without a command: expired keys, members and stale values, keys of
// an invalidated tag or of a flushed namespace, and, at a replica, keys that the master has cut off.
//
// Tasks that are due go into their streams instead (cache/keyspace/tasks.h).
//
// Expiry cannot fail: it relocates nothing, and can do without the memory that it asks for.
//
// A part of Keyspace, which owns the entries. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory/heap.h"
#include "base/time/clock.h"

namespace mayfly {

class Deadlines;
class Entry;
struct Key;
class Keyspace;
struct KeyspaceParts;
class Owners;
class StaleKeys;
class Tags;
class Tasks;

class Reaper {
 public:
  Reaper(Keyspace& keyspace, Tasks& tasks) noexcept;
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;

  // A method with a `budget` subtracts its work: an entry or a member costs 1.
  //
  // Frees what has expired, and delivers tasks. Returns true if work is left at `now`.
  bool Advance(Now now, size_t* budget);
  // Milliseconds from `now` until Advance has work; UINT64_MAX if there will be none.
  uint64_t NextWakeMs(Now now) const noexcept;
  // Frees keys that are cut off (IsCutOff), as by DEL. With `expires`: as expired, if the own clock agrees; and keys whose members
  // have deadlines, too, stay, since the replication stream names them. Tasks at the cutoff become ready. Returns true if some are
  // left.
  bool FreeCutOff(Now cutoff, bool expires, Now now, size_t* budget);
  // Frees this key at once if it is cut off.
  void DropIfCutOff(const Key& key, Now cutoff);
  // The number of the oldest doom, of a tag or a share, some of whose keys are not freed yet; UINT64_MAX if there is none.
  uint64_t OldestDoom() const noexcept;
  // Frees keys with an invalidated tag, and delivers drained tasks. Returns true if work is left.
  bool DoPromised(Now now, size_t* budget);
  // True if DoPromised has work.
  bool HasPromised(Now now) const noexcept;
  // Frees keys with an invalidated tag (Keyspace::Invalidate), and reports each. Returns true if more are left.
  bool FreeInvalidated(size_t* budget);
  // Frees entries and stale values of doomed shares (cache/keyspace/owners.h); clients hear nothing. Returns true if more are left.
  bool FreeDoomed(size_t* budget) noexcept;

 private:
  // Handles the due entries that Deadlines returns.
  void OnDue(std::span<const HeapRef> due, Now now, size_t* budget);
  void OnOwnTime(const Key& key, Entry& entry, Now now, size_t* budget);

  Keyspace& keyspace_;
  Tasks& tasks_;
  KeyspaceParts& parts_;
  Owners& owners_;
  Tags& tags_;
  Deadlines& deadlines_;
  StaleKeys& stale_;
  size_t kept_after_cutoff_ = 0;  // entries that the last FreeCutOff has met, and has not freed
  bool stale_first_ = false;      // true: Advance begins with stale values; changes with each call
};

}  // namespace mayfly
