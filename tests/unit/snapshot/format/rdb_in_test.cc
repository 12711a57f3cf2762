#include "snapshot/format/rdb_in.h"

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"
#include "support/catch.h"
#include "support/exact_block.h"
#include "unit/snapshot/format/hex.h"

namespace mayfly::rdb {
namespace {

// Reads one primitive from a window, and says what was read.
struct Primitive {
  std::string bytes;  // of the primitive alone
  std::function<ReadStatus(In&, std::string&)> read;
};

template <typename Number, typename Method>
std::function<ReadStatus(In&, std::string&)> NumberReader(Method method) {
  return [method](In& in, std::string& said) {
    Number number{};
    const ReadStatus status = (in.*method)(number);
    if (status == ReadStatus::kOk) said = std::to_string(number);
    return status;
  };
}

ReadStatus ReadText(In& in, std::string& said) {
  std::string_view text;
  const ReadStatus status = in.String(text);
  if (status == ReadStatus::kOk) said = text;
  return status;
}

ReadStatus SkipText(In& in, std::string&) { return in.SkipString(); }

ReadStatus ReadId(In& in, std::string& said) {
  uint64_t ms = 0;
  uint64_t seq = 0;
  const ReadStatus status = in.StreamId(ms, seq);
  said = std::to_string(ms) + '-' + std::to_string(seq);
  return status;
}

ReadStatus ReadFileHead(In& in, std::string& said) {
  unsigned version = 0;
  bool valkey = false;
  const ReadStatus status = in.FileHead(version, valkey);
  said = std::to_string(version) + (valkey ? " of Valkey" : "");
  return status;
}

const auto kReadLength = NumberReader<uint64_t>(&In::Length);
const auto kReadDoubleText = NumberReader<double>(&In::DoubleText);

std::string Read(const std::function<ReadStatus(In&, std::string&)>& read, std::string_view bytes) {
  const ExactBlock block(bytes);
  In in(block.view());
  std::string said;
  const ReadStatus status = read(in, said);
  if (status == ReadStatus::kOk) return said;
  CHECK(in.at() == 0);
  return status == ReadStatus::kMore ? "more" : "bad";
}

// One primitive of each kind and form.
std::vector<Primitive> EveryPrimitive() {
  const std::string long_text(20'000, 'x');
  std::vector<Primitive> all;
  for (const char* const length : {"3F", "4040", "80 00004000", "81 0123456789ABCDEF"})
    all.push_back({FromHex(length), kReadLength});
  for (const std::string& text : {std::string("hello"), std::string("17"), std::string("-300"),
                                  std::string("70000"), std::string(), long_text}) {
    std::string plain;
    Out(plain).String(text);
    std::string compressed;
    Out(compressed, Compression::kLzf).String(text);
    all.push_back({plain, ReadText});
    all.push_back({plain, SkipText});
    all.push_back({compressed, ReadText});
    all.push_back({compressed, SkipText});
  }
  std::string bytes;
  Out(bytes).Double(0.1);
  all.push_back({bytes, NumberReader<double>(&In::Double)});
  all.push_back({FromHex("0807060504030201"), NumberReader<int64_t>(&In::Millis)});
  all.push_back({FromHex("04030201"), NumberReader<int64_t>(&In::Seconds)});
  all.push_back({FromHex("0807060504030201"), NumberReader<uint64_t>(&In::Checksum)});
  all.push_back({FromHex("0000000000000001 0000000000000102"), ReadId});
  all.push_back(
      {"\x03"
       "0.1",
       kReadDoubleText});
  all.push_back({"\xFE", kReadDoubleText});
  all.push_back({"REDIS0010", ReadFileHead});
  return all;
}

}  // namespace

TEST_CASE("a primitive consumes its own bytes and no others") {
  for (const Primitive& primitive : EveryPrimitive()) {
    CAPTURE(primitive.bytes);
    const ExactBlock block(primitive.bytes + "and what follows");
    In in(block.view());
    std::string said;
    REQUIRE(primitive.read(in, said) == ReadStatus::kOk);
    CHECK(in.at() == primitive.bytes.size());
    CHECK(in.rest() == "and what follows");
    CHECK(said == Read(primitive.read, primitive.bytes));
  }
}

TEST_CASE("a primitive that is cut anywhere consumes nothing and says what it needs") {
  for (const Primitive& primitive : EveryPrimitive()) {
    for (size_t size = 0; size < primitive.bytes.size(); ++size) {
      const ExactBlock block("ab" + primitive.bytes.substr(0, size));
      In in(block.view());
      REQUIRE(in.Skip(2) == ReadStatus::kOk);
      std::string said;
      REQUIRE(primitive.read(in, said) == ReadStatus::kMore);
      REQUIRE(in.at() == 2);
      REQUIRE(in.bytes_needed() > size);
      REQUIRE(in.bytes_needed() <= primitive.bytes.size());
    }
  }
}

TEST_CASE("the head of a long string says how long a window it needs") {
  std::string bytes;
  Out(bytes).Length(100'000'000);
  In in(bytes);
  std::string_view text;
  CHECK(in.String(text) == ReadStatus::kMore);
  CHECK(in.bytes_needed() == bytes.size() + 100'000'000);

  StringHead head;
  CHECK(in.HeadOfString(head) == ReadStatus::kOk);
  CHECK(head.kind == StringHead::Kind::kRaw);
  CHECK(head.size == 100'000'000);
  CHECK(head.stored == 100'000'000);
  CHECK(in.rest().empty());
}

TEST_CASE("the head of a compressed string has both lengths") {
  const std::string bytes = FromHex("C3 09 4064 016161E05700016161");
  In in(bytes);
  StringHead head;
  CHECK(in.HeadOfString(head) == ReadStatus::kOk);
  CHECK(head.kind == StringHead::Kind::kLzf);
  CHECK(head.size == 100);
  CHECK(head.stored == 9);
  CHECK(in.rest().size() == 9);
}

TEST_CASE("a string is the text that was written, in every form") {
  for (const std::string& text :
       {std::string(), std::string("0"), std::string("-128"), std::string("128"), std::string("-32768"),
        std::string("32768"), std::string("-2147483648"), std::string("2147483648"), std::string("007"),
        std::string(63, 'a'), std::string(64, 'b'), std::string(20'000, '\0'), std::string("a\0b", 3)}) {
    for (const Compression compression : {Compression::kNone, Compression::kLzf}) {
      std::string bytes;
      Out(bytes, compression).String(text);
      CHECK(Read(ReadText, bytes) == text);
    }
  }
}

TEST_CASE("a text without a form of its own is a view into the window") {
  const std::string bytes = "\x05hello";
  In in(bytes);
  std::string_view text;
  REQUIRE(in.String(text) == ReadStatus::kOk);
  CHECK(text.data() == bytes.data() + 1);
}

TEST_CASE("the texts of two strings are valid together") {
  std::string bytes;
  Out out(bytes, Compression::kLzf);
  out.String(std::string(100, 'a'));
  out.String("17");
  out.String(std::string(100, 'c'));
  In in(bytes);
  std::string_view first;
  std::string_view second;
  std::string_view third;
  REQUIRE(in.String(first) == ReadStatus::kOk);
  REQUIRE(in.String(second) == ReadStatus::kOk);
  CHECK(first == std::string(100, 'a'));
  CHECK(second == "17");
  REQUIRE(in.String(third) == ReadStatus::kOk);
  CHECK(second == "17");
  CHECK(third == std::string(100, 'c'));
}

TEST_CASE("a reader goes back and continues in a longer window") {
  std::string bytes;
  Out out(bytes);
  out.String("field");
  out.String("value");
  std::string_view field;
  std::string_view value;
  In in(std::string_view(bytes).substr(0, 9));
  CHECK(in.String(field) == ReadStatus::kOk);
  CHECK(in.String(value) == ReadStatus::kMore);
  CHECK(in.bytes_needed() == 6);
  in.Rewind(0);
  CHECK(in.bytes_needed() == 12);
  in.SetWindow(bytes);
  CHECK(in.String(field) == ReadStatus::kOk);
  CHECK(in.String(value) == ReadStatus::kOk);
  CHECK(field == "field");
  CHECK(value == "value");
}

TEST_CASE("a first byte that begins no length or string is bad") {
  for (const char* const bytes : {"82", "8F 00000000", "BF", "C0 00", "C3 01", "FF"})
    CHECK(Read(kReadLength, FromHex(bytes)) == "bad");
  for (const char* const bytes : {"82", "BF", "C4", "FF"}) CHECK(Read(ReadText, FromHex(bytes)) == "bad");
}

TEST_CASE("a string of more than 512 MB is bad, whatever comes after it") {
  CHECK(Read(ReadText, FromHex("80 20000000")) == "more");
  CHECK(Read(ReadText, FromHex("80 20000001")) == "bad");
  CHECK(Read(ReadText, FromHex("81 0000000100000000")) == "bad");
  CHECK(Read(ReadText, FromHex("81 FFFFFFFFFFFFFFFF")) == "bad");
  CHECK(Read(SkipText, FromHex("81 FFFFFFFFFFFFFFFF")) == "bad");
  CHECK(Read(ReadText, FromHex("C3 80 20000001 01")) == "bad");
  CHECK(Read(ReadText, FromHex("C3 81 FFFFFFFFFFFFFFFF 01")) == "bad");
  CHECK(Read(ReadText, FromHex("C3 80 1FFFFFFF 80 20000001")) == "bad");
}

TEST_CASE("a compressed string that promises more than its bytes can hold is bad at once") {
  CHECK(Read(ReadText, FromHex("C3 09 80 20000000")) == "bad");
  CHECK(Read(ReadText, FromHex("C3 01 4058")) == "more");
  CHECK(Read(ReadText, FromHex("C3 01 4059")) == "bad");
  CHECK(Read(ReadText, FromHex("C3 00 00")) == "bad");
  CHECK(Read(ReadText, FromHex("C3 01 00 00")) == "bad");
  CHECK(Read(ReadText, FromHex("C3 03 02 00 61 61")) == "bad");
}

TEST_CASE("a score as text is a number of digits, or one of three marks") {
  CHECK(Read(kReadDoubleText,
             "\x03"
             "1.5") == "1.500000");
  CHECK(Read(kReadDoubleText,
             "\x05"
             "-1e10") == "-10000000000.000000");
  CHECK(Read(kReadDoubleText, "\xFE") == "inf");
  CHECK(Read(kReadDoubleText, "\xFF") == "-inf");
  CHECK(Read(kReadDoubleText, "\xFD") == "nan");
  for (const std::string_view text : {std::string_view("\0", 1), std::string_view("\x01 "),
                                      std::string_view("\x02"
                                                       "1x"),
                                      std::string_view("\x05"
                                                       "1e999")})
    CHECK(Read(kReadDoubleText, text) == "bad");
}

TEST_CASE("scores as text read back, the smallest and the greatest ones, too") {
  for (const double value : {0.1, -0.0, 5e-324, std::numeric_limits<double>::max(), 1e21, 1.0 / 3}) {
    std::string bytes;
    Out(bytes).DoubleText(value);
    In in(bytes);
    double read = 7;
    REQUIRE(in.DoubleText(read) == ReadStatus::kOk);
    CHECK(read == value);
    CHECK(std::signbit(read) == std::signbit(value));
  }
}

TEST_CASE("the head of a file is Redis's or Valkey's") {
  CHECK(Read(ReadFileHead, "REDIS0010") == "10");
  CHECK(Read(ReadFileHead, "VALKEY080") == "80 of Valkey");
  for (const char* const head : {"REDIS001x", "REDIS 010", "REDIS-010", "VALKEYabc", "REDIT0010"})
    CHECK(Read(ReadFileHead, head) == "bad");
}

// A redis-server 7.0.15 answered this to HSET h f v n 12345 with hash-max-listpack-entries 0, DUMP h; the footer is left out.
TEST_CASE("a hash of Redis is read field by field") {
  const std::string bytes = FromHex("04 02 016e c13930 0166 0176");
  In in(bytes);
  uint8_t kind = 0;
  uint64_t count = 0;
  REQUIRE(in.Byte(kind) == ReadStatus::kOk);
  REQUIRE(in.Length(count) == ReadStatus::kOk);
  CHECK(kind == type::kHash);
  CHECK(count == 2);
  std::vector<std::string> words;
  for (std::string_view text; in.String(text) == ReadStatus::kOk;) words.emplace_back(text);
  CHECK(words == std::vector<std::string>{"n", "12345", "f", "v"});
  CHECK(in.rest().empty());
}

}  // namespace mayfly::rdb
