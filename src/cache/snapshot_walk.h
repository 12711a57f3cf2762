// A walk in slices through all keys as of one moment, during later changes: the most recently used keys first.
//
//   start:   Databases::StartWalk marks every entry, at no cost for each
//   a slice: the next entries of the LRU lists, hottest first; the walk visits each marked entry and removes its mark
//   between: before a marked entry changes, goes, or moves to the front of its list, the walk visits the entry and removes
//            its mark
//   a flush: the walk holds the flushed keyspace until it has visited the keys
//
// So the walk visits each key of the first moment once, with the value, expiry, time of last use and database of that moment.
// The walk does not visit keys that had expired or were invalidated or flushed with their namespace before the walk; it
// visits a key that goes later.
//
// Order. The lists of all keyspaces and namespaces are merged by the time of last use. A key that is used during the walk
// comes earlier than its turn (early()); its stamp tells its place. Under a policy whose accesses do not move entries (SIEVE, LFU), each
// list comes in its own order.
//
// Stale values come last, in no order. They are those of the first moment, but a stale value that goes during the walk is not
// visited. Stale values have marks, too: a key that had expired before the walk, and became a stale value during it, was visited
// already, and its mark is gone.
//
// There is one walk at a time. Borrows databases and visitor; the databases must outlive the walk. Loop thread
// only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time/clock.h"
#include "cache/changes/change.h"
#include "cache/entry/id_set.h"
#include "cache/keyspace/databases.h"
#include "cache/owners/quota.h"

namespace mayfly {

class SnapshotVisitor {
 public:
  virtual ~SnapshotVisitor() = default;
  // A key of the database `index`, in `keyspace`. The entry is valid during the call.
  virtual void Visit(unsigned index, const Keyspace& keyspace, const Entry& entry) noexcept = 0;
  // As Visit, for a stale value (STALE): the key of the entry has expired at `deadline`.
  virtual void VisitStale(unsigned /*index*/, const Keyspace& /*keyspace*/, const Entry& /*entry*/,
                          Expiry /*deadline*/) noexcept {}
  // True: Step returns to its caller.
  virtual bool WantsPause() const noexcept { return false; }
};

class SnapshotWalk final : private ChangeListener {
 public:
  // The walk begins here. Throws std::bad_alloc.
  // REQUIRES: no other walk is under way.
  SnapshotWalk(Databases& databases, SnapshotVisitor& visitor, Now now);
  // If the walk is not at its end, walks to the end without visiting anything.
  ~SnapshotWalk() override;
  SnapshotWalk(const SnapshotWalk&) = delete;
  SnapshotWalk& operator=(const SnapshotWalk&) = delete;

  // Passes about `budget` entries, fewer if the visitor wants a pause. Returns true if the walk is at its end.
  bool Step(size_t budget);
  // During a visit: the key comes before its turn, because it is about to change or to be used.
  bool early() const noexcept { return early_; }
  // Visits nothing from now on. The walk still has to come to its end.
  void Abandon() noexcept { visitor_ = nullptr; }

 private:
  struct Part {
    Keyspace* keyspace;
    unsigned index;  // at the start of the walk
    size_t lines;    // of the keyspace, that are not at their end
  };
  // An LRU list on the walk: a line.
  struct Line {
    uint64_t idle_ms;  // of the line's next entry when the line was last looked at, at the start of the walk
    size_t part;
    uint8_t owner;
    Quota::List list;
  };
  static bool IsColder(const Line& a, const Line& b) noexcept;
  void AddLine(size_t part, const Quota& quota, Quota::List list);
  // The line's next entry, or null.
  Entry* NextOf(const Line& line) const noexcept;
  // What no policy evicts comes first: a load that ends for want of memory must not lose it.
  uint64_t IdleOf(const Entry& entry) const noexcept {
    return !entry.evictable() ? 0 : Entry::IdleMs(entry.stamp(), start_.mono_ms);
  }
  void End(const Line& line) noexcept;
  void OnChange(const Change& change) override;
  void BeforeChange(Keyspace& keyspace, const Entry& entry) noexcept override;
  void Visit(const Part& part, const Entry& entry) noexcept;
  const Part* PartOf(const Keyspace& keyspace) const noexcept;
  // The walk through the stale values.
  bool StepStale(size_t budget);
  void VisitStale(const Part& part, Entry& entry) noexcept;
  // True if the part's keyspace was not flushed.
  bool IsThere(const Part& part) const noexcept;

  Databases& databases_;
  SnapshotVisitor* visitor_;
  const Now start_;
  const uint64_t dooms_;                           // of tags, before the walk
  std::vector<Part> parts_;                        // all databases
  std::array<uint8_t, IdSet::kIds> part_of_id_{};  // the place in parts_, by Keyspace::id
  std::vector<Line> lines_;  // those that are not at their end: a heap, the hottest on top
  size_t stale_part_ = 0;    // whose stale values come next
  uint64_t stale_cursor_ = 0;
  bool early_ = false;
};

}  // namespace mayfly
