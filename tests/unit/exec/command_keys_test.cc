#include "exec/call/command_keys.h"

#include "support/catch.h"

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

constexpr std::string_view kStoreWords[] = {"STORE"};
constexpr std::string_view kGeoWords[] = {"STORE", "STOREDIST"};
constexpr KeyAfterWord::Skipped kSortSkips[] = {{"LIMIT", 2}, {"GET", 1}, {"BY", 1}};
constexpr Command kSort = {.name = "sort",
                           .keys = {1, 1, 1, kKeyRO | kKeyAccess},
                           .key_after_word = {kStoreWords, 2, kKeyOW | kKeyUpdate, kSortSkips}};
constexpr Command kGeoRadius = {.name = "georadius",
                                .keys = {1, 1, 1, kKeyRO | kKeyAccess},
                                .key_after_word = {kGeoWords, 5, kKeyOW | kKeyUpdate, {}, true}};

constexpr std::string_view kRestWords[] = {"KEYS"};
constexpr KeyAfterWord::Skipped kRestSkips[] = {{"AUTH", 1}};
constexpr Command kRest = {
    .name = "rest",
    .keys = {1, 1, 1, kKeyRW},
    .key_after_word = {
        .words = kRestWords, .from = 2, .use = kKeyRW | kKeyIncomplete, .skipped = kRestSkips, .rest = true}};

TEST_CASE("all arguments after a word may be keys, if the key before is empty") {
  CHECK(Keys(kRest, {"rest", "a"}) == Words{"a"});
  CHECK(Keys(kRest, {"rest", "", "keys", "b", "KEYS"}) == Words{"b", "KEYS"});
  CHECK(Keys(kRest, {"rest", "a", "KEYS", "b"}) == Words{"(none)"});
  CHECK(Keys(kRest, {"rest", "", "AUTH", "KEYS", "COPY"}) == Words{""});
  CHECK(Keys(kRest, {"rest", "", "KEYS"}) == Words{""});
  CHECK(KeysOf(kRest, Words{"rest", "", "KEYS", "b"})->at(0).use == kKeyRW);
}

TEST_CASE("a range gives the positions of its keys") {
  CHECK(Keys(kPlain, {"plain", "a"}).empty());
  CHECK(Keys(kPairs, {"pairs", "a", "1", "b", "2"}) == Words{"a", "b"});
  CHECK(Keys(kPairs, {"pairs", "a", "1", "b"}) == Words{"a", "b"});
  CHECK(Keys(kTwo, {"two", "a", "b", "c"}) == Words{"a", "b"});
  CHECK(Keys(kTwo, {"two", "a"}) == Words{"(none)"});
  CHECK(Keys(kTwo, {"two"}) == Words{"(none)"});
}

// As COMMAND GETKEYS of redis-server 7.0 answers.
TEST_CASE("a word is followed by a key, and the last such word counts, or each of them") {
  CHECK(Keys(kSort, {"sort", "k"}) == Words{"k"});
  CHECK(Keys(kSort, {"sort", "k", "ALPHA", "store", "d"}) == Words{"k", "d"});
  CHECK(Keys(kSort, {"sort", "k", "BY", "STORE", "GET", "STORE", "STORE", "d"}) == Words{"k", "d"});
  CHECK(Keys(kSort, {"sort", "k", "LIMIT", "0", "STORE", "x"}) == Words{"k"});
  CHECK(Keys(kSort, {"sort", "k", "STORE", "d", "STORE", "e"}) == Words{"k", "e"});
  CHECK(Keys(kSort, {"sort", "k", "STORE"}) == Words{"k"});
  CHECK(Keys(kSort, {"sort", "STORE", "d"}) == Words{"STORE"});
  CHECK(Keys(kGeoRadius, {"georadius", "k", "1", "2", "3", "km", "STORE", "d"}) == Words{"k", "d"});
  CHECK(Keys(kGeoRadius, {"georadius", "k", "1", "2", "3", "km", "STORE", "a", "STOREDIST", "b"}) ==
        Words{"k", "a", "b"});
  CHECK(KeysOf(kSort, Words{"sort", "k", "STORE", "d"})->back().use == (kKeyOW | kKeyUpdate));
  CHECK(HasMovableKeys(kSort));
}

// A first permission by keys: a user may touch keys with a prefix only.
TEST_CASE("the keys of a call are looked at one by one, each with its use") {
  const auto may = [](const Words& call) {
    bool allowed = true;
    const bool fits = ForEachKey(kSort, call, [&](const FoundKey& key) {
      const bool writes = (key.use & (kKeyRW | kKeyOW | kKeyRM)) != 0;
      allowed = allowed && key.text.substr(0, 4) == (writes ? "mine" : "ours");
    });
    return fits && allowed;
  };
  CHECK(may({"sort", "ours:1"}));
  CHECK(may({"sort", "ours:1", "STORE", "mine:1"}));
  CHECK_FALSE(may({"sort", "ours:1", "STORE", "ours:2"}));
  CHECK_FALSE(may({"sort", "mine:1"}));
  CHECK_FALSE(may({"sort"}));
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
