#include <limits>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "cache/eviction.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {
namespace {

constexpr uint8_t kGuest = 100;

class QuotaFixture : public KeyspaceFixture {
 public:
  // Sets the key for the owner, which the key's first letter stands for: "g" is the guest's.
  Entry* SetOwn(const std::string& key, std::string_view value = "v", Expiry expiry = Expiry::Never()) {
    clock.AdvanceTime(Entry::kStampMs);
    db().ActFor(key[0] == 'g' ? kGuest : db().id());
    return Set(key, value, expiry);
  }
  Evictor::Outcome Trim(Quota& quota) { return evictor.RunWithin(quota, now(), 1000); }

  std::mt19937_64 random{5};
  Evictor evictor{databases, random};
};

// What Quotas::Oldest has to return, found by looking at all lists.
const Entry* OldestOfAll(const Quotas& quotas, bool with_lasting, Now now) {
  const Entry* oldest = nullptr;
  int64_t most = -1;
  quotas.ForEach([&](const Quota& quota) {
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

TEST_CASE_METHOD(QuotaFixture,
                 "of two owners in one table, the one over its limit loses its own oldest keys") {
  Quota& guest = db().AddOwner(kGuest, {.keys = 3});
  for (const char* key : {"h1", "g1", "h2", "g2", "g3", "h3"}) SetOwn(key);
  CHECK(Trim(guest) == Evictor::Outcome::kWithin);
  CHECK(guest.size() == 3);
  SetOwn("g4", "v", In(1'000'000));
  Find("g1");
  CHECK(Trim(guest) == Evictor::Outcome::kWithin);
  CHECK(guest.size() == 3);
  CHECK(Peek("g2") == nullptr);
  CHECK(Peek("g1") != nullptr);
  CHECK(db().quota().size() == 3);
  CHECK(db().size() == 6);
  CHECK(db().Validate());
}

TEST_CASE_METHOD(QuotaFixture, "a flood of one owner evicts nothing of the other") {
  Quota& guest = db().AddOwner(kGuest, {.bytes = 10'000});
  for (int i = 0; i < 50; ++i) SetOwn("h" + std::to_string(i), std::string(100, 'h'));
  for (int i = 0; i < 2000; ++i) {
    SetOwn("g" + std::to_string(i), std::string(100, 'g'), i % 2 == 0 ? In(1'000'000) : Expiry::Never());
    REQUIRE(Trim(guest) == Evictor::Outcome::kWithin);
    REQUIRE(guest.bytes <= 10'000);
  }
  CHECK(db().quota().size() == 50);
  CHECK(guest.size() > 50);
  CHECK(Peek("g1999") != nullptr);
  CHECK(db().expiring() == guest.CountOf(Quota::kExpiring));
  CHECK(db().bytes() == db().quota().bytes + guest.bytes + db().table_bytes());
  CHECK(db().Validate());
  CHECK(evictor.RunWithin(db().quota(), now(), 0) == Evictor::Outcome::kWithin);
  guest.limits.bytes = 1;
  CHECK(evictor.RunWithin(guest, now(), 1) == Evictor::Outcome::kMore);
  CHECK(Trim(guest) == Evictor::Outcome::kWithin);
  CHECK(guest.size() == 0);
  CHECK(databases.total_keys() == 50);
}

TEST_CASE_METHOD(QuotaFixture,
                 "without limits of their own, owners lose their keys in the order of use of all") {
  db().AddOwner(kGuest);
  for (const char* key : {"h1", "g1", "g2", "h2"}) SetOwn(key);
  Find("h1");
  for (const char* key : {"g1", "g2", "h2", "h1"}) {
    Entry* oldest = databases.quotas().Oldest(true, now());
    CHECK(oldest->key() == key);
    db().Evict(*oldest, now());
  }
  CHECK(databases.quotas().Oldest(true, now()) == nullptr);
}

TEST_CASE_METHOD(QuotaFixture,
                 "an entry keeps its owner when it is overwritten, relocated or put with others") {
  Quota& guest = db().AddOwner(kGuest);
  SetOwn("g1");
  SetOwn("h1");  // acts for the host from now on
  Set("g1", std::string(20'000, 'x'));
  db().SetExpiry(db().KeyOf("g1"), *Peek("g1"), In(1000), now());
  CHECK(guest.CountOf(Quota::kExpiring) == 1);
  CHECK(guest.bytes > 20'000);
  KeyPut puts[] = {{db().KeyOf("g1"), StringValue::Of("short")}, {db().KeyOf("h2"), StringValue::Of("v")}};
  db().PutAll(puts, /*keep_expiry=*/false, Expiry::Never(), now());
  CHECK(Peek("g1")->owner() == kGuest);
  CHECK(guest.size() == 1);
  CHECK(guest.bytes < 100);
  CHECK(db().quota().size() == 2);
  CHECK(db().Validate());
}

TEST_CASE_METHOD(QuotaFixture,
                 "after a flush the owners are still there, with their limits, and hold nothing") {
  db().AddOwner(kGuest, {.keys = 1});
  for (const char* key : {"g1", "g2", "h1"}) SetOwn(key);
  const uint64_t full = heap.ThreadBytes();
  databases.Flush(0, now());
  CHECK(databases.waiting_keys() == 3);
  Entry* entry = SetOwn("g3");
  Quota& guest = databases.quotas().Of(*entry);
  CHECK(guest.owner() == kGuest);
  CHECK(guest.limits.keys == 1);
  CHECK(guest.size() == 1);
  CHECK(db().Validate());
  databases.FreeSome(std::numeric_limits<size_t>::max());
  CHECK(databases.waiting_bytes() == 0);
  CHECK(heap.ThreadBytes() < full);
  CHECK(db().Validate());
}

TEST_CASE_METHOD(QuotaFixture, "the oldest of many lists is the one that a search of all finds") {
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
    const Entry* expected = OldestOfAll(many.quotas(), with_lasting, now());
    REQUIRE(many.quotas().Oldest(with_lasting, now()) == expected);
  }
}

}  // namespace mayfly
