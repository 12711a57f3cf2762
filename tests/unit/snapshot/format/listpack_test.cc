#include "snapshot/format/listpack.h"

#include <algorithm>
#include <limits>
#include <random>

#include "support/catch.h"
#include "unit/snapshot/format/hex.h"
#include "unit/snapshot/format/packed_text.h"

namespace mayfly::rdb {
namespace {

// A redis-server 7.0.15 answered this to RPUSH l <the words below>, DUMP l, with rdbcompression off; type, count, kind, length
// and footer are left out.
const std::string kListpack = FromHex(
    "a6000000 1500 816102 0101 dfff02 7f01 c08002 d00002 f1ffef03 cfff02 f1001003 f1008003 f1ff7f03"
    "f200800004 f200008004 f2ffff7f04 f30000800005 f30000008005 f4000000800000000009 f4000000000000008009"
    "f4ffffffffffffff7f09 8001 bf"
    "787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878"
    "787878787878787878787878787878 40 ff");
const PackedWords kListpackWords = {"a",
                                    "1",
                                    "-1",
                                    "127",
                                    "128",
                                    "-4096",
                                    "-4097",
                                    "4095",
                                    "4096",
                                    "-32768",
                                    "32767",
                                    "32768",
                                    "-8388608",
                                    "8388607",
                                    "8388608",
                                    "-2147483648",
                                    "2147483648",
                                    "-9223372036854775808",
                                    "9223372036854775807",
                                    "",
                                    std::string(63, 'x')};

std::string Packed(const PackedWords& words) {
  ListpackWriter writer;
  for (const std::string& word : words) writer.Append(word);
  CHECK(writer.items() == words.size());
  CHECK(writer.bytes() == writer.Finish().size());
  return std::string(writer.Finish());
}

}  // namespace

TEST_CASE("a listpack of Redis has texts and integers in all forms") {
  CHECK(WordsOf<ListpackReader>(kListpack) == kListpackWords);
}

TEST_CASE("a listpack is written as Redis writes it, byte for byte") {
  CHECK(Packed(kListpackWords) == kListpack);
  CHECK(Packed({}) == FromHex("07000000 0000 ff"));
}

TEST_CASE("an integer is written as its text would be") {
  for (const int64_t value :
       {int64_t{0}, int64_t{-1}, int64_t{-4096}, int64_t{4095}, int64_t{-4097}, int64_t{1} << 40,
        std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    ListpackWriter writer;
    writer.Append(value);
    CHECK(writer.Finish() == Packed({std::to_string(value)}));
  }
}

// A redis-server 7.0.15 wrote these back lengths after elements of 16,377, 16,378 and 16,379 bytes in a list.
TEST_CASE("a back length of the greatest number of two bytes takes three, as in Redis") {
  const auto back_of = [](size_t text) {
    const std::string listpack = Packed({std::string(text, '\1')});
    CHECK(WordsOf<ListpackReader>(listpack) == PackedWords{std::string(text, '\1')});
    return listpack.substr(6 + 5 + text);
  };
  CHECK(back_of(16'377) == FromHex("7ffe ff"));
  CHECK(back_of(16'378) == FromHex("00ffff ff"));
  CHECK(back_of(16'379) == FromHex("018080 ff"));
  CHECK(back_of(2'097'145) == FromHex("7ffffe ff"));
  CHECK(back_of(2'097'146) == FromHex("00ffffff ff"));
}

TEST_CASE("a text is read back at every length where its form changes") {
  for (const size_t size : {0, 1, 62, 63, 64, 125, 126, 127, 128, 4095, 4096, 70'000}) {
    const PackedWords words = {std::string(size, 'x'), "7", std::string(size, 'y')};
    CHECK(WordsOf<ListpackReader>(Packed(words)) == words);
  }
}

TEST_CASE("a listpack grows after it was finished, and begins anew after Clear") {
  ListpackWriter writer;
  writer.Append("a");
  CHECK(WordsOf<ListpackReader>(writer.Finish()) == PackedWords{"a"});
  writer.Append(5);
  CHECK(WordsOf<ListpackReader>(writer.Finish()) == PackedWords{"a", "5"});
  writer.Clear();
  CHECK(writer.items() == 0);
  CHECK(WordsOf<ListpackReader>(writer.Finish()) == PackedWords{});
}

TEST_CASE("a listpack of 65,535 items or more does not say how many they are") {
  ListpackWriter writer;
  for (int i = 0; i < 65'534; ++i) writer.Append(1);
  CHECK(writer.Finish().substr(4, 2) == FromHex("feff"));
  CHECK(CountItems<ListpackReader>(writer.Finish()) == 65'534);
  writer.Append(1);
  writer.Append(1);
  CHECK(writer.Finish().substr(4, 2) == FromHex("ffff"));
  CHECK(CountItems<ListpackReader>(writer.Finish()) == 65'536);
}

TEST_CASE("a listpack with another size, count or back length than it says is bad") {
  const std::string good = FromHex("0c000000 0200 816102 0101 ff");
  CHECK(WordsOf<ListpackReader>(good) == PackedWords{"a", "1"});
  for (const size_t at : {0, 3, 4, 5, 8, 10, 11}) {
    CAPTURE(at);
    std::string bad = good;
    --bad[at];
    CHECK(!WordsOf<ListpackReader>(bad));
  }
}

TEST_CASE("an item that begins with no known head, or does not end before the end mark, is bad") {
  for (const char* const item :
       {"f5 01", "fe 01", "ff", "81", "8161", "826102", "c0", "c001", "e0", "e001", "e00102", "f0",
        "f000000000", "f0ffffffff05", "f1", "f100", "f10000", "f40000000000000000"}) {
    CAPTURE(item);
    std::string bytes = FromHex("00000000 0100") + FromHex(item) + FromHex("ff");
    bytes[0] = static_cast<char>(bytes.size());
    CHECK(!WordsOf<ListpackReader>(bytes));
  }
}

// What follows a listpack in memory would complete the item: a sanitizer sees no read beyond the bytes there.
TEST_CASE("an item that goes on beyond the end mark is bad, whatever follows the listpack") {
  for (const std::string text :
       {"-128", "5000", "-5000", "70000", "-9000000", "3000000000", "-4294967296000"}) {
    const std::string whole = Packed({text});
    for (size_t cut = 7; cut + 2 < whole.size(); ++cut) {
      CAPTURE(text, cut);
      std::string bytes = whole;
      bytes[cut] = '\xff';  // its end mark
      bytes[0] = static_cast<char>(cut + 1);
      ListpackReader reader(std::string_view(bytes).substr(0, cut + 1));
      PackedItem item;
      CHECK(reader.Next(item) == ItemStatus::kBad);
    }
  }
  for (const size_t size : {1, 63, 64, 100, 4095, 4096, 5000}) {
    const std::string whole = Packed({std::string(size, 'x')});
    for (size_t cut = 7; cut < std::min<size_t>(whole.size() - 2, 70); ++cut) {
      CAPTURE(size, cut);
      std::string bytes = whole;
      bytes[cut] = '\xff';
      bytes[0] = static_cast<char>(cut + 1);
      bytes[1] = 0;
      ListpackReader reader(std::string_view(bytes).substr(0, cut + 1));
      PackedItem item;
      CHECK(reader.Next(item) == ItemStatus::kBad);
    }
  }
}

TEST_CASE("random words come back from a listpack") {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    PackedWords words;
    for (size_t count = random() % 30; count != 0; --count) {
      const auto number = static_cast<int64_t>((uint64_t{random()} << 32 | random()) >> random() % 64);
      if (random() % 2 == 0)
        words.push_back(std::to_string(random() % 2 == 0 ? number : -number));
      else
        words.emplace_back(random() % 200, static_cast<char>(random()));
    }
    REQUIRE(WordsOf<ListpackReader>(Packed(words)) == words);
  }
}

TEST_CASE("a damaged listpack is bad or has other items, and is never read beyond its end") {
  ReadDamaged<ListpackReader>(kListpack);
}

}  // namespace mayfly::rdb
