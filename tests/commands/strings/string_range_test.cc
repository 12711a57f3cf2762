#include "support/command_test.h"

namespace mayfly::testing {
namespace {

constexpr std::string_view kNotInteger = "ERR value is not an integer or out of range";
constexpr std::string_view kTooBig = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";

}  // namespace

TEST_CASE_METHOD(CommandTest, "GETRANGE counts from both ends and clips what lies outside") {
  Run({"SET", "k", "Hello World"});
  for (const char* command : {"GETRANGE", "SUBSTR"}) {
    CHECK(Run({command, "k", "0", "3"}) == Bulk("Hell"));
    CHECK(Run({command, "k", "0", "-1"}) == Bulk("Hello World"));
    CHECK(Run({command, "k", "-4", "-1"}) == Bulk("orld"));
    CHECK(Run({command, "k", "5", "3"}) == Bulk(""));
    CHECK(Run({command, "k", "5", "5000"}) == Bulk(" World"));
    CHECK(Run({command, "k", "-5000", "10000"}) == Bulk("Hello World"));
    CHECK(Run({command, "k", "0", "-100"}) == Bulk("H"));
    CHECK(Run({command, "k", "1", "-100"}) == Bulk(""));
    CHECK(Run({command, "k", "-100", "-99"}) == Bulk("H"));
    CHECK(Run({command, "k", "-99", "-100"}) == Bulk(""));
    CHECK(Run({command, "k", "11", "12"}) == Bulk(""));
    CHECK(Run({command, "k", "0", "9223372036854775807"}) == Bulk("Hello World"));
    CHECK(Run({command, "k", "-9223372036854775808", "0"}) == Bulk("H"));
    CHECK(Run({command, "absent", "0", "-1"}) == Bulk(""));
  }
}

TEST_CASE_METHOD(CommandTest, "GETRANGE reads numbers, empty values and big ones") {
  const std::string big = std::string(50'000, 'a') + std::string(50'000, 'b');
  Run({"MSET", "n", "-1234", "empty", "", "big", big});
  CHECK(Run({"GETRANGE", "n", "0", "1"}) == Bulk("-1"));
  CHECK(Run({"GETRANGE", "n", "-2", "-1"}) == Bulk("34"));
  CHECK(Run({"OBJECT", "ENCODING", "n"}) == Bulk("int"));
  CHECK(Run({"GETRANGE", "empty", "0", "-1"}) == Bulk(""));
  CHECK(Run({"GETRANGE", "empty", "-1", "0"}) == Bulk(""));
  CHECK(Run({"GETRANGE", "big", "49999", "50000"}) == Bulk("ab"));
  CHECK(Run({"GETRANGE", "big", "1", "-2"}) == Bulk(big.substr(1, big.size() - 2)));
}

TEST_CASE_METHOD(CommandTest, "GETRANGE reads its numbers before it looks up the key") {
  CHECK(Run({"GETRANGE", "absent", "x", "0"}) == Error(kNotInteger));
  CHECK(Run({"GETRANGE", "absent", "0", ""}) == Error(kNotInteger));
  CHECK(Run({"SUBSTR", "absent", "0", "1.0"}) == Error(kNotInteger));
  CHECK(Run({"GETRANGE", "absent", "0", "9223372036854775808"}) == Error(kNotInteger));
  CHECK(Run({"GETRANGE", "k", "0"}) == Error("ERR wrong number of arguments for 'getrange' command"));
  CHECK(Run({"SUBSTR", "k", "0"}) == Error("ERR wrong number of arguments for 'substr' command"));
}

TEST_CASE_METHOD(CommandTest, "SETRANGE overwrites bytes and fills a gap with zeros") {
  using namespace std::string_literals;
  CHECK(Run({"SETRANGE", "k", "0", "foo"}) == Integer(3));
  CHECK(Run({"SETRANGE", "k", "1", "b"}) == Integer(3));
  CHECK(Run({"GET", "k"}) == Bulk("fbo"));
  CHECK(Run({"SETRANGE", "k", "2", "arbar"}) == Integer(7));
  CHECK(Run({"GET", "k"}) == Bulk("fbarbar"));
  CHECK(Run({"SETRANGE", "k", "9", "x"}) == Integer(10));
  CHECK(Run({"GET", "k"}) == Bulk("fbarbar\0\0x"s));
  CHECK(Run({"SETRANGE", "new", "2", "x"}) == Integer(3));
  CHECK(Run({"GET", "new"}) == Bulk("\0\0x"s));
  CHECK(Run({"OBJECT", "ENCODING", "new"}) == Bulk("raw"));
}

TEST_CASE_METHOD(CommandTest, "SETRANGE of nothing changes nothing and creates nothing") {
  Run({"SET", "n", "1234"});
  TakeChanges();
  CHECK(Run({"SETRANGE", "n", "100", ""}) == Integer(4));
  CHECK(Run({"OBJECT", "ENCODING", "n"}) == Bulk("int"));
  CHECK(Run({"SETRANGE", "absent", "9223372036854775807", ""}) == Integer(0));
  CHECK(Run({"EXISTS", "absent"}) == Integer(0));
  CHECK(TakeChanges().empty());
}

TEST_CASE_METHOD(CommandTest, "SETRANGE makes a text of a number and keeps the expiry") {
  Run({"SET", "n", "1234", "PX", "50"});
  CHECK(Run({"SETRANGE", "n", "0", "2"}) == Integer(4));
  CHECK(Run({"GET", "n"}) == Bulk("2234"));
  CHECK(Run({"OBJECT", "ENCODING", "n"}) == Bulk("raw"));
  CHECK(Run({"PTTL", "n"}) == Integer(50));
  LetTimePass(50);
  CHECK(Run({"SETRANGE", "n", "1", "x"}) == Integer(2));
  CHECK(Run({"TTL", "n"}) == Integer(-1));
}

TEST_CASE_METHOD(CommandTest, "SETRANGE refuses offsets below zero and strings above the limit") {
  CHECK(Run({"SETRANGE", "k", "x", "v"}) == Error(kNotInteger));
  CHECK(Run({"SETRANGE", "k", "-1", "v"}) == Error("ERR offset is out of range"));
  CHECK(Run({"SETRANGE", "k", "-1", ""}) == Error("ERR offset is out of range"));
  CHECK(Run({"SETRANGE", "k", "9223372036854775807", "v"}) == Error(kTooBig));
  CHECK(Run({"SETRANGE", "k", "536870908", "world"}) == Error(kTooBig));
  CHECK(Run({"SETRANGE", "k", "0"}) == Error("ERR wrong number of arguments for 'setrange' command"));
  SetOption("proto-max-bulk-len", "1mb");
  CHECK(Run({"SETRANGE", "k", "1048576", "v"}) == Error(kTooBig));
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(Run({"SETRANGE", "k", "1048575", "v"}) == Integer(1024 * 1024));
  CHECK(Run({"GETRANGE", "k", "-1", "-1"}) == Bulk("v"));
}

TEST_CASE_METHOD(CommandTest,
                 "a big value is changed in place, grows, and does not change in replies that share it") {
  std::string expected(40'000, 'o');
  Run({"SET", "k", expected, "EX", "10"});
  const std::string replies =
      RunRaw(EncodeRequest({"GET", "k"}) + EncodeRequest({"SETRANGE", "k", "1", "new"}));
  CHECK(TakeReplies(replies) == std::vector<Reply>{Bulk(expected), Integer(40'000)});
  expected.replace(1, 3, "new");
  CHECK(Run({"GET", "k"}) == Bulk(expected));
  for (int i = 0; i < 30; ++i) {
    const std::string piece(997, static_cast<char>('a' + i % 26));
    const std::string offset = std::to_string(expected.size() + 1);
    expected.append(1, '\0').append(piece);
    CHECK(Run({"SETRANGE", "k", offset, piece}) == Integer(static_cast<int64_t>(expected.size())));
  }
  CHECK(Run({"GET", "k"}) == Bulk(expected));
  CHECK(Run({"TTL", "k"}) == Integer(10));
  CHECK(Run({"OBJECT", "ENCODING", "k"}) == Bulk("raw"));
}

TEST_CASE_METHOD(CommandTest, "each change of a part passes the change point once") {
  Run({"SET", "big", std::string(40'000, 'o')});
  TakeChanges();
  Run({"SETRANGE", "k", "1", "x"});
  Run({"SETRANGE", "k", "2", "x"});
  Run({"SETRANGE", "big", "1", "x"});
  Run({"APPEND", "big", "x"});
  CHECK(TakeChanges() ==
        std::vector<std::string>{"new k", "setrange k", "setrange k", "setrange big", "append big"});
}

}  // namespace mayfly::testing
