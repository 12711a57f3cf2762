#include "cache/table/prefix_table.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

size_t Found(const std::vector<std::string>& prefixes, std::string_view key) {
  return PrefixTable(prefixes).Find(key);
}

}  // namespace

TEST_CASE("the longest prefix of a key is found, wherever it stands") {
  const std::vector<std::string> prefixes = {"app:", "web:", "app:a:", "app:b:", "a"};
  CHECK(Found(prefixes, "app:x") == 0);
  CHECK(Found(prefixes, "app:a:") == 2);
  CHECK(Found(prefixes, "app:a:x") == 2);
  CHECK(Found(prefixes, "app:c:x") == 0);
  CHECK(Found(prefixes, "app:zzz") == 0);
  CHECK(Found(prefixes, "apq") == 4);
  CHECK(Found(prefixes, "web:") == 1);
  CHECK(Found(prefixes, "web") == PrefixTable::kNone);
  CHECK(Found(prefixes, "") == PrefixTable::kNone);
  CHECK(Found(prefixes, "zebra") == PrefixTable::kNone);
  CHECK(Found({}, "app:x") == PrefixTable::kNone);
  CHECK(PrefixTable().Find("k") == PrefixTable::kNone);
}

TEST_CASE("the prefix found is that of a search of all") {
  std::mt19937_64 random(3);
  const auto any_text = [&](size_t most) {
    std::string text;
    for (size_t left = random() % (most + 1); left != 0; --left) text += "ab\xff"[random() % 3];
    return text;
  };
  for (int round = 0; round < 300; ++round) {
    std::set<std::string> unique;
    for (size_t left = random() % 40; left != 0; --left) unique.insert("a" + any_text(6));
    std::vector<std::string> prefixes(unique.begin(), unique.end());
    std::shuffle(prefixes.begin(), prefixes.end(), random);
    const PrefixTable table(prefixes);
    for (int i = 0; i < 50; ++i) {
      const std::string key = any_text(9);
      size_t expected = PrefixTable::kNone;
      for (size_t at = 0; at < prefixes.size(); ++at) {
        const bool longer = expected == PrefixTable::kNone || prefixes[at].size() > prefixes[expected].size();
        if (key.starts_with(prefixes[at]) && longer) expected = at;
      }
      REQUIRE(table.Find(key) == expected);
    }
  }
}

}  // namespace mayfly
