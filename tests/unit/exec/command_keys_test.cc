#include "exec/dispatch/command_keys.h"

#include <catch2/catch.hpp>

namespace mayfly {
namespace {

using Words = std::vector<std::string_view>;

// The keys as words; {"(none)"} if the key specs do not fit the call.
Words Keys(const Command& command, const Words& call) {
  const std::optional<std::vector<FoundKey>> found = KeysOf(command, call);
  if (!found) return {"(none)"};
  Words texts;
  for (const FoundKey& key : *found) texts.push_back(key.text);
  return texts;
}

constexpr Command kPlain = {.name = "plain"};
constexpr Command kPairs = {.name = "pairs", .keys = {1, -1, 2, kKeyOW}};
constexpr Command kTwo = {.name = "two", .keys = {1, 2, 1, kKeyRW}};
constexpr Command kStore = {.name = "store",
                            .keys = {1, 1, 1, kKeyOW},
                            .more_keys = {.first = 3, .step = 1, .use = kKeyRO | kKeyAccess, .count_at = 2}};
constexpr Command kCountedPairs = {.name = "counted",
                                   .keys = {.first = 2, .step = 2, .use = kKeyOW, .count_at = 1}};

TEST_CASE("a range gives the positions of its keys") {
  CHECK(Keys(kPlain, {"plain", "a"}).empty());
  CHECK(Keys(kPairs, {"pairs", "a", "1", "b", "2"}) == Words{"a", "b"});
  CHECK(Keys(kPairs, {"pairs", "a", "1", "b"}) == Words{"a", "b"});
  CHECK(Keys(kTwo, {"two", "a", "b", "c"}) == Words{"a", "b"});
  CHECK(Keys(kTwo, {"two", "a"}) == Words{"(none)"});
  CHECK(Keys(kTwo, {"two"}) == Words{"(none)"});
}

TEST_CASE("a number gives how many keys follow it") {
  CHECK(Keys(kCountedPairs, {"counted", "2", "a", "1", "b", "2", "NX"}) == Words{"a", "b"});
  CHECK(Keys(kCountedPairs, {"counted", "2", "a", "1", "b"}) == Words{"a", "b"});
  CHECK(Keys(kCountedPairs, {"counted", "0", "a"}) == Words{"(none)"});
  for (const std::string_view number : {"3", "-1", "x", "9223372036854775807"})
    CHECK(Keys(kCountedPairs, {"counted", number, "a", "1", "b", "2"}) == Words{"(none)"});
}

TEST_CASE("a command with several specs has the keys of all of them") {
  CHECK(Keys(kStore, {"store", "d", "2", "a", "b", "WEIGHTS"}) == Words{"d", "a", "b"});
  CHECK(KeysOf(kStore, Words{"store", "d", "1", "a"})->back().use == (kKeyRO | kKeyAccess));
  CHECK(Keys(kStore, {"store", "d", "2", "a"}) == Words{"(none)"});
  CHECK(HasMovableKeys(kStore));
  CHECK(HasMovableKeys(kCountedPairs));
  CHECK_FALSE(HasMovableKeys(kPairs));
}

}  // namespace
}  // namespace mayfly
