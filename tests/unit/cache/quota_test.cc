#include <random>
#include <string>

#include "support/catch.h"
#include "unit/cache/namespace_fixture.h"

namespace mayfly {
namespace {

// What Quotas::Oldest has to return, found by looking at all lists.
const Entry* OldestOfAll(const Quotas& quotas, bool with_lasting, Now now, uint8_t leaves_out) {
  const Entry* oldest = nullptr;
  int64_t most = -1;
  quotas.ForEach([&](const Quota& quota) {
    if ((quota.promised & leaves_out) != 0) return;
    for (const Quota::List list : {Quota::kExpiring, Quota::kLasting}) {
      const Entry* cold = quota.Coldest(list);
      if (cold == nullptr || (list == Quota::kLasting && !with_lasting)) continue;
      const auto age = static_cast<int64_t>(Entry::IdleMs(cold->stamp(), now.mono_ms));
      if (age <= most) continue;
      most = age;
      oldest = cold;
    }
  });
  return oldest;
}

}  // namespace

TEST_CASE_METHOD(NamespaceFixture,
                 "without limits of their own, owners lose their keys in the order of use of all") {
  Have({{"g", "g"}});
  for (const char* key : {"h1", "g1", "g2", "h2"}) SetNext(key);
  Find("h1");
  for (const char* key : {"g1", "g2", "h2", "h1"}) {
    Entry* oldest = databases.quotas().Oldest(true, now());
    CHECK(oldest->key() == key);
    db().Evict(*oldest, now());
  }
  CHECK(databases.quotas().Oldest(true, now()) == nullptr);
}

TEST_CASE_METHOD(NamespaceFixture, "the oldest of many lists is the one that a search of all finds") {
  Databases many(heap, hasher, changes, 200, now());
  for (int step = 0; step < 30'000; ++step) {
    if (random() % 4 == 0) clock.AdvanceTime(random() % 200);
    if (random() % 5000 == 0) clock.AdvanceTime(uint64_t{30} * 24 * 3'600'000);
    const auto index = static_cast<unsigned>(random() % 3 == 0 ? random() % 200 : random() % 5);
    Keyspace& keyspace = many.At(index);
    const std::string name = "k" + std::to_string(random() % 4);
    const Key key = keyspace.KeyOf(name);
    Entry* entry = keyspace.Find(key, now());
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        keyspace.Put(key, entry, StringValue::Of("v"),
                     random() % 2 == 0 ? Expiry::Never() : In(uint64_t{1} << 50), now());
        break;
      case 3:
        keyspace.Delete(key, now());
        break;
      case 4: {  // keeps its old stamp at the hot end of another list
        Keyspace& to = many.At(static_cast<unsigned>(random() % 5));
        const std::string new_name = "moved" + std::to_string(random() % 3);
        const Key target = to.KeyOf(new_name);
        if (entry != nullptr) keyspace.Move(key, *entry, to, target, to.Peek(target, now()), now());
        break;
      }
      case 5:
        if (random() % 50 == 0) many.Flush(index, now());
        if (random() % 50 == 0) many.Swap(index, static_cast<unsigned>(random() % 200));
        break;
      default:
        break;
    }
    const bool with_lasting = random() % 2 == 0;
    if (random() % 50 == 0) {
      many.quotas().WithId(static_cast<uint8_t>(random() % 5)).promised = static_cast<uint8_t>(random() % 4);
      many.quotas().FollowPromises();
    }
    const auto leaves_out = static_cast<uint8_t>(random() % 4);
    const Entry* expected = OldestOfAll(many.quotas(), with_lasting, now(), leaves_out);
    REQUIRE(many.quotas().Oldest(with_lasting, now(), leaves_out) == expected);
  }
}

}  // namespace mayfly
