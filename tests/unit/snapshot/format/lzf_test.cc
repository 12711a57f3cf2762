#include "snapshot/format/lzf.h"

#include <random>
#include <string>

#include "support/catch.h"
#include "support/exact_block.h"
#include "unit/snapshot/format/hex.h"

namespace mayfly::rdb {
namespace {

// Empty if the text does not become smaller.
std::string Compressed(std::string_view text) {
  std::string room(text.size() - lzf::kLeastGain, '\0');
  room.resize(lzf::Compress(text, room));
  return room;
}

std::string Plain(std::string_view compressed, size_t size) {
  const ExactBlock block(compressed);
  std::string text(size, '\0');
  return lzf::Decompress(block.view(), text) ? text : "bad";
}

}  // namespace

TEST_CASE("a compressed text comes back") {
  for (const std::string& text :
       {std::string(21, 'a'), std::string(100'000, '\0'), std::string("abcabcabcabcabcabcabcabcabc")}) {
    const std::string compressed = Compressed(text);
    CHECK(!compressed.empty());
    CHECK(compressed.size() + lzf::kLeastGain <= text.size());
    CHECK(Plain(compressed, text.size()) == text);
  }
}

TEST_CASE("a text that does not become four bytes smaller is not compressed") {
  CHECK(Compressed("abcdefghijklmnopqrstuvwxyz0123456789").empty());
  CHECK(Compressed("aaaa").empty());
  CHECK(Compressed("aaaaa").empty());
}

// From the payload of a redis-server 7.0.15: SET z aaa... (100 times a), DUMP z.
TEST_CASE("what Redis has compressed becomes the text") {
  CHECK(Plain(FromHex("01 61 61 E0 57 00 01 61 61"), 100) == std::string(100, 'a'));
}

TEST_CASE("a compressed text with another length than promised is an error") {
  const std::string compressed = FromHex("01 61 61 E0 57 00 01 61 61");
  CHECK(Plain(compressed, 99) == "bad");
  CHECK(Plain(compressed, 101) == "bad");
  CHECK(Plain(compressed, 0) == "bad");
  CHECK(Plain("", 1) == "bad");
  for (size_t size = 0; size < compressed.size(); ++size)
    CHECK(Plain(compressed.substr(0, size), 100) == "bad");
}

TEST_CASE("a compressed text that copies from before its beginning is an error") {
  CHECK(Plain(FromHex("00 61 20 01"), 4) == "bad");
  CHECK(Plain(FromHex("20 00"), 3) == "bad");
}

TEST_CASE("no compressed text is longer than the bound says") {
  // One byte, and then the longest copies there are: 264 bytes for three.
  std::string compressed = FromHex("00 61");
  constexpr size_t kCopies = 1000;
  for (size_t i = 0; i < kCopies; ++i) compressed += FromHex("E0 FF 00");
  const size_t size = 1 + kCopies * 264;
  CHECK(Plain(compressed, size) == std::string(size, 'a'));
  CHECK(size <= lzf::LongestText(compressed.size()));
  CHECK(lzf::LongestText(compressed.size()) < size + 264);
}

TEST_CASE("random bytes as a compressed text are never read or written beyond their ends") {
  std::mt19937 random(11);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 4 == 0 ? random() : random() % 40);
    const size_t size = 1 + random() % 200;
    const std::string text = Plain(bytes, size);
    REQUIRE((text == "bad" || text.size() == size));
  }
}

TEST_CASE("bytes that do not repeat each other look random, and text, hexadecimal and base64 do not") {
  std::mt19937 random(5);
  const auto drawn = [&](size_t size, size_t of) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(' ' + random() % of);
    return bytes;
  };
  int found = 0;
  for (const size_t size : {64, 100, 200, 256, 1000, 100'000}) {
    CAPTURE(size);
    for (int i = 0; i < 100; ++i) {
      const std::string bytes = drawn(size, 256);
      found += lzf::LooksRandom(bytes) ? 1 : 0;
      if (size <= 128) CHECK_FALSE(lzf::LooksRandom(bytes + bytes));
      CHECK_FALSE(lzf::LooksRandom(drawn(size, 64)));  // as base64
      CHECK_FALSE(lzf::LooksRandom(drawn(size, 16)));
    }
  }
  CHECK(found > 550);
  CHECK_FALSE(
      lzf::LooksRandom(R"({"id":184467,"name":"Ada Lovelace","mail":"ada@example.com","roles":["user"]})"));
  CHECK_FALSE(lzf::LooksRandom(""));
  CHECK_FALSE(lzf::LooksRandom("0123456789abcdefghijklmnopqrstuvwxyz"));
}

}  // namespace mayfly::rdb
