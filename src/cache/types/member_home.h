// Where the members of large values live: the keyspace's heap, and how they are hashed. Borrows both. And the order of
// the table that finds them (cache/table_memory.h).
#pragma once

#include <cstdint>

namespace mayfly {

class Hasher;
class Heap;

struct MemberHome {
  Heap& heap;
  const Hasher& hasher;
  uint32_t order = 1;
};

}  // namespace mayfly
