// The expected values are redis-server's: INCRBY for integers, ZADD for doubles, CONFIG SET maxmemory for
// byte counts.
#include "base/text/numbers.h"

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "support/catch.h"

namespace mayfly {
namespace {

std::string Formatted(int64_t value) {
  char text[kMaxIntegerText];
  return std::string(text, FormatInteger(value, text));
}

TEST_CASE("only the canonical text of an integer is parsed") {
  CHECK(ParseInteger("0") == 0);
  CHECK(ParseInteger("7") == 7);
  CHECK(ParseInteger("-1") == -1);
  CHECK(ParseInteger("10") == 10);
  CHECK(ParseInteger("9223372036854775807") == INT64_MAX);
  CHECK(ParseInteger("-9223372036854775808") == INT64_MIN);
  for (const char* text : {"",
                           "-",
                           "+",
                           "+1",
                           "01",
                           "-01",
                           "00",
                           "-0",
                           " 1",
                           "1 ",
                           "1\n",
                           "1.0",
                           "1e3",
                           "0x1",
                           "--1",
                           "9223372036854775808",
                           "-9223372036854775809",
                           "18446744073709551616",
                           "123456789012345678901",
                           "-1234567890123456789012"}) {
    INFO("text: " << text);
    CHECK_FALSE(ParseInteger(text).has_value());
  }
  CHECK_FALSE(ParseInteger(std::string_view("1\0", 2)).has_value());
}

TEST_CASE("the fast and the thorough integer parser agree on any byte at any position") {
  const std::string digits = "9876543210123456789";
  for (size_t size = 1; size <= digits.size(); ++size) {
    for (size_t at = 0; at < size; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text = digits.substr(0, size);
        text[at] = static_cast<char>(byte);
        CAPTURE(text);
        const std::optional<int64_t> thorough = ParseInteger(text);
        int64_t fast = 0;
        REQUIRE(ParseInteger(text, fast) == thorough.has_value());
        if (thorough) REQUIRE(fast == *thorough);
      }
    }
  }
}

TEST_CASE("an unsigned integer is parsed up to the largest of 64 bits") {
  CHECK(ParseUnsigned("0") == 0U);
  CHECK(ParseUnsigned("18446744073709551615") == UINT64_MAX);
  for (const char* text :
       {"", "-1", "-0", "+1", "01", "18446744073709551616", "184467440737095516150", " 1", "1k"}) {
    INFO("text: " << text);
    CHECK_FALSE(ParseUnsigned(text).has_value());
  }
}

TEST_CASE("a formatted integer parses to the same value") {
  CHECK(Formatted(0) == "0");
  CHECK(Formatted(-42) == "-42");
  CHECK(Formatted(INT64_MAX) == "9223372036854775807");
  CHECK(Formatted(INT64_MIN) == "-9223372036854775808");
  CHECK(Formatted(INT64_MIN).size() == kMaxIntegerText);
  constexpr unsigned kSeed = 1;
  CAPTURE(kSeed);
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 10'000; ++i) {
    const auto value = static_cast<int64_t>(random() >> (random() % 64));
    REQUIRE(ParseInteger(Formatted(value)) == value);
    REQUIRE(ParseInteger(Formatted(-value)) == -value);
  }
}

TEST_CASE("a double is parsed as by strtod, except for spaces, NaN and numbers out of range") {
  CHECK(ParseDouble("1") == 1.0);
  CHECK(ParseDouble("+1") == 1.0);
  CHECK(ParseDouble("-1.5") == -1.5);
  CHECK(ParseDouble(".5") == 0.5);
  CHECK(ParseDouble("5.") == 5.0);
  CHECK(ParseDouble("1e5") == 100000.0);
  CHECK(ParseDouble("0x10") == 16.0);
  CHECK(ParseDouble("4.9e-324") == std::numeric_limits<double>::denorm_min());
  CHECK(ParseDouble("0e-999") == 0.0);
  CHECK(ParseDouble("inf") == HUGE_VAL);
  CHECK(ParseDouble("+Infinity") == HUGE_VAL);
  CHECK(ParseDouble("-INF") == -HUGE_VAL);
  for (const char* text : {"", " 1", "\t1", "1 ", "nan", "-nan", "1e999", "-1e999", "1e-400", "0x1p99999",
                           "1_0", "e5", "1,5", "--1", "."}) {
    INFO("text: " << text);
    CHECK_FALSE(ParseDouble(text).has_value());
  }
  CHECK_FALSE(ParseDouble(std::string_view("1\0", 2)).has_value());
  for (const size_t zeros : {254, 255, 256, 300}) {
    CHECK(ParseDouble(std::string(zeros, '0') + "7") == 7.0);
    CHECK(ParseDouble("+" + std::string(zeros, '0') + "7") == 7.0);
    CHECK(ParseDouble("1" + std::string(zeros, '0')) == std::stod("1e" + std::to_string(zeros)));
    CHECK_FALSE(ParseDouble(std::string(zeros, '0') + "x").has_value());
  }
  CHECK_FALSE(ParseDouble("1" + std::string(400, '0')).has_value());
}

TEST_CASE("a double is what strtod makes of it, to the last bit") {
  constexpr unsigned kSeed = 3;
  CAPTURE(kSeed);
  std::mt19937_64 random(kSeed);
  // Texts of digits are drawn more often, so that many are numbers.
  constexpr std::string_view kLetters = "00112233445566778899000111999...eeE--++xXpinfatyINFABCD ";
  for (int i = 0; i < 300'000; ++i) {
    std::string text;
    for (size_t size = random() % 24; size != 0; --size)
      text += kLetters[random() % (i % 2 == 0 ? 36 : kLetters.size())];
    char* end = nullptr;
    errno = 0;
    const double expected = std::strtod(text.c_str(), &end);
    const bool too_far = errno == ERANGE && (std::isinf(expected) || expected == 0);
    const bool valid = !text.empty() && text[0] != ' ' && *end == '\0' && !std::isnan(expected) && !too_far;
    const std::optional<double> parsed = ParseDouble(text);
    INFO("text: " << text);
    REQUIRE(parsed.has_value() == valid);
    if (valid) REQUIRE(std::bit_cast<uint64_t>(*parsed) == std::bit_cast<uint64_t>(expected));
  }
}

TEST_CASE("a double is formatted with the fewest digits that parse to the same value") {
  CHECK(FormatDouble(0) == "0");
  CHECK(FormatDouble(-0.0) == "-0");
  CHECK(FormatDouble(1) == "1");
  CHECK(FormatDouble(-3) == "-3");
  CHECK(FormatDouble(0.1) == "0.1");
  CHECK(FormatDouble(-0.001) == "-0.001");
  CHECK(FormatDouble(123456.789) == "123456.789");
  CHECK(FormatDouble(1.0 / 3) == "0.3333333333333333");
  CHECK(FormatDouble(HUGE_VAL) == "inf");
  CHECK(FormatDouble(-HUGE_VAL) == "-inf");
  CHECK(FormatDouble(std::nan("")) == "nan");
  constexpr unsigned kSeed = 2;
  CAPTURE(kSeed);
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isnan(value)) continue;
    INFO("written: " << FormatDouble(value));
    REQUIRE(ParseDouble(FormatDouble(value)) == value);
  }
}

TEST_CASE("only very large and very small doubles are formatted with an exponent") {
  CHECK(FormatDouble(100000) == "100000");
  CHECK(FormatDouble(1e15) == "1000000000000000");
  CHECK(FormatDouble(0x1p62) == "4611686018427387904");
  CHECK(FormatDouble(5e18) == "5e+18");
  CHECK(FormatDouble(1.2345678901234567e19) == "12345678901234567000");
  CHECK(FormatDouble(1e21) == "1e+21");
  CHECK(FormatDouble(-1.5e300) == "-1.5e+300");
  CHECK(FormatDouble(1e-6) == "0.000001");
  CHECK(FormatDouble(1e-7) == "1e-7");
  CHECK(FormatDouble(0.00012345678) == "1.2345678e-4");
  CHECK(FormatDouble(0.0012345678) == "0.0012345678");
  CHECK(FormatDouble(std::numeric_limits<double>::denorm_min()) == "5e-324");
}

TEST_CASE("byte counts are parsed with the units of redis.conf, in any case of letters") {
  CHECK(ParseBytes("0") == 0U);
  CHECK(ParseBytes("100") == 100U);
  CHECK(ParseBytes("1B") == 1U);
  CHECK(ParseBytes("1k") == 1000U);
  CHECK(ParseBytes("1Kb") == 1024U);
  CHECK(ParseBytes("2m") == 2'000'000U);
  CHECK(ParseBytes("2MB") == 2U * 1024 * 1024);
  CHECK(ParseBytes("3g") == 3'000'000'000U);
  CHECK(ParseBytes("1GB") == 1024U * 1024 * 1024);
  CHECK(ParseBytes("010mb") == 10U * 1024 * 1024);
  CHECK(ParseBytes("18446744073709551615") == UINT64_MAX);
  for (const char* text :
       {"", "kb", "-1", "+1", "1kib", "1t", "1 kb", "1.5gb", "18446744073709551616", "20000000000gb"}) {
    INFO("text: " << text);
    CHECK_FALSE(ParseBytes(text).has_value());
  }
}

TEST_CASE("bytes are formatted with two decimals and the largest unit that fits") {
  CHECK(FormatBytesHuman(0) == "0B");
  CHECK(FormatBytesHuman(1023) == "1023B");
  CHECK(FormatBytesHuman(1024) == "1.00K");
  CHECK(FormatBytesHuman(1536) == "1.50K");
  CHECK(FormatBytesHuman(1048575) == "1024.00K");
  CHECK(FormatBytesHuman(1048576) == "1.00M");
  CHECK(FormatBytesHuman(uint64_t{1} << 30) == "1.00G");
  CHECK(FormatBytesHuman(uint64_t{1} << 50) == "1.00P");
}

}  // namespace
}  // namespace mayfly
