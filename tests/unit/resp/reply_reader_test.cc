#include "resp/reply_reader.h"

#include <random>
#include <string>

#include "base/memory/output.h"
#include "resp/writer.h"
#include "support/catch.h"

namespace mayfly::resp {
namespace {

std::string Written(void (*write)(Writer&), int version) {
  ChunkPool pool;
  OutputChain chain(pool);
  Writer writer(chain, version);
  write(writer);
  OutputPiece piece;
  return chain.Gather({&piece, 1}) == 0 ? std::string() : std::string(piece.data, piece.size);
}

void WriteOneOfEach(Writer& writer) {
  writer.Array(9);
  writer.Ok();
  writer.Error("ERR no");
  writer.Integer(-42);
  writer.Bulk("two\r\nlines");
  writer.Null();
  writer.Map(1);
  writer.Bulk("key");
  writer.Set(1);
  writer.Integer(1);
  writer.Double(0.5);
  writer.Bool(true);
  writer.Verbatim("txt", "words");
}

}  // namespace

TEST_CASE("what the writer writes in RESP3 is read back with its types") {
  const std::string bytes = Written(WriteOneOfEach, 3);
  ReplyReader reader(bytes);
  ReplyToken token;
  const auto next = [&] {
    REQUIRE(reader.Next(token) == ReplyStatus::kToken);
    return token.kind;
  };
  CHECK(next() == ReplyKind::kArray);
  CHECK(token.elements() == 9);
  CHECK(next() == ReplyKind::kSimple);
  CHECK(token.text == "OK");
  CHECK(next() == ReplyKind::kError);
  CHECK(token.text == "ERR no");
  CHECK(next() == ReplyKind::kInteger);
  CHECK(token.integer == -42);
  CHECK(next() == ReplyKind::kBulk);
  CHECK(token.text == "two\r\nlines");
  CHECK(next() == ReplyKind::kNull);
  CHECK(next() == ReplyKind::kMap);
  CHECK(token.count == 1);
  CHECK(token.elements() == 2);
  CHECK(next() == ReplyKind::kBulk);
  CHECK(next() == ReplyKind::kSet);
  CHECK(next() == ReplyKind::kInteger);
  CHECK(next() == ReplyKind::kDouble);
  CHECK(token.text == "0.5");
  CHECK(next() == ReplyKind::kBool);
  CHECK(token.integer == 1);
  CHECK(next() == ReplyKind::kVerbatim);
  CHECK(token.text == "txt:words");
  CHECK(reader.rest().empty());
}

TEST_CASE("a reply is skipped as a whole, however deep it is") {
  const std::string bytes = Written(WriteOneOfEach, 3) + "+next\r\n";
  ReplyReader reader(bytes);
  ReplyToken token;
  REQUIRE(reader.Next(token) == ReplyStatus::kToken);
  CHECK(reader.Skip(token) == ReplyStatus::kToken);
  CHECK(reader.rest() == "+next\r\n");
}

TEST_CASE("an attribute is skipped with the reply that it belongs to") {
  ReplyReader reader("*1\r\n|1\r\n+a\r\n+b\r\n:1\r\n+next\r\n");
  ReplyToken token;
  REQUIRE(reader.Next(token) == ReplyStatus::kToken);
  CHECK(reader.Skip(token) == ReplyStatus::kToken);
  CHECK(reader.rest() == "+next\r\n");
}

TEST_CASE("a reply that is cut off anywhere needs more, and passes nothing") {
  const std::string bytes = Written(WriteOneOfEach, 3);
  for (size_t size = 0; size < bytes.size(); ++size) {
    ReplyReader reader(std::string_view(bytes).substr(0, size));
    ReplyToken token;
    ReplyStatus status = reader.Next(token);
    if (status == ReplyStatus::kToken) status = reader.Skip(token);
    CHECK(status == ReplyStatus::kNeedMore);
  }
}

TEST_CASE("what is no reply is broken") {
  for (const char* bytes : {"\r\n", "x\r\n", ":\r\n", ":1x\r\n", "$-2\r\n", "$x\r\n", "$1\r\nabc", "*-2\r\n",
                            "%-1\r\n", "#x\r\n", "*99999999999999999999\r\n"}) {
    ReplyReader reader(bytes);
    ReplyToken token;
    CHECK(reader.Next(token) == ReplyStatus::kBroken);
    CHECK(reader.rest() == bytes);
  }
}

TEST_CASE("random bytes are read without harm") {
  std::mt19937 random(3);
  constexpr std::string_view kLetters = "+-:$*%~>|,(#_=0123456789\r\n\r\nt";
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes;
    for (int size = static_cast<int>(random() % 40); size > 0; --size)
      bytes += kLetters[random() % kLetters.size()];
    ReplyReader reader(bytes);
    ReplyToken token;
    while (reader.Next(token) == ReplyStatus::kToken) {
      if (token.elements() < 100) static_cast<void>(reader.Skip(token));
    }
    CHECK(reader.rest().size() <= bytes.size());
  }
}

}  // namespace mayfly::resp
