#include "resp/writer.h"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/text/numbers.h"
#include "resp/whole_requests.h"
#include "support/catch.h"
#include "support/exact_block.h"
#include "support/output_text.h"

namespace mayfly {

using resp::Deferred;
using resp::Writer;

namespace {

std::string Written(int version, const std::function<void(Writer&)>& write) {
  ChunkPool pool;
  OutputChain out(pool);
  Writer writer(out, version);
  write(writer);
  return OutputText(out);
}

std::string Line(char type, std::string_view text) {
  std::string line(1, type);
  line += text;
  return line += "\r\n";
}

std::string BulkText(std::string_view bytes) {
  std::string text = Line('$', std::to_string(bytes.size()));
  text += bytes;
  return text += "\r\n";
}

std::string DoubleText(double value) {
  const std::string text = Written(3, [&](Writer& w) { w.Double(value); });
  const std::string number = text.substr(1, text.size() - 3);
  CHECK(text == Line(',', number));
  CHECK(Written(2, [&](Writer& w) { w.Double(value); }) == BulkText(number));
  return number;
}

}  // namespace

TEST_CASE("every type is written in the form of each protocol") {
  struct Row {
    const char* what;
    std::function<void(Writer&)> write;
    std::string resp2;
    std::string resp3;
  };
  const Row rows[] = {
      {"ok", [](Writer& w) { w.Ok(); }, "+OK\r\n", "+OK\r\n"},
      {"pong", [](Writer& w) { w.Pong(); }, "+PONG\r\n", "+PONG\r\n"},
      {"queued", [](Writer& w) { w.Queued(); }, "+QUEUED\r\n", "+QUEUED\r\n"},
      {"simple", [](Writer& w) { w.Simple("string"); }, "+string\r\n", "+string\r\n"},
      {"torn simple", [](Writer& w) { w.Simple("A\r\nB\r\n"); }, "+A  B  \r\n", "+A  B  \r\n"},
      {"error", [](Writer& w) { w.Error("ERR no"); }, "-ERR no\r\n", "-ERR no\r\n"},
      {"torn error", [](Writer& w) { w.Error("\nERR 'fo\r\no\nx'\r\n"); }, "-ERR 'fo  o x'\r\n",
       "-ERR 'fo  o x'\r\n"},
      {"empty error", [](Writer& w) { w.Error("\r\n"); }, "-\r\n", "-\r\n"},
      {"bulk", [](Writer& w) { w.Bulk("a\r\nb"); }, "$4\r\na\r\nb\r\n", "$4\r\na\r\nb\r\n"},
      {"empty bulk", [](Writer& w) { w.Bulk(""); }, "$0\r\n\r\n", "$0\r\n\r\n"},
      {"null", [](Writer& w) { w.Null(); }, "$-1\r\n", "_\r\n"},
      {"null array", [](Writer& w) { w.NullArray(); }, "*-1\r\n", "_\r\n"},
      {"empty array", [](Writer& w) { w.EmptyArray(); }, "*0\r\n", "*0\r\n"},
      {"array", [](Writer& w) { w.Array(3); }, "*3\r\n", "*3\r\n"},
      {"map", [](Writer& w) { w.Map(3); }, "*6\r\n", "%3\r\n"},
      {"set", [](Writer& w) { w.Set(3); }, "*3\r\n", "~3\r\n"},
      {"push", [](Writer& w) { w.Push(2); }, "*2\r\n", ">2\r\n"},
      {"long map", [](Writer& w) { w.Map(1000); }, "*2000\r\n", "%1000\r\n"},
      {"true", [](Writer& w) { w.Bool(true); }, ":1\r\n", "#t\r\n"},
      {"false", [](Writer& w) { w.Bool(false); }, ":0\r\n", "#f\r\n"},
      {"double", [](Writer& w) { w.Double(3.141); }, "$5\r\n3.141\r\n", ",3.141\r\n"},
      {"double text", [](Writer& w) { w.DoubleText("0.10"); }, "$4\r\n0.10\r\n", ",0.10\r\n"},
      {"verbatim", [](Writer& w) { w.Verbatim("txt", "two\nlines"); }, "$9\r\ntwo\nlines\r\n",
       "=13\r\ntxt:two\nlines\r\n"},
      {"big number", [](Writer& w) { w.BigNumber("1234567999999999999999999999999999999"); },
       "$37\r\n1234567999999999999999999999999999999\r\n", "(1234567999999999999999999999999999999\r\n"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(Written(2, row.write) == row.resp2);
    CHECK(Written(3, row.write) == row.resp3);
  }
}

TEST_CASE("integers of every length are written correctly") {
  std::vector<int64_t> numbers = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  for (int64_t n = -2000; n <= 2000; ++n) numbers.push_back(n);
  for (int64_t power = 1; power <= 100'000'000'000'000'000; power *= 10) {
    for (const int64_t n : {power - 1, power, power + 1, -power}) numbers.push_back(n);
  }
  for (const int64_t n : numbers) {
    const std::string text = std::to_string(n);
    REQUIRE(Written(2, [&](Writer& w) { w.Integer(n); }) == Line(':', text));
    REQUIRE(Written(2, [&](Writer& w) { w.BulkInteger(n); }) == BulkText(text));
  }
}

TEST_CASE("doubles have the text that Redis gives them since 7.2") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  struct Row {
    double value;
    const char* text;
  };
  const Row rows[] = {{0, "0"},
                      {-0.0, "-0"},
                      {1, "1"},
                      {-2.5, "-2.5"},
                      {0.1, "0.1"},
                      {3.141, "3.141"},
                      {123456.789, "123456.789"},
                      {0.30000000000000004, "0.30000000000000004"},
                      {0.0001, "0.0001"},
                      {0.00001, "0.00001"},
                      {1.5e-7, "1.5e-7"},
                      {1e6, "1000000"},
                      {1e15, "1000000000000000"},
                      {1e16, "10000000000000000"},
                      {9007199254740993., "9007199254740992"},
                      {123456789012345678., "123456789012345680"},
                      {1e17, "100000000000000000"},
                      {1e22, "1e+22"},
                      {1e300, "1e+300"},
                      {5e-324, "5e-324"},
                      {kInfinity, "inf"},
                      {-kInfinity, "-inf"}};
  for (const Row& row : rows) CHECK(DoubleText(row.value) == row.text);

  constexpr unsigned kSeed = 7;
  CAPTURE(kSeed);
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 3000; ++i) {
    double value = std::bit_cast<double>(random());
    if (i % 2 == 0)
      value = static_cast<double>(static_cast<int64_t>(random() >> (random() % 64))) / (i % 4 + 1);
    if (std::isnan(value)) continue;
    const std::string text = DoubleText(value);
    CHECK(text.size() <= kMaxDoubleText);
    CHECK(std::strtod(text.c_str(), nullptr) == value);
  }
}

TEST_CASE("bulk strings of every size are written whole, copied or shared") {
  ChunkPool pool;
  OutputChain out(pool);
  Writer writer(out);
  std::string expected;
  for (const size_t size :
       {0, 1, 63, 64, 511, 512, 513, 999, 1000, 1023, 1024, 1025, 16000, 16384, 50000, 100000}) {
    const std::string bytes(size, static_cast<char>('a' + size % 26));
    const ExactBlock block(bytes);
    writer.Bulk(block.view());
    writer.BulkShared(SharedBytes::Copy(std::string("xx").append(bytes).append("yy")), 2, size);
    writer.BulkShared(SharedBytes::Copy(bytes));
    for (int i = 0; i < 3; ++i) expected += BulkText(bytes);
  }
  CHECK(out.size() == expected.size());
  CHECK((OutputText(out) == expected));
}

TEST_CASE("a container's length may be set after its elements") {
  for (const int version : {2, 3}) {
    const std::string text = Written(version, [](Writer& w) {
      w.Bulk("before");
      Deferred outer = w.Defer();
      w.Integer(1);
      Deferred inner = w.Defer();
      w.Bulk("k");
      w.Bulk("v");
      inner.Map(1);
      Deferred none = w.Defer();
      none.Set(0);
      Deferred never = w.Defer();
      static_cast<void>(never);
      outer.Array(3);
      w.Bulk("behind");
    });
    CHECK(text == std::string("$6\r\nbefore\r\n*3\r\n:1\r\n") + (version == 2 ? "*2" : "%1") +
                      "\r\n$1\r\nk\r\n$1\r\nv\r\n" + (version == 2 ? "*0" : "~0") + "\r\n$6\r\nbehind\r\n");
  }
}

TEST_CASE("a deferred length of any size fits, also across many chunks") {
  for (const size_t count : {size_t{0}, size_t{9}, size_t{10000}, size_t{20000}}) {
    std::string expected = Line('*', std::to_string(count));
    for (size_t i = 0; i < count; ++i) expected += Line(':', std::to_string(i));
    CHECK((Written(2, [&](Writer& w) {
             Deferred array = w.Defer();
             for (size_t i = 0; i < count; ++i) w.Integer(static_cast<int64_t>(i));
             array.Array(count);
           }) == expected));
  }
  CHECK(Written(3, [](Writer& w) { w.Defer().Push(size_t{1} << 62); }) == ">4611686018427387904\r\n");
}

TEST_CASE("HELLO changes the version between two replies") {
  CHECK(Written(2, [](Writer& w) {
          w.Null();
          w.set_version(3);
          w.Null();
          CHECK(w.version() == 3);
        }) == "$-1\r\n_\r\n");
}

TEST_CASE("the parser reads arrays of bulk strings as the writer writes them") {
  constexpr unsigned kSeed = 99;
  CAPTURE(kSeed);
  std::mt19937 random(kSeed);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> words;
    const std::string text = Written(2, [&](Writer& w) {
      const size_t count = 1 + random() % 30;
      Deferred array = w.Defer();
      for (size_t i = 0; i < count; ++i) {
        words.emplace_back(random() % (i % 5 == 0 ? 3000 : 40), static_cast<char>(random()));
        w.Bulk(words.back());
      }
      array.Array(count);
    });
    const ExactBlock block(text);
    resp::Parser parser;
    resp::ArgList args;
    resp::Request request{};
    REQUIRE(parser.Next(block.view(), {}, args, request) == resp::Status::kReady);
    REQUIRE(request.size == text.size());
    REQUIRE(std::vector<std::string>(args.data(), args.data() + args.size()) == words);
  }
}

}  // namespace mayfly
