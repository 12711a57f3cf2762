// Which keys have the largest values, as BigKeys notes them while they come, change and go.
#include "cache/keyspace/big_keys.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/bag_value.h"
#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {
namespace {

using testing::Bag;

constexpr Event kEdit{"edit"};
constexpr size_t kBigBag = BigKeys::kStepBytes / Bag::kBytesPerText;  // and its own bytes
const std::string kBigText(BigKeys::kStepBytes + 1, 'x');

class BigKeysTest : public KeyspaceFixture {
 public:
  void PutBag(const std::string& key, size_t texts, unsigned index = 0) {
    const Key hashed = db(index).KeyOf(key);
    db(index).PutRich(hashed, db(index).Peek(hashed, now()), Bag::Of(texts), Expiry::Never(), now(), kEdit);
  }
  void Grow(const std::string& key, size_t texts, unsigned index = 0) {
    const Key hashed = db(index).KeyOf(key);
    db(index).EditRich<Bag>(hashed, *db(index).Peek(hashed, now()), now(), kEdit, [&](Bag& bag) {
      for (size_t i = 0; i < texts; ++i) bag.Add("text");
      return true;
    });
  }
  void Shrink(const std::string& key, size_t texts, unsigned index = 0) {
    const Key hashed = db(index).KeyOf(key);
    db(index).EditRich<Bag>(hashed, *db(index).Peek(hashed, now()), now(), kEdit, [&](Bag& bag) {
      for (size_t i = 0; i < texts; ++i) bag.TakeLast();
      return true;
    });
  }
  void Delete(const std::string& key, unsigned index = 0) { db(index).Delete(db(index).KeyOf(key), now()); }
  void Move(const std::string& key, const std::string& to, unsigned index = 0, unsigned to_index = 0) {
    const Key old_key = db(index).KeyOf(key);
    const Key new_key = db(to_index).KeyOf(to);
    db(index).Move(old_key, *db(index).Peek(old_key, now()), db(to_index), new_key,
                   db(to_index).Peek(new_key, now()), now());
  }
  // "database:key" of those that are noted and there.
  std::vector<std::string> Noted() {
    std::vector<std::string> noted;
    databases.ForEachBigKey(now(), [&](const Keyspace& keyspace, const Entry& entry) {
      noted.push_back(std::to_string(keyspace.database()) + ":" + std::string(entry.key()));
    });
    std::sort(noted.begin(), noted.end());
    return noted;
  }
  // The same of all keys with a value of kStepBytes or more.
  std::vector<std::string> Big() {
    std::vector<std::string> big;
    for (unsigned i = 0; i < databases.count(); ++i) {
      db(i).ForEach(now(), [&](const Entry& entry) {
        const bool is_block = entry.encoding() == Encoding::kBlock;
        const bool is_bag = entry.encoding() == Encoding::kRich;
        const uint64_t bytes = is_block ? entry.block().size() : is_bag ? entry.rich()->Bytes() : 0;
        if (bytes >= BigKeys::kStepBytes) big.push_back(std::to_string(i) + ":" + std::string(entry.key()));
      });
    }
    std::sort(big.begin(), big.end());
    return big;
  }
};

using Keys = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(BigKeysTest, "big texts and values are noted, and forgotten when they go or become small") {
  Set("small", "v");
  Set("text", kBigText);
  PutBag("bag", 10);
  CHECK(Noted() == Keys{"0:text"});
  Grow("bag", kBigBag);
  Set("timed", kBigText, In(20));
  CHECK(Noted() == Keys{"0:bag", "0:text", "0:timed"});
  Shrink("bag", kBigBag);
  Set("text", "v");
  CHECK(Noted() == Keys{"0:timed"});
  clock.AdvanceTime(20);
  CHECK(Noted().empty());
  Settle();
  Set("text", kBigText);
  Delete("text");
  CHECK(Noted().empty());
}

TEST_CASE_METHOD(BigKeysTest, "a key is noted under the name and database that it has now") {
  Set("text", kBigText);
  PutBag("bag", kBigBag);
  Move("text", "text2");
  Move("bag", "bag", 0, 1);
  CHECK(Noted() == Keys{"0:text2", "1:bag"});
  databases.Swap(1, 2);
  CHECK(Noted() == Keys{"0:text2", "2:bag"});
  databases.Flush(0, now());
  CHECK(Noted() == Keys{"2:bag"});
  Set("text2", kBigText);
  while (databases.FreeSome(10)) {  // what was flushed
  }
  CHECK(Noted() == Keys{"0:text2", "2:bag"});
}

TEST_CASE_METHOD(BigKeysTest, "of more keys than are kept the largest are") {
  const auto text_of = [](size_t rank) { return kBigText + std::string(100 * rank, 'x'); };
  for (size_t i = 0; i < 2 * BigKeys::kKept; ++i) {
    const size_t rank = i * 77 % (2 * BigKeys::kKept);
    Set(std::to_string(rank), text_of(rank));
  }
  Keys expected;
  for (size_t rank = BigKeys::kKept; rank < 2 * BigKeys::kKept; ++rank)
    expected.push_back("0:" + std::to_string(rank));
  std::sort(expected.begin(), expected.end());
  CHECK(Noted() == expected);
  // One that was turned away finds room when it grows on.
  Delete("200");
  CHECK(Noted().size() == BigKeys::kKept - 1);
  Set("5", text_of(6));
  CHECK(Noted().size() == BigKeys::kKept);
}

TEST_CASE("a key that is too long is not noted") {
  BigKeys big;
  big.Note(0, 1, std::string(BigKeys::kLongestKey, 'x'), BigKeys::kStepBytes);
  big.Note(0, 2, std::string(BigKeys::kLongestKey + 1, 'x'), BigKeys::kStepBytes);
  CHECK(big.noted().size() == 1);
}

TEST_CASE_METHOD(BigKeysTest, "whatever happens to keys, exactly the big ones are noted") {
  std::mt19937_64 random(GENERATE(1, 2, 3));
  const auto draw = [&](uint64_t end) { return random() % end; };
  const auto name = [&] { return "k" + std::to_string(draw(12)); };
  for (int step = 0; step < 4000; ++step) {
    const std::string key = name();
    const auto index = static_cast<unsigned>(draw(3));
    const Entry* const entry = db(index).Peek(db(index).KeyOf(key), now());
    const bool is_bag = entry != nullptr && entry->encoding() == Encoding::kRich;
    const uint64_t action = draw(100);
    if (action < 20) {
      Set(key, std::string(draw(2) == 0 ? draw(100) : draw(40'000), 'x'),
          draw(3) == 0 ? In(1 + draw(20)) : Expiry::Never(), index);
    } else if (action < 30) {
      PutBag(key, 1 + draw(2 * kBigBag), index);
    } else if (action < 50 && is_bag) {
      Grow(key, draw(kBigBag), index);
    } else if (action < 70 && is_bag) {
      Shrink(key, draw(kBigBag), index);
    } else if (action < 75) {
      Delete(key, index);
    } else if (action < 82 && entry != nullptr) {
      const std::string to = name();
      const auto to_index = static_cast<unsigned>(draw(3));
      if (to != key || to_index != index) Move(key, to, index, to_index);
    } else if (action < 86 && entry != nullptr) {
      const std::string copy = name();
      const Key to = db(3).KeyOf(copy);
      db(3).PutCopy(to, db(3).Peek(to, now()), *entry, now());
    } else if (action < 90 && entry != nullptr && entry->encoding() == Encoding::kBlock) {
      db(index).EditBlock(*db(index).Peek(db(index).KeyOf(key), now()), draw(80'000), kEdit,
                          [](char*) { return true; });
    } else if (action < 93) {
      std::vector<KeyPut> puts;
      const std::string text(draw(40'000), 'y');
      puts.push_back({.key = db(index).KeyOf(key), .value = StringValue::Of(text)});
      puts.push_back({.key = db(index).KeyOf("k1"), .value = StringValue::Of("v")});
      db(index).PutAll(puts, /*keep_expiry=*/false, Expiry::Never(), now());
    } else if (action < 95) {
      databases.Swap(index, static_cast<unsigned>(draw(4)));
    } else if (action == 95) {
      databases.Flush(index, now());
    } else if (action == 96) {
      databases.FreeSome(draw(5));
    } else {
      clock.AdvanceTime(draw(5));
      databases.Advance(now(), draw(10));
    }
    REQUIRE(Noted() == Big());
  }
}

}  // namespace mayfly
