// Finds entries of a keyspace for eviction policies that need an entry by chance or by deadline. Entries may have expired.
// Changes nothing but the hand of a quota.
#pragma once

#include <random>

#include "cache/keyspace/keyspace.h"

namespace mayfly {

class Sampling {
 public:
  using List = Keyspace::List;

  explicit Sampling(const Keyspace& keyspace) noexcept : keyspace_(keyspace) {}

  // A key with one of the nearest deadlines, or null if no key has a deadline.
  Entry* NearestDeadline(Now now) const noexcept;
  // A random entry of `list`; null if the list is empty.
  Entry* RandomOf(List list, std::mt19937_64& random) const;
  // A random entry of `list` of one quota. REQUIRES: the quota belongs to this keyspace.
  Entry* RandomOf(const Quota& quota, List list, std::mt19937_64& random) const;
  // An entry of the pool for a policy that samples: a random entry. If few entries are in the pool, or `with_lasting` is
  // false and few have a TTL: the next entry in turn of a list of the pool. Null if there is no such entry.
  // REQUIRES: the access effect is AccessEffect::kFrequency.
  Entry* Sample(bool with_lasting, const EvictionPool& pool, std::mt19937_64& random) noexcept;

 private:
  Entry& Any(std::mt19937_64& random) const { return *keyspace_.At(keyspace_.table().Random(random)); }

  const Keyspace& keyspace_;
};

}  // namespace mayfly
