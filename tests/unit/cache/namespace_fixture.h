// Databases with namespaces, and what trims them.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "cache/evict/eviction.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {

class NamespaceFixture : public KeyspaceFixture {
 public:
  void Have(const std::vector<Namespaces::Wanted>& wanted) {
    databases.AdoptNamespaces(databases.namespaces().Prepare(wanted));
  }
  Namespace& Space(std::string_view name) { return *databases.namespaces().Find(name); }
  // Sets the key, later than all before it.
  Entry* SetNext(std::string_view key, std::string_view value = "v", Expiry expiry = Expiry::Never(),
                 unsigned index = 0) {
    clock.AdvanceTime(Entry::kStampMs);
    return Set(key, value, expiry, index);
  }
  // What becomes of the namespace after a command.
  Evictor::Outcome Trim(Namespace& space, EvictionPolicy policy = EvictionPolicy::kAllKeysLru,
                        size_t budget = 1000) {
    databases.namespaces().TakeGrown([](Namespace&) {});
    return evictor.Trim(space, {.policy = policy}, now(), budget);
  }
  bool Valid() {
    for (unsigned i = 0; i < databases.count(); ++i) {
      if (!db(i).Validate()) return false;
    }
    return true;
  }
  void FreeAll() {
    while (databases.FreeSome(1000)) {
    }
  }

  std::mt19937_64 random{5};
  Evictor evictor{databases, random};
};

}  // namespace mayfly
