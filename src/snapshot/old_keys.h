// The keys that a master's file lacks: served until the file is loaded, and then removed.
//
//   a key of the file --Keep--> the hash is in a set          at the end --RemoveSome--> every other key goes, in slices
//
// Two keys with the same hash count as one: a key that the master does not have may then stay.
//
// Borrows databases. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "snapshot/hash_places.h"

namespace mayfly {

class Databases;
class Keyspace;

class OldKeys {
 public:
  // Throws std::bad_alloc.
  explicit OldKeys(Databases& databases) : databases_(databases) {}

  // The file has a key with this hash. Throws std::bad_alloc.
  void Keep(const Keyspace& home, uint64_t hash);
  // Removes keys that the file lacks. Subtracts the number of keys looked at from `budget`. Returns true at the end. Throws
  // std::bad_alloc.
  bool RemoveSome(Now now, size_t& budget);
  uint64_t bytes() const noexcept { return kept_.bytes(); }

 private:
  Databases& databases_;
  HashPlaces kept_;
  unsigned database_ = 0;  // the place of the removal
  uint64_t cursor_ = 0;
  std::vector<std::string> page_;
};

}  // namespace mayfly
