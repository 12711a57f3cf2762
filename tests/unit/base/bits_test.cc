#include "base/bits/bits.h"

#include <random>
#include <string>

#include "support/catch.h"

namespace mayfly {
namespace {

std::string RandomBytes(std::mt19937_64& random, size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    const auto kind = random() % 4;
    byte = static_cast<char>(kind == 0 ? 0 : kind == 1 ? 0xFF : random());
  }
  return bytes;
}

}  // namespace

TEST_CASE("bit 0 is the highest of the first byte, and reading past the end gives zeros") {
  std::string bytes("\x80\x01", 2);
  CHECK(BitAt(bytes, 0));
  CHECK_FALSE(BitAt(bytes, 1));
  CHECK(BitAt(bytes, 15));
  CHECK_FALSE(BitAt(bytes, 16));
  CHECK_FALSE(BitAt(bytes, UINT64_MAX));
  CHECK_FALSE(BitAt("", 0));
  SetBitAt(bytes.data(), 15, false);
  SetBitAt(bytes.data(), 9, true);
  SetBitAt(bytes.data(), 9, true);
  CHECK(bytes == std::string("\x80\x40", 2));
}

TEST_CASE("a number of any width reads back, and writing it changes no other bit") {
  constexpr unsigned kSeed = 7;
  CAPTURE(kSeed);
  std::mt19937_64 random(kSeed);
  for (unsigned width = 1; width <= 64; ++width) {
    for (uint64_t index = 0; index < 16; ++index) {
      std::string bytes = RandomBytes(random, 10);
      const std::string before = bytes;
      const uint64_t value = random() >> (64 - width);
      WriteBits(bytes.data(), index, width, value);
      CAPTURE(width, index, value);
      REQUIRE(ReadBits(bytes, index, width) == value);
      for (uint64_t i = 0; i < BitsOf(bytes.size()); ++i) {
        if (i < index || i >= index + width) REQUIRE(BitAt(bytes, i) == BitAt(before, i));
      }
    }
  }
}

TEST_CASE("a number that extends past the end reads zeros there") {
  CHECK(ReadBits("\xff", 0, 64) == 0xFF00000000000000);
  CHECK(ReadBits("\xff", 4, 8) == 0xF0);
  CHECK(ReadBits("\xff", 7, 2) == 2);
  CHECK(ReadBits("\xff", 8, 64) == 0);
  CHECK(ReadBits("", 0, 1) == 0);
}

TEST_CASE("CountOnes and FindBit agree with a bit-by-bit loop") {
  constexpr unsigned kSeed = 11;
  CAPTURE(kSeed);
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 400; ++round) {
    const std::string bytes = RandomBytes(random, 1 + random() % 300);
    const uint64_t first = random() % BitsOf(bytes.size());
    const uint64_t last = first + random() % (BitsOf(bytes.size()) - first);
    uint64_t ones = 0;
    std::optional<uint64_t> places[2];
    for (uint64_t i = first; i <= last; ++i) {
      const bool bit = BitAt(bytes, i);
      ones += bit ? 1 : 0;
      if (!places[bit ? 1 : 0]) places[bit ? 1 : 0] = i;
    }
    CAPTURE(round, bytes.size(), first, last);
    REQUIRE(CountOnes(bytes, first, last) == ones);
    REQUIRE(FindBit(bytes, false, first, last) == places[0]);
    REQUIRE(FindBit(bytes, true, first, last) == places[1]);
  }
}

TEST_CASE("CountOnes is right for many bytes of ones") {
  const std::string full(5'003, '\xff');
  CHECK(CountOnes(full, 0, BitsOf(full.size()) - 1) == BitsOf(full.size()));
  CHECK(CountOnes(full, 3, BitsOf(full.size()) - 2) == BitsOf(full.size()) - 4);
  CHECK_FALSE(FindBit(full, false, 0, BitsOf(full.size()) - 1));
}

}  // namespace mayfly
