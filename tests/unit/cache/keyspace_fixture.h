// A set of databases on a small heap with a fixed hash secret and a stepped clock.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cache/keyspace/databases.h"

namespace mayfly {

// Records the changes reported to it.
class ChangeLog final : public ChangeListener {
 public:
  void OnChange(const Change& change) override { seen.push_back({change.reason, std::string(change.key)}); }
  struct Seen {
    ChangeReason reason;
    std::string key;
    bool operator==(const Seen&) const = default;
  };
  std::vector<Seen> seen;
};

class KeyspaceFixture {
 public:
  Keyspace& db(unsigned index = 0) { return databases.At(index); }
  Now now() { return clock.Read(); }

  Entry* Set(std::string_view key, std::string_view value, Expiry expiry = Expiry::Never(),
             unsigned index = 0) {
    const Key hashed = db(index).KeyOf(key);
    return db(index).Put(hashed, db(index).Peek(hashed, now()), StringValue::Of(value), expiry, now());
  }
  Entry* Peek(std::string_view key) { return db().Peek(db().KeyOf(key), now()); }
  Entry* Find(std::string_view key) { return db().Find(db().KeyOf(key), now()); }
  Expiry In(uint64_t ms) { return Expiry::In(ms, now()); }
  // Frees all expired keys.
  void Settle() {
    while (databases.Advance(now(), 1000)) {
    }
  }

  SteppedClock clock;
  Heap heap{Heap::kMinRegionBytes * 8};
  Hasher hasher{1};
  ChangeHub changes;
  Databases databases{heap, hasher, changes, 4, clock.Read()};
};

}  // namespace mayfly
