// Where the members of large values live: the keyspace's heap, and how they are hashed. Borrows both.
#pragma once

namespace mayfly {

class Hasher;
class Heap;

struct MemberHome {
  Heap& heap;
  const Hasher& hasher;
};

}  // namespace mayfly
