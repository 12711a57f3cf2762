// Entries that move out of memory that is mostly unused: nobody notices, and the memory comes free.
#include "cache/compactor.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {
namespace {

class CompactFixture : public KeyspaceFixture {
 public:
  // A pass through all keys.
  Compactor::Count Compact() {
    Compactor::Count count;
    heap.FlushCaches();
    uint64_t cursor = 0;
    do {
      cursor = Compactor(db()).Pass(cursor, now(), count);
    } while (cursor != 0);
    return count;
  }
  void SetMany(size_t keys, size_t value_bytes, Expiry expiry = Expiry::Never()) {
    for (size_t i = 0; i < keys; ++i) Set(NameOf(i), std::string(value_bytes, 'v'), expiry);
  }
  // Keys that are not multiples of `kept`.
  void DeleteOthers(size_t keys, size_t kept) {
    for (size_t i = 0; i < keys; ++i) {
      if (i % kept != 0) REQUIRE(db().Delete(db().KeyOf(NameOf(i)), now()));
    }
  }
  static std::string NameOf(size_t i) { return "key:" + std::to_string(i); }
  std::vector<std::string> ColdestFirst(Quota::List list) {
    std::vector<std::string> names;
    db().owners().own().ForColdest(list, SIZE_MAX, [&](Entry& entry) { names.emplace_back(entry.key()); });
    return names;
  }
};

}  // namespace

TEST_CASE_METHOD(CompactFixture, "entries that move keep value, order and deadline, and it is no change",
                 "[kernel]") {
  constexpr size_t kKeys = 3000;
  for (size_t i = 0; i < kKeys; ++i) {
    const Expiry expiry = i % 3 == 0   ? Expiry::Never()
                          : i % 3 == 1 ? In(1000 + i)
                                       : Expiry::At(now().wall_ms + 1000 + static_cast<int64_t>(i));
    Set(NameOf(i), std::string(i % 700, static_cast<char>('a' + i % 26)), expiry);
  }
  DeleteOthers(kKeys, 4);
  ChangeLog log;
  changes.Listen(log, ~uint32_t{0});
  const std::vector<std::string> lasting = ColdestFirst(Quota::kLasting);
  const std::vector<std::string> expiring = ColdestFirst(Quota::kExpiring);
  const uint64_t bytes = db().bytes();

  const Compactor::Count count = Compact();
  CHECK(count.looked == kKeys / 4);
  CHECK(count.moved > kKeys / 16);
  CHECK(log.seen.empty());
  changes.Unlisten(log);
  REQUIRE(db().Validate());
  CHECK(db().bytes() == bytes);
  CHECK(ColdestFirst(Quota::kLasting) == lasting);
  CHECK(ColdestFirst(Quota::kExpiring) == expiring);
  for (size_t i = 0; i < kKeys; i += 4) {
    const Entry* const entry = Peek(NameOf(i));
    REQUIRE(entry != nullptr);
    REQUIRE(entry->stored() == std::string(i % 700, static_cast<char>('a' + i % 26)));
  }
  for (size_t ms = 0; ms <= kKeys; ms += 100) {
    for (size_t i = 4; i < kKeys; i += 4)
      REQUIRE((Peek(NameOf(i)) == nullptr) == (i % 3 != 0 && 1000 + i <= ms));
    clock.AdvanceTime(100);
    Settle();
    if (ms == 1000) REQUIRE(Compact().looked == db().size());
  }
}

TEST_CASE_METHOD(CompactFixture, "a tag still finds the keys that have moved", "[kernel]") {
  for (size_t i = 0; i < 400; ++i) {
    const std::string name = NameOf(i);
    const Key key = db().KeyOf(name);
    const std::string_view names[] = {"all", i % 2 == 0 ? "even" : "odd"};
    db().PutOnTerms(key, nullptr, StringValue::Text(std::string(600, 'v')), Expiry::Never(), {}, now(),
                    events::kSet, db().tags().Hold(names));
  }
  DeleteOthers(400, 3);
  CHECK(Compact().moved > 0);
  REQUIRE(db().Validate());
  const std::string_view odd[] = {"odd"};
  CHECK(db().Invalidate(odd, now(), SIZE_MAX) == 67);
  CHECK(Compact().looked == 67);
  CHECK(db().size() == 67);
  CHECK(db().Validate());
}

TEST_CASE_METHOD(CompactFixture, "whatever happens between two pages of a pass, keys and entries agree",
                 "[kernel]") {
  std::mt19937 random(GENERATE(range(1u, 4u)));
  std::map<std::string, std::string> model;
  uint64_t cursor = 0;
  Compactor::Count count;
  for (int step = 0; step < 20'000; ++step) {
    const std::string name = NameOf(random() % 2000);
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        model[name] = std::string(random() % 4 * 300, static_cast<char>('a' + random() % 26));
        Set(name, model[name], random() % 2 == 0 ? Expiry::Never() : In(1'000'000));
        break;
      case 3:
      case 4:
        CHECK(db().Delete(db().KeyOf(name), now()) == (model.erase(name) != 0));
        break;
      case 5: {
        const Entry* const entry = Find(name);
        REQUIRE((entry != nullptr) == model.contains(name));
        if (entry != nullptr) REQUIRE(entry->stored() == model[name]);
        break;
      }
      default:
        cursor = Compactor(db()).Pass(cursor, now(), count);
    }
    if (step % 1000 == 0) REQUIRE(db().Validate());
  }
  CHECK(count.moved > 0);
  CHECK(db().size() == model.size());
}

#ifndef MAYFLY_SANITIZE
TEST_CASE_METHOD(CompactFixture,
                 "when four of five keys have gone, the others move together, and the pages come free",
                 "[kernel]") {
  const size_t value_bytes = GENERATE(20, 90, 200, 450, 600, 1100, 3000, 9000);
  const size_t keys = 16'000'000 / (value_bytes + 100);
  SetMany(keys, value_bytes);
  std::vector<size_t> order(keys);
  for (size_t i = 0; i < keys; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  for (size_t i = 0; i < keys / 5 * 4; ++i) db().Delete(db().KeyOf(NameOf(order[i])), now());
  heap.FlushCaches();
  const Heap::Fill before = heap.ReadFill();
  for (int pass = 0; pass < 4; ++pass) Compact();
  const Heap::Fill after = heap.ReadFill();
  CAPTURE(value_bytes, before.used, before.in_pages, after.used, after.in_pages);
  CHECK(before.in_pages > before.used / 10 * 17);
  CHECK(after.in_pages < after.used / 100 * 115 + (64 << 10));
  REQUIRE(db().Validate());
}
#endif

}  // namespace mayfly
