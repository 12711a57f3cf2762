#include "replication/turn_changes.h"

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

using Left = TurnChanges::Left;

// Keyspaces are compared by their addresses alone.
class Keyspaces {
 public:
  Keyspace& operator[](size_t index) noexcept { return reinterpret_cast<Keyspace&>(places_[index]); }

 private:
  uint64_t places_[4] = {};
};

Key KeyOf(const std::string& name) noexcept { return {.text = name, .hash = std::hash<std::string>()(name)}; }

}  // namespace

TEST_CASE("a key has one item in a turn, with what was noted of it") {
  Keyspaces keyspaces;
  TurnChanges changes;
  CHECK(changes.empty());
  TurnChanges::Item& item = changes.Of(keyspaces[0], KeyOf("a"));
  CHECK(item.left == Left::kNothing);
  CHECK(item.commands == 0);
  item.left = Left::kExpiry;
  item.commands = 3;
  const TurnChanges::Item& again = changes.Of(keyspaces[0], KeyOf("a"));
  CHECK(again.left == Left::kExpiry);
  CHECK(again.commands == 3);
  CHECK(changes.NameOf(again) == "a");
  CHECK(changes.items().size() == 1);
}

TEST_CASE("keys are the same if their names and their keyspaces are, whatever their hashes") {
  Keyspaces keyspaces;
  TurnChanges changes;
  constexpr uint64_t kHash = 7;
  changes.Of(keyspaces[0], Key{"a", kHash}).left = Left::kValue;
  CHECK(changes.Of(keyspaces[1], Key{"a", kHash}).left == Left::kNothing);
  CHECK(changes.Of(keyspaces[0], Key{"b", kHash}).left == Left::kNothing);
  CHECK(changes.Of(keyspaces[0], Key{"", kHash}).left == Left::kNothing);
  CHECK(changes.Of(keyspaces[0], Key{"a", kHash}).left == Left::kValue);
  CHECK(changes.items().size() == 4);
}

TEST_CASE("the items are in the order of the keys' first changes") {
  Keyspaces keyspaces;
  TurnChanges changes;
  for (const char* name : {"c", "a", "b", "a", "c"}) changes.Of(keyspaces[0], KeyOf(name));
  std::string order;
  for (const TurnChanges::Item& item : changes.items()) order += changes.NameOf(item);
  CHECK(order == "cab");
}

TEST_CASE("nothing is told any more of a keyspace that is flushed") {
  Keyspaces keyspaces;
  TurnChanges changes;
  for (size_t i = 0; i < 2; ++i) changes.Of(keyspaces[i], KeyOf("a")).left = Left::kValue;
  changes.Forget(keyspaces[0]);
  CHECK(changes.Of(keyspaces[0], KeyOf("a")).left == Left::kNothing);
  CHECK(changes.Of(keyspaces[1], KeyOf("a")).left == Left::kValue);
}

TEST_CASE("a new round knows no key of the last one") {
  Keyspaces keyspaces;
  TurnChanges changes;
  for (int round = 0; round < 1000; ++round) {
    changes.Of(keyspaces[0], KeyOf("a")).left = Left::kValue;
    changes.Of(keyspaces[0], KeyOf(std::to_string(round)));
    changes.Clear();
    REQUIRE(changes.empty());
    REQUIRE(changes.Of(keyspaces[0], KeyOf("a")).left == Left::kNothing);
  }
}

TEST_CASE("a round may have many keys, and the next one few") {
  Keyspaces keyspaces;
  TurnChanges changes;
  for (const size_t count :
       {3 * TurnChanges::kKeptItems, size_t{1}, TurnChanges::kKeptItems + 1, size_t{9}}) {
    for (size_t i = 0; i < count; ++i) changes.Of(keyspaces[0], KeyOf(std::to_string(i)));
    for (size_t i = 0; i < count; ++i) changes.Of(keyspaces[0], KeyOf(std::to_string(i)));
    CHECK(changes.items().size() == count);
    changes.Clear();
  }
}

TEST_CASE("the items are those of a list without repetitions, whatever the keys are") {
  std::mt19937 random(3);
  Keyspaces keyspaces;
  TurnChanges changes;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::pair<std::pair<size_t, std::string>, Left>> model;
    const unsigned names = 1U << (random() % 12);
    for (int step = static_cast<int>(random() % 1000); step > 0; --step) {
      const std::string name(random() % 5, static_cast<char>('a' + random() % 3));
      const std::pair<size_t, std::string> key{random() % 3, name + std::to_string(random() % names)};
      auto found = std::ranges::find(model, key, [](const auto& known) { return known.first; });
      if (found == model.end()) found = model.insert(found, {key, Left::kNothing});
      // Few hashes, so that many keys have the same.
      const Key asked{key.second, std::hash<std::string>()(key.second) % 64};
      TurnChanges::Item& item = changes.Of(keyspaces[key.first], asked);
      REQUIRE(item.left == found->second);
      item.left = found->second = static_cast<Left>(random() % 3);
    }
    if (random() % 4 == 0) {
      changes.Forget(keyspaces[1]);
      for (auto& [key, left] : model) left = key.first == 1 ? Left::kNothing : left;
    }
    REQUIRE(changes.items().size() == model.size());
    for (size_t i = 0; i < model.size(); ++i) {
      const TurnChanges::Item& item = changes.items()[i];
      REQUIRE(item.keyspace == &keyspaces[model[i].first.first]);
      REQUIRE(changes.NameOf(item) == model[i].first.second);
      REQUIRE(item.left == model[i].second);
    }
    changes.Clear();
  }
}

}  // namespace mayfly
