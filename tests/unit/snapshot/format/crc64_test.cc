#include "snapshot/format/crc64.h"

#include <random>
#include <string>

#include "support/catch.h"

namespace mayfly::rdb {
namespace {

// Bit by bit, as the definition has it.
uint64_t PlainCrc64(std::string_view bytes) {
  uint64_t crc = 0;
  for (const char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0x95AC9329AC4BC9B5 : crc >> 1;
  }
  return crc;
}

std::string RandomBytes(size_t size) {
  std::mt19937 random(7);
  std::string bytes;
  while (bytes.size() < size) bytes.push_back(static_cast<char>(random()));
  return bytes;
}

}  // namespace

TEST_CASE("the checksum of a snapshot has Redis's check value") {
  CHECK(Crc64(0, "123456789") == 0xE9C6D914C4B8D9CA);
  CHECK(Crc64(0, "") == 0);
}

TEST_CASE("the fast checksum is the plain one for every length and alignment") {
  const std::string bytes = RandomBytes(100);
  for (size_t from = 0; from < 10; ++from) {
    for (size_t size = 0; from + size <= bytes.size(); ++size) {
      const std::string_view part = std::string_view(bytes).substr(from, size);
      REQUIRE(Crc64(0, part) == PlainCrc64(part));
    }
  }
}

TEST_CASE("a text summed in pieces has the checksum of the whole") {
  const std::string bytes = RandomBytes(50);
  for (size_t cut = 0; cut <= bytes.size(); ++cut)
    REQUIRE(Crc64(Crc64(0, bytes.substr(0, cut)), bytes.substr(cut)) == Crc64(0, bytes));
}

}  // namespace mayfly::rdb
