// Keeps streams from eviction while work would be lost with them: as long as tasks wait for the stream (SET ... INTO), or a
// consumer group has delivered entries that nobody has acknowledged. No policy takes such a stream, and neither does
// `maxkeys` or a limit of a namespace.
//
//   lists of victims --an eviction meets the stream: Spare--> Quota::kSpared, Quota::kSparedExpiring
//                    <--LookAgain: the stream may go now--
//
// Nobody notes that tasks or deliveries come and go; only evictions look. An eviction that meets such a stream moves the
// entry to a list without victims. So no other eviction meets the stream again, however many there are, and a policy whose
// lists of victims are empty knows at once that there is no victim. While there are spared streams, each eviction looks again
// at some of them, in turn (Evictor).
//
// The mark of a spared stream is in its extra (EntryExtra::spared): other entries cost no byte, and an access to them costs no
// instruction. A stream keeps the extra until its deadline changes.
//
// A part of Keyspace, which owns the entries. Loop thread only.
#pragma once

#include <cstddef>

#include "base/time/clock.h"
#include "cache/entry/entry.h"
#include "cache/owners/quota.h"

namespace mayfly {

class Keyspace;

class SparedStreams {
 public:
  explicit SparedStreams(Keyspace& keyspace) noexcept : keyspace_(keyspace) {}

  // True if work would be lost with the entry.
  bool MustStay(const Entry& entry) const noexcept;
  // Moves an entry that an eviction has chosen out of the lists of victims. If there is no memory for an extra, the entry
  // counts as used just now instead. REQUIRES: MustStay(entry), and entry.evictable().
  void Spare(Entry& entry, Now now) noexcept;
  // Looks at up to `most` entries of each list of spared streams of the quota. An entry that need not stay any more goes back
  // to its place among the victims. Returns the number of these entries. REQUIRES: the quota belongs to this keyspace.
  size_t LookAgain(Quota& quota, size_t most, Now now) noexcept;

 private:
  void Release(Quota& quota, Entry& entry, Now now) noexcept;

  Keyspace& keyspace_;
};

}  // namespace mayfly
