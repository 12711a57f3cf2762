// TtlRules: what deadline a key gets instead of the one that was asked for.
#include "cache/time/ttl_rules.h"

#include "support/catch.h"

namespace mayfly {
namespace {

constexpr Now kNow{.mono_ms = 1'000'000, .wall_ms = 1'700'000'000'000};

class TtlRulesTest {
 public:
  void Set(std::vector<TtlRules::Rule> rules, TtlRules::Terms for_all = {}) {
    ttl_rules.Adopt({.rules = std::move(rules), .for_all = for_all}, random);
  }
  // What is left of a TTL that was asked for; -1: none.
  int64_t Left(std::string_view key, Expiry wanted) {
    const Expiry got = ttl_rules.Obeying(key, wanted, kNow);
    if (got.kind == Expiry::Kind::kNever) return -1;
    CHECK(got.stage == Expiry::Stage::kKept);
    return static_cast<int64_t>(got.deadline_ms - Expiry::NowOn(got.kind, kNow));
  }
  static Expiry In(uint64_t ms) { return Expiry::In(ms, kNow); }

  TtlRules ttl_rules;
  std::mt19937_64 random{1};
};

}  // namespace

TEST_CASE_METHOD(TtlRulesTest, "without rules every deadline is as it was asked for") {
  CHECK_FALSE(ttl_rules.any());
  Set({});
  CHECK_FALSE(ttl_rules.any());
}

TEST_CASE_METHOD(TtlRulesTest,
                 "the first rule that matches counts, and the rest is said by the rule for all keys") {
  Set({{.pattern = "a*", .default_ms = 10}, {.pattern = "ab*", .default_ms = 20, .max_ms = 30}},
      {.default_ms = 40, .max_ms = 50});
  CHECK(Left("ab", Expiry::Never()) == 10);
  CHECK(Left("ab", In(70)) == 50);
  CHECK(Left("b", Expiry::Never()) == 40);
  CHECK(Left("b", In(49)) == 49);
}

TEST_CASE_METHOD(TtlRulesTest, "the maximum clamps deadlines on both clocks, and no key lasts") {
  Set({}, {.max_ms = 100});
  CHECK(Left("k", In(101)) == 100);
  CHECK(Left("k", In(99)) == 99);
  CHECK(Left("k", Expiry::At(kNow.wall_ms + 101)) == 100);
  CHECK(Left("k", Expiry::At(kNow.wall_ms + 99)) == 99);
  CHECK(Left("k", Expiry::Never()) == 100);
  Set({}, {.default_ms = 200, .max_ms = 100});
  CHECK(Left("k", Expiry::Never()) == 100);
}

TEST_CASE_METHOD(TtlRulesTest, "a required TTL is one that was asked for, or the default") {
  Set({{.pattern = "free:*", .required = false}, {.pattern = "given:*", .default_ms = 5}},
      {.max_ms = 100, .required = true});
  CHECK_THROWS_AS(Left("k", Expiry::Never()), TtlRequired);
  CHECK(Left("k", In(7)) == 7);
  CHECK(Left("given:k", Expiry::Never()) == 5);
  CHECK(Left("free:k", Expiry::Never()) == 100);
  CHECK(ttl_rules.ForLasting("k", kNow).deadline_ms == kNow.mono_ms + 100);
}

TEST_CASE_METHOD(TtlRulesTest,
                 "jitter is drawn once, for relative deadlines, on both sides, and at least a ms is left") {
  Set({}, {.jitter_percent = 10});
  int64_t least = 1000;
  int64_t most = 0;
  for (int i = 0; i < 10'000; ++i) {
    const int64_t left = Left("k", In(1000));
    least = std::min(least, left);
    most = std::max(most, left);
  }
  CHECK(least == 900);
  CHECK(most == 1100);
  for (const auto stage : {Expiry::Stage::kJittered, Expiry::Stage::kKept}) {
    Expiry expiry = In(1000);
    expiry.stage = stage;
    CHECK(Left("k", expiry) == 1000);
  }
  CHECK(Left("k", Expiry::At(kNow.wall_ms + 1000)) == 1000);
  Set({}, {.jitter_percent = 100});
  for (int i = 0; i < 100; ++i) CHECK(Left("k", In(1)) >= 1);
  CHECK(WithJitter(INT64_MAX, 100, random) <= INT64_MAX);
}

TEST_CASE_METHOD(TtlRulesTest,
                 "jitter keeps the furthest deadline within the Unix times that clients can read") {
  const uint64_t longest = static_cast<uint64_t>(INT64_MAX - kNow.wall_ms);
  for (int i = 0; i < 100; ++i) {
    const Expiry drawn = Jittered(In(longest), 100, random, kNow);
    CHECK(kNow.WallOf(drawn.deadline_ms) > kNow.wall_ms);
  }
}

TEST_CASE_METHOD(TtlRulesTest,
                 "a deadline that a key keeps is left alone, and one that moves to another name is not") {
  Set({}, {.max_ms = 100, .required = true});
  Expiry expiry = In(1000);
  expiry.stage = Expiry::Stage::kKept;
  CHECK(Left("k", expiry) == 1000);
  expiry.stage = Expiry::Stage::kJittered;
  CHECK(Left("k", expiry) == 100);
}

TEST_CASE_METHOD(TtlRulesTest, "jitter beside a maximum does not exceed it") {
  Set({}, {.max_ms = 1000, .jitter_percent = 50});
  for (int i = 0; i < 1000; ++i) CHECK(Left("k", In(1000)) <= 1000);
}

TEST_CASE("the default of the longest prefix comes after the rules' and before that for all keys") {
  std::mt19937_64 random;
  TtlRules rules;
  const std::vector<std::string> prefixes = {"a:", "a:b:", "c:"};
  rules.Adopt({.rules = {{.pattern = "a:r*", .default_ms = 7}, {.pattern = "c:*", .required = true}},
               .defaults = {.prefixes = PrefixTable(prefixes), .ms = {100, 0, 300}},
               .for_all = {.default_ms = 9}},
              random);
  const auto ttl = [&](std::string_view key) {
    return rules.Obeying(key, Expiry::Never(), kNow).deadline_ms - kNow.mono_ms;
  };
  CHECK(ttl("a:k") == 100);
  CHECK(ttl("a:b:k") == 9);
  CHECK(ttl("a:rule") == 7);
  CHECK(ttl("c:k") == 300);
  CHECK(ttl("k") == 9);
  rules.Adopt({.defaults = {.prefixes = PrefixTable(prefixes), .ms = {0, 0, 0}}}, random);
  CHECK_FALSE(rules.any());
}

}  // namespace mayfly
