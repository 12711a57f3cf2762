// Moves entries of a keyspace out of sparsely used memory (Heap::IsSparse), to let the heap free this memory.
//
// An entry keeps its places in all orders, and a move is no change: no listener hears of a move. Some entries stay in place:
// absent entries, because they go soon; entries with EntryTimes or timed members, because they are few. Borrows the
// keyspace. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time/clock.h"
#include "cache/keyspace/keyspace.h"

namespace mayfly {

class Compactor {
 public:
  struct Count {
    size_t looked = 0;
    size_t moved = 0;
  };

  explicit Compactor(Keyspace& keyspace) noexcept : keyspace_(keyspace) {}

  // Goes through a page of SCAN, and returns the next cursor.
  // REQUIRES: no caller keeps a pointer to an entry.
  uint64_t Pass(uint64_t cursor, Now now, Count& count) noexcept;

 private:
  bool MayMove(const Entry& entry, Now now) const noexcept;
  // Returns false if out of memory.
  bool Move(Entry& entry, Now now) noexcept;

  Keyspace& keyspace_;
};

}  // namespace mayfly
