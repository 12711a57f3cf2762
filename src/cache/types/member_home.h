// The home of the members of large values: the keyspace's heap, the hash of members' names, and the order of a table. The
// order is explained in cache/table/table_memory.h. Borrows heap and hash.
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
