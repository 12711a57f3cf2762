#include "snapshot/format/rdb_out.h"

#include <cmath>
#include <limits>

#include "snapshot/format/types.h"
#include "support/catch.h"
#include "unit/snapshot/format/hex.h"

namespace mayfly::rdb {
namespace {

template <typename Write>
std::string Written(Write write, Compression compression = Compression::kNone) {
  std::string bytes;
  Out out(bytes, compression);
  write(out);
  return bytes;
}

std::string LengthBytes(uint64_t length) {
  return Written([&](Out& out) { out.Length(length); });
}
std::string StringBytes(std::string_view text, Compression compression = Compression::kNone) {
  return Written([&](Out& out) { out.String(text); }, compression);
}
std::string DoubleTextBytes(double value) {
  return Written([&](Out& out) { out.DoubleText(value); });
}

}  // namespace

TEST_CASE("a length takes the shortest form") {
  CHECK(LengthBytes(0) == FromHex("00"));
  CHECK(LengthBytes(63) == FromHex("3F"));
  CHECK(LengthBytes(64) == FromHex("4040"));
  CHECK(LengthBytes(16'383) == FromHex("7FFF"));
  CHECK(LengthBytes(16'384) == FromHex("80 00004000"));
  CHECK(LengthBytes(0xFFFFFFFF) == FromHex("80 FFFFFFFF"));
  CHECK(LengthBytes(0x100000000) == FromHex("81 0000000100000000"));
  CHECK(LengthBytes(0x0123456789ABCDEF) == FromHex("81 0123456789ABCDEF"));
}

// A redis-server 7.0.15 answered these to SET i <text>, DUMP i; type and footer are left out.
TEST_CASE("a text that is a short integer is written as Redis writes it") {
  CHECK(StringBytes("0") == FromHex("C000"));
  CHECK(StringBytes("-1") == FromHex("C0FF"));
  CHECK(StringBytes("127") == FromHex("C07F"));
  CHECK(StringBytes("128") == FromHex("C18000"));
  CHECK(StringBytes("-129") == FromHex("C17FFF"));
  CHECK(StringBytes("32767") == FromHex("C1FF7F"));
  CHECK(StringBytes("32768") == FromHex("C200800000"));
  CHECK(StringBytes("-2147483648") == FromHex("C200000080"));
  CHECK(StringBytes("2147483647") == FromHex("C2FFFFFF7F"));
  CHECK(StringBytes("2147483648") == FromHex("0A32313437343833363438"));
  CHECK(StringBytes("007") == FromHex("03303037"));
}

TEST_CASE("an integer is written as its decimal text would be") {
  for (const int64_t value : {int64_t{0}, int64_t{-128}, int64_t{-129}, int64_t{32767}, int64_t{-32769},
                              int64_t{2147483647}, int64_t{2147483648}, int64_t{-2147483649},
                              std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    CAPTURE(value);
    CHECK(Written([&](Out& out) { out.IntegerString(value); }) == StringBytes(std::to_string(value)));
  }
}

TEST_CASE("other texts are written as they are") {
  CHECK(StringBytes("") == FromHex("00"));
  CHECK(StringBytes("hello") == FromHex("0568656c6c6f"));
  CHECK(StringBytes("-0") == FromHex("022d30"));
  CHECK(StringBytes(std::string(100, 'a')) == FromHex("4064") + std::string(100, 'a'));
}

// A redis-server 7.0.15 with rdbcompression answered these to SET z <text>, DUMP z; type and footer are left out.
TEST_CASE("a compressible text of more than 20 bytes is compressed if the caller wants that") {
  CHECK(StringBytes(std::string(100, 'a'), Compression::kLzf) == FromHex("C3 09 4064 016161E05700016161"));
  CHECK(StringBytes(std::string(21, 'a'), Compression::kLzf).starts_with("\xC3"));
  CHECK(StringBytes(std::string(20, 'a'), Compression::kLzf) == "\x14" + std::string(20, 'a'));
  const std::string_view random = "abcdefghijklmnopqrstuvwxyz0123456789";
  CHECK(StringBytes(random, Compression::kLzf) == "\x24" + std::string(random));
}

TEST_CASE("a text that is long or looks random is not compressed where that has to be quick") {
  const std::string text(Out::kMostCompressed, 'a');
  CHECK(StringBytes(text, Compression::kQuickLzf).size() < text.size() / 10);
  CHECK(StringBytes(text + 'a', Compression::kQuickLzf).size() > text.size());
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  const std::string twice = all + all;  // LZF looks for what comes again
  CHECK(StringBytes(twice, Compression::kLzf).size() < twice.size());
  CHECK(StringBytes(twice, Compression::kQuickLzf).size() > twice.size());
}

TEST_CASE("a compressed text leaves what was written before it") {
  std::string bytes = "before";
  Out out(bytes, Compression::kLzf);
  out.String(std::string(20'000, 'a'));
  out.Byte(7);
  CHECK(bytes.starts_with("before\xC3"));
  CHECK(bytes.ends_with(7));
  CHECK(bytes.size() < 400);
}

TEST_CASE("numbers of a fixed size have their lowest byte first, and the IDs of streams their highest") {
  CHECK(Written([](Out& out) { out.Double(1.5); }) == FromHex("000000000000F83F"));
  CHECK(Written([](Out& out) { out.Millis(0x0102030405060708); }) == FromHex("0807060504030201"));
  CHECK(Written([](Out& out) { out.Seconds(0x01020304); }) == FromHex("04030201"));
  CHECK(Written([](Out& out) { out.Checksum(0x0102030405060708); }) == FromHex("0807060504030201"));
  CHECK(Written([](Out& out) { out.StreamId(1, 0x0102); }) == FromHex("0000000000000001 0000000000000102"));
}

TEST_CASE("a score as text is the shortest one that reads back, and has marks for what is no number") {
  CHECK(DoubleTextBytes(0.1) ==
        "\x03"
        "0.1");
  CHECK(DoubleTextBytes(-17) ==
        "\x03"
        "-17");
  CHECK(DoubleTextBytes(std::numeric_limits<double>::quiet_NaN()) == "\xFD");
  CHECK(DoubleTextBytes(std::numeric_limits<double>::infinity()) == "\xFE");
  CHECK(DoubleTextBytes(-std::numeric_limits<double>::infinity()) == "\xFF");
}

TEST_CASE("the head of a file has the version in four digits") {
  CHECK(Written([](Out& out) { out.FileHead(9); }) == "REDIS0009");
  CHECK(Written([](Out& out) { out.FileHead(12); }) == "REDIS0012");
}

// A redis-server 7.0.15 answered this to ZADD zs2 1.5 a -inf b 0.1 c, DUMP zs2 (zset-max-listpack-entries 0); the footer is left out.
TEST_CASE("a sorted set of primitives is Redis's, byte for byte") {
  const std::string bytes = Written([](Out& out) {
    out.Byte(type::kZset);
    out.Length(3);
    out.String("a");
    out.Double(1.5);
    out.String("c");
    out.Double(0.1);
    out.String("b");
    out.Double(-std::numeric_limits<double>::infinity());
  });
  CHECK(bytes == FromHex("05 03 0161 000000000000f83f 0163 9a9999999999b93f 0162 000000000000f0ff"));
}

}  // namespace mayfly::rdb
