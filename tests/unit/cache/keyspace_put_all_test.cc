// Several keys that are put in one step.
#include <map>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Their keys are views into `pairs`.
std::vector<KeyPut> PutsOf(Keyspace& keyspace, const Pairs& pairs) {
  std::vector<KeyPut> puts;
  for (const auto& [key, value] : pairs) puts.push_back({keyspace.KeyOf(key), StringValue::Of(value)});
  return puts;
}
std::vector<KeyPut> PutsOf(Keyspace& keyspace, Pairs&& pairs) = delete;

std::string TextOf(const Entry& entry) {
  return entry.encoding() == Encoding::kInteger ? std::to_string(entry.integer()) : std::string(entry.text());
}

std::map<std::string, std::string> AllOf(const Keyspace& keyspace, Now now) {
  std::map<std::string, std::string> all;
  keyspace.ForEach(now, [&](const Entry& entry) { all.emplace(entry.key(), TextOf(entry)); });
  return all;
}

}  // namespace

TEST_CASE_METHOD(KeyspaceFixture,
                 "keys that are put together are told of in their order, each once for each pair") {
  Set("there", "v");
  ChangeLog log;
  changes.Listen(log, ~0U);
  const Pairs pairs = {{"b", "1"}, {"there", std::string(300, 'x')}, {"a", "2"}, {"b", std::string(50, 'y')}};
  std::vector<KeyPut> puts = PutsOf(db(), pairs);
  db().PutAll(puts, false, Expiry::Never(), now());
  changes.Unlisten(log);
  std::vector<ChangeLog::Seen> expected;
  for (const auto& [key, value] : pairs) {
    const bool again = key == "there" || &value == &pairs.back().second;
    expected.push_back({again ? ChangeReason::kValueChanged : ChangeReason::kCreated, key});
  }
  CHECK(log.seen == expected);
  CHECK(AllOf(db(), now()) == std::map<std::string, std::string>{
                                  {"a", "2"}, {"b", std::string(50, 'y')}, {"there", std::string(300, 'x')}});
  CHECK(db().Validate());
}

TEST_CASE_METHOD(KeyspaceFixture, "keys that are put together keep their expiry, or all get one") {
  Set("mono", "v", In(100));
  Set("wall", "v", Expiry::At(now().wall_ms + 200));
  const Pairs longer = {{"mono", "longer than before"}, {"wall", "w"}, {"new", "v"}};
  std::vector<KeyPut> puts = PutsOf(db(), longer);
  db().PutAll(puts, true, Expiry::Never(), now());
  CHECK(TtlMs(*Peek("mono"), now()) == 100);
  CHECK(TtlMs(*Peek("wall"), now()) == 200);
  CHECK_FALSE(Peek("new")->expires());
  const Pairs shorter = {{"mono", "v"}, {"wall", "w"}, {"new", "v"}};
  puts = PutsOf(db(), shorter);
  db().PutAll(puts, false, In(300), now());
  for (const char* key : {"mono", "wall", "new"}) CHECK(TtlMs(*Peek(key), now()) == 300);
  CHECK(db().Validate());
}

TEST_CASE_METHOD(KeyspaceFixture, "random pairs put together leave what putting one after the other leaves") {
  std::mt19937_64 random(3);
  std::map<std::string, std::string> model;
  for (int step = 0; step < 3000; ++step) {
    databases.SetAccessEffect(random() % 2 == 0 ? AccessEffect::kRecency : AccessEffect::kVisitedBit);
    Pairs pairs;
    for (uint64_t i = random() % 8; i > 0; --i) {
      std::string value(random() % 3 == 0 ? random() % 20'000 : random() % 40, 'v');
      if (random() % 4 == 0) value = std::to_string(random() % 100'000);
      pairs.emplace_back("k" + std::to_string(random() % 50), value);
    }
    std::vector<KeyPut> puts = PutsOf(db(), pairs);
    db().PutAll(puts, random() % 2 == 0, random() % 2 == 0 ? In(1'000'000) : Expiry::Never(), now());
    for (const auto& [key, value] : pairs) model[key] = value;
    REQUIRE(db().Validate());
  }
  CHECK(AllOf(db(), now()) == model);
}

TEST_CASE_METHOD(KeyspaceFixture, "who is told of one of the keys finds all of them in their places") {
  class Validator : public ChangeListener {
   public:
    explicit Validator(Keyspace& keyspace) : keyspace_(keyspace) {}
    void OnChange(const Change&) override { CHECK(keyspace_.Validate()); }

   private:
    Keyspace& keyspace_;
  } validator(db());
  const Pairs first = {{"a", "1"}};
  std::vector<KeyPut> puts = PutsOf(db(), first);
  db().PutAll(puts, false, Expiry::Never(), now());
  changes.Listen(validator, ChangeHub::kAllReasons);
  const Pairs pairs = {{"b", "1"}, {"a", std::string(100, 'v')}, {"c", "1"}, {"b", "2"}};
  puts = PutsOf(db(), pairs);
  db().PutAll(puts, false, In(1000), now());
  changes.Unlisten(validator);
}

TEST_CASE_METHOD(KeyspaceFixture, "where there is no room for all of them none is put") {
  Heap small(Heap::kMinRegionBytes);
  Databases tight(small, hasher, changes, 1, now());
  Keyspace& keyspace = tight.At(0);
  const std::string value(10'000, 'v');
  const Pairs first = {{"a", "old"}, {"b", value}};
  std::vector<KeyPut> puts = PutsOf(keyspace, first);
  keyspace.PutAll(puts, false, Expiry::Never(), now());
  const std::map<std::string, std::string> before = AllOf(keyspace, now());
  const uint64_t bytes = keyspace.bytes();
  Pairs pairs = {{"a", value}};
  for (uint64_t i = 0; i < Heap::kMinRegionBytes / value.size() + 1; ++i)
    pairs.emplace_back("k" + std::to_string(i), value);
  puts = PutsOf(keyspace, pairs);
  const uint64_t allocated = small.ThreadBytes();
  CHECK_THROWS_AS(keyspace.PutAll(puts, false, Expiry::Never(), now()), std::bad_alloc);
  CHECK(small.ThreadBytes() < allocated + 1'000'000);  // what was made is freed
  CHECK((AllOf(keyspace, now()) == before));
  CHECK(keyspace.bytes() == bytes);
  CHECK(keyspace.Validate());
}

}  // namespace mayfly
