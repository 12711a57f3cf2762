#include "cache/types/hash_value.h"

#include <array>
#include <map>
#include <random>
#include <set>
#include <string>

#include "support/catch.h"

namespace mayfly {
namespace {

using Texts = std::map<std::string, std::string>;

class HashFixture {
 public:
  bool Set(HashValue& hash, std::string_view field, std::string_view value, bool keep_deadline = false) {
    const std::array<std::string_view, 2> pair{field, value};
    HashValue::Progress progress;
    hash.Set(pair, limits, home(), keep_deadline, progress);
    REQUIRE(progress.fields == 1);
    return progress.added == 1;
  }
  static std::string Get(const HashValue& hash, std::string_view field) {
    char room[HashValue::kRoom];
    return std::string(hash.Get(field, room).value_or("(none)"));
  }
  static Texts All(const HashValue& hash) {
    Texts all;
    hash.ForEach([&](std::string_view name, std::string_view value) {
      REQUIRE(all.emplace(std::string(name), std::string(value)).second);
    });
    return all;
  }
  // Of this many fields.
  HashValue& Fill(HashValue& hash, size_t fields) {
    for (size_t i = 0; i < fields; ++i) Set(hash, "f" + std::to_string(i), "v" + std::to_string(i));
    return hash;
  }
  MemberHome home() { return {heap, hasher}; }
  Expiry In(uint64_t ms) { return Expiry::In(ms, now()); }
  Now now() { return clock.Read(); }

  Heap heap;
  Hasher hasher{20240229};
  HashLimits limits{.fields = 8, .text_bytes = 20};
  SteppedClock clock;
};

}  // namespace

TEST_CASE_METHOD(HashFixture, "a hash has fields with values, whatever they look like") {
  HashValue hash;
  CHECK(Set(hash, "field", "value"));
  CHECK(Set(hash, "12", "-345"));
  CHECK(Set(hash, "", ""));
  CHECK_FALSE(Set(hash, "field", "another"));
  CHECK(Get(hash, "field") == "another");
  CHECK(Get(hash, "12") == "-345");
  CHECK(Get(hash, "").empty());
  CHECK(Get(hash, "012") == "(none)");
  CHECK(hash.Size() == 3);
  CHECK(hash.Remove("12"));
  CHECK_FALSE(hash.Remove("12"));
  CHECK(All(hash) == Texts{{"field", "another"}, {"", ""}});
  CHECK(hash.Validate());
}

TEST_CASE_METHOD(HashFixture, "a hash becomes large by its number of fields or a long text, and stays so") {
  HashValue hash;
  CHECK(Fill(hash, 8).EncodingName() == "listpack");
  CHECK_FALSE(Set(hash, "f7", "v7"));
  CHECK(hash.EncodingName() == "listpack");
  CHECK(Set(hash, "f8", "v8"));
  CHECK(hash.EncodingName() == "hashtable");
  CHECK(hash.Size() == 9);
  for (int i = 1; i < 9; ++i) CHECK(hash.Remove("f" + std::to_string(i)));
  CHECK(hash.EncodingName() == "hashtable");
  CHECK(All(hash) == Texts{{"f0", "v0"}});

  HashValue of_long_value;
  Set(of_long_value, "a", "1");
  CHECK(Set(of_long_value, "b", std::string(21, 'v')));
  CHECK(of_long_value.EncodingName() == "hashtable");
  CHECK(Get(of_long_value, "a") == "1");
  HashValue of_long_name;
  CHECK(Set(of_long_name, std::string(21, 'n'), "1"));
  CHECK(of_long_name.EncodingName() == "hashtable");
}

TEST_CASE_METHOD(HashFixture, "several fields are set at once, and a later value counts") {
  HashValue hash;
  const std::vector<std::string_view> pairs{"a", "1", "b", "2", "a", "3"};
  HashValue::Progress progress;
  hash.Set(pairs, limits, home(), false, progress);
  CHECK(progress.fields == 3);
  CHECK(progress.added == 2);
  CHECK(All(hash) == Texts{{"a", "3"}, {"b", "2"}});
}

TEST_CASE_METHOD(HashFixture, "a hash knows its nearest deadline and drops what is due, in either form") {
  const size_t fields = GENERATE(6, 100);
  HashValue hash;
  Fill(hash, fields);
  CHECK(hash.NextDeadline().kind == Expiry::Kind::kNever);
  CHECK(hash.DeadlineOf("f1").kind == Expiry::Kind::kNever);
  hash.SetDeadline("f1", In(30), now());
  hash.SetDeadline("f2", In(10), now());
  hash.SetDeadline("f3", In(20), now());
  CHECK(hash.EncodingName() == (fields == 6 ? "listpackex" : "hashtable"));
  CHECK(hash.NextDeadline().deadline_ms == In(10).deadline_ms);
  CHECK(hash.DeadlineOf("f1").deadline_ms == In(30).deadline_ms);
  CHECK(hash.ClearDeadline("f2"));
  CHECK_FALSE(hash.ClearDeadline("f2"));
  CHECK(hash.NextDeadline().deadline_ms == In(20).deadline_ms);
  clock.AdvanceTime(19);
  CHECK_FALSE(hash.NextDeadline().Reached(now()));
  clock.AdvanceTime(1);
  CHECK(hash.DropDue(now(), 10, nullptr) == 1);
  CHECK(Get(hash, "f3") == "(none)");
  CHECK(Get(hash, "f2") == "v2");
  clock.AdvanceTime(10);
  CHECK(hash.DropDue(now(), 10, nullptr) == 1);
  CHECK(hash.Size() == fields - 2);
  CHECK(hash.NextDeadline().kind == Expiry::Kind::kNever);
  CHECK(hash.Validate());
}

TEST_CASE_METHOD(HashFixture, "a field that is set loses its deadline unless it is to keep it") {
  const size_t fields = GENERATE(6, 100);
  HashValue hash;
  Fill(hash, fields);
  for (const char* field : {"f0", "f1", "f2", "f3"}) hash.SetDeadline(field, In(10), now());
  Set(hash, "f0", "xx");
  Set(hash, "f1", "a longer value");
  Set(hash, "f2", "xx", true);
  Set(hash, "f3", "a longer value", true);
  CHECK(hash.DeadlineOf("f0").kind == Expiry::Kind::kNever);
  CHECK(hash.DeadlineOf("f1").kind == Expiry::Kind::kNever);
  CHECK(hash.DeadlineOf("f2").deadline_ms == In(10).deadline_ms);
  CHECK(hash.DeadlineOf("f3").deadline_ms == In(10).deadline_ms);
  CHECK(hash.Validate());
  clock.AdvanceTime(10);
  CHECK(hash.DropDue(now(), 10, nullptr) == 2);
  CHECK(Get(hash, "f1") == "a longer value");
}

TEST_CASE_METHOD(HashFixture, "all deadlines of a hash are on the clock of its first") {
  HashValue hash;
  Fill(hash, 5);
  hash.SetDeadline("f0", In(50), now());
  hash.SetDeadline("f1", Expiry::At(now().wall_ms + 20), now());
  CHECK(hash.DeadlineOf("f1").kind == Expiry::Kind::kRelative);
  CHECK(hash.NextDeadline().deadline_ms == In(20).deadline_ms);
  hash.ClearDeadline("f0");
  hash.ClearDeadline("f1");
  hash.SetDeadline("f2", Expiry::At(now().wall_ms + 20), now());
  CHECK(hash.NextDeadline().kind == Expiry::Kind::kWall);
  hash.SetDeadline("f3", In(10), now());
  CHECK(static_cast<int64_t>(hash.NextDeadline().deadline_ms) == now().wall_ms + 10);
}

TEST_CASE_METHOD(HashFixture, "a deadline that is to come is not over, whatever the clock showed before") {
  HashValue hash;
  Fill(hash, 100);
  hash.SetDeadline("f0", Expiry::At(now().wall_ms + 20), now());
  clock.AdvanceTime(20);
  CHECK(hash.DropDue(now(), 10, nullptr) == 1);
  SECTION("on the other clock") {
    hash.SetDeadline("f1", In(10), now());
    CHECK(hash.NextDeadline().kind == Expiry::Kind::kRelative);
  }
  SECTION("after the clock was set back") {
    clock.StepWall(-3'600'000);
    hash.SetDeadline("f1", Expiry::At(now().wall_ms + 10), now());
  }
  CHECK(hash.Has("f1"));
  CHECK(hash.Live() == 99);
  clock.AdvanceTime(10);
  CHECK(hash.DropDue(now(), 10, nullptr) == 1);
  CHECK(hash.Size() == 98);
}

TEST_CASE_METHOD(HashFixture, "what is due and not dropped yet is absent") {
  HashValue hash;
  Fill(hash, 100);
  for (int i = 0; i < 60; ++i) hash.SetDeadline("f" + std::to_string(i), In(10), now());
  clock.AdvanceTime(10);
  CHECK(hash.DropDue(now(), 25, nullptr) == 25);
  CHECK(hash.Size() == 75);
  CHECK(hash.Live() == 40);
  CHECK(All(hash).size() == 40);
  size_t due = 0;
  for (int i = 0; i < 60; ++i) {
    const std::string field = "f" + std::to_string(i);
    due += hash.Has(field) || Get(hash, field) != "(none)" || hash.Remove(field) ? 1 : 0;
  }
  CHECK(due == 0);
  std::mt19937_64 random(1);
  std::set<std::string> drawn;
  for (int i = 0; i < 2000; ++i)
    hash.Random(random, [&](std::string_view name, std::string_view) { drawn.emplace(name); });
  CHECK(drawn.size() == 40);
  CHECK(hash.Clone()->Size() == 75);
  // Set again, one of them is a new field.
  CHECK(Set(hash, "f3", "v"));
  CHECK(Set(hash, "f4", "a longer value", true));
  CHECK(hash.DeadlineOf("f4").kind == Expiry::Kind::kNever);
  CHECK(hash.Live() == 42);
  CHECK(hash.Validate());
  while (hash.DropDue(now(), 10, nullptr) != 0) CHECK(hash.Live() == 42);
  CHECK(hash.Size() == 42);
}

TEST_CASE_METHOD(HashFixture, "a copy has the same fields and deadlines, and is a hash of its own") {
  const size_t fields = GENERATE(0, 6, 100);
  HashValue hash;
  Fill(hash, fields);
  if (fields != 0) hash.SetDeadline("f1", In(10), now());
  const std::unique_ptr<RichValue> clone = hash.Clone();
  auto& copy = static_cast<HashValue&>(*clone);
  CHECK(All(copy) == All(hash));
  CHECK(copy.NextDeadline().deadline_ms == hash.NextDeadline().deadline_ms);
  CHECK(copy.Validate());
  Set(copy, "f1", "changed");
  if (fields != 0) CHECK(Get(hash, "f1") == "v1");
}

// Model: values, and deadlines in ms from now.
TEST_CASE_METHOD(HashFixture, "a hash does what a map does, with deadlines, and counts its bytes") {
  limits.fields = GENERATE(0, 30, 100'000);
  std::mt19937_64 random(limits.fields + 5);
  HashValue hash;
  Texts model;
  std::map<std::string, uint64_t> deadlines;
  for (int step = 0; step < 20'000; ++step) {
    const std::string field = (random() % 2 == 0 ? "" : "field:") + std::to_string(random() % 60);
    const bool there = model.contains(field);
    switch (random() % 8) {
      case 0:
        REQUIRE(hash.Remove(field) == there);
        model.erase(field);
        deadlines.erase(field);
        break;
      case 1:
        if (there) {
          deadlines[field] = now().mono_ms + 1 + random() % 300;
          hash.SetDeadline(field, {Expiry::Kind::kRelative, deadlines[field]}, now());
        }
        break;
      case 2:
        if (there) REQUIRE(hash.ClearDeadline(field) == (deadlines.erase(field) == 1));
        break;
      case 3:
        clock.AdvanceTime(random() % 10);
        hash.DropDue(now(), 1 + random() % 3, nullptr);
        if (!hash.large()) REQUIRE_FALSE(hash.NextDeadline().Reached(now()));
        std::erase_if(deadlines, [&](const auto& timed) {
          const bool due = timed.second <= now().mono_ms;
          if (due) model.erase(timed.first);
          return due;
        });
        break;
      default: {
        const std::string value =
            random() % 2 == 0 ? std::to_string(random() % 1000) : std::string(random() % 20, 'v');
        const bool keep = random() % 2 == 0;
        REQUIRE(Set(hash, field, value, keep) == !there);
        model[field] = value;
        if (!keep) deadlines.erase(field);
      }
    }
    REQUIRE(hash.Live() == model.size());
    REQUIRE(Get(hash, field) == (model.contains(field) ? model[field] : "(none)"));
    if (step % 500 == 0) {
      REQUIRE(hash.Validate());
      REQUIRE(All(hash) == model);
    }
  }
  Texts scanned;
  uint64_t cursor = 0;
  do {
    cursor = hash.Scan(cursor,
                       [&](std::string_view name, std::string_view value) { scanned.emplace(name, value); });
  } while (cursor != 0);
  CHECK(scanned == model);
}

TEST_CASE_METHOD(HashFixture, "a hash with many fields is freed in slices") {
  auto hash = std::make_unique<HashValue>();
  CHECK(hash->BurialLink() == nullptr);
  Fill(*hash, 5000);
  for (int i = 0; i < 5000; ++i) hash->SetDeadline("f" + std::to_string(i), In(10), now());
  CHECK(hash->Bytes() > 5000 * 16);
  REQUIRE(hash->BurialLink() != nullptr);
  int slices = 1;
  while (!hash->FreeSome(1000)) ++slices;
  CHECK(slices > 3);
}

}  // namespace mayfly
