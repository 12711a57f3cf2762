// Moves entries of a keyspace out of memory that is mostly unused (Heap::IsSparse). Then the memory comes free.
//
// An entry keeps its places in all orders, and to move is no change: nobody hears of it. Entries that are due, and those whose
// times have neighbours of their own, stay where they are: they go soon, or are few. Borrows the keyspace. Loop thread only.
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
  // REQUIRES: nobody has a pointer to an entry.
  uint64_t Pass(uint64_t cursor, Now now, Count& count) noexcept;

 private:
  bool MayMove(const Entry& entry, Now now) const noexcept;
  // False if there is no memory.
  bool Move(Entry& entry, Now now) noexcept;

  Keyspace& keyspace_;
};

}  // namespace mayfly
