#include "snapshot/format/intset.h"

#include "support/catch.h"
#include "unit/snapshot/format/hex.h"
#include "unit/snapshot/format/packed_text.h"

namespace mayfly::rdb {
namespace {

// A redis-server 7.0.15 answered these to SADD, DUMP; type, length and footer are left out.
const std::string kOf16 = FromHex("02000000 04000000 fbff 0100 0200 0300");
const std::string kOf32 = FromHex("04000000 02000000 01000000 70110100");
const std::string kOf64 = FromHex("08000000 02000000 00007c1daf931983 0100000000000000");

}  // namespace

TEST_CASE("an intset has Redis's integers, in order") {
  CHECK(WordsOf<IntsetReader>(kOf16) == PackedWords{"-5", "1", "2", "3"});
  CHECK(WordsOf<IntsetReader>(kOf32) == PackedWords{"1", "70000"});
  CHECK(WordsOf<IntsetReader>(kOf64) == PackedWords{"-9000000000000000000", "1"});
}

TEST_CASE("an intset of another length or order than it says is bad") {
  CHECK(!WordsOf<IntsetReader>(FromHex("02000000 02000000 0100 0100")));
  CHECK(!WordsOf<IntsetReader>(FromHex("02000000 02000000 0200 0100")));
  CHECK(!WordsOf<IntsetReader>(FromHex("02000000 01000000 0100 0200")));
  CHECK(!WordsOf<IntsetReader>(FromHex("03000000 01000000 010000")));
  CHECK(!WordsOf<IntsetReader>(FromHex("00000000 00000000")));
  CHECK(!WordsOf<IntsetReader>(FromHex("02000000 00000080")));
}

TEST_CASE("an empty intset has no members") {
  CHECK(WordsOf<IntsetReader>(FromHex("02000000 00000000")) == PackedWords{});
}

TEST_CASE("a damaged intset is bad or has other members, and is never read beyond its end") {
  ReadDamaged<IntsetReader>(kOf16);
  ReadDamaged<IntsetReader>(kOf64);
}

}  // namespace mayfly::rdb
