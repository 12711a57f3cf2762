#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "FLUSHDB empties one database and FLUSHALL all") {
  TestClient& other = Connect();
  other.session().db = 1;
  const std::vector<std::string> option =
      GENERATE(values<std::vector<std::string>>({{}, {"ASYNC"}, {"sync"}}));
  const auto with_option = [&](std::string command) {
    std::vector<std::string> words{std::move(command)};
    words.insert(words.end(), option.begin(), option.end());
    return words;
  };
  Run({"MSET", "a", "1", "b", "2"});
  other.Run({"SET", "c", "3", "EX", "10"});
  CHECK(Run(with_option("FLUSHDB")) == Ok());
  CHECK(Run({"DBSIZE"}) == Integer(0));
  CHECK(Run({"GET", "a"}) == Null());
  CHECK(other.Run({"DBSIZE"}) == Integer(1));
  Run({"SET", "a", "4"});
  CHECK(Run(with_option("FLUSHALL")) == Ok());
  CHECK(Run({"DBSIZE"}) == Integer(0));
  CHECK(other.Run({"DBSIZE"}) == Integer(0));
  AdvanceTime(20'000);
  CHECK(Run({"SET", "a", "5"}) == Ok());
  CHECK(Run({"GET", "a"}) == Bulk("5"));
}

TEST_CASE_METHOD(CommandTest, "a flush takes ASYNC or SYNC and nothing else") {
  Run({"SET", "k", "v"});
  for (const char* command : {"FLUSHDB", "FLUSHALL"}) {
    CHECK(Run({command, "NOW"}) == Error("ERR syntax error"));
    CHECK(Run({command, "SYNC", "ASYNC"}) == Error("ERR syntax error"));
    CHECK(Run({command, "ASYNC", "ASYNC"}) == Error("ERR syntax error"));
    CHECK(Run({command, ""}) == Error("ERR syntax error"));
  }
  CHECK(Run({"DBSIZE"}) == Integer(1));
}

TEST_CASE_METHOD(CommandTest,
                 "the bytes of a flushed value live until the reply that shares them is written") {
  const std::string big(100'000, 'x');
  Run({"SET", "k", big});
  const std::string replies = RunRaw(EncodeRequest({"GET", "k"}) + EncodeRequest({"FLUSHALL"}));
  CHECK(TakeReplies(replies) == std::vector<Reply>{Bulk(big), Ok()});
}

TEST_CASE_METHOD(CommandTest, "DBSIZE counts keys until they are freed") {
  CHECK(Run({"DBSIZE"}) == Integer(0));
  Run({"MSET", "a", "1", "b", "2"});
  Run({"SET", "c", "3", "PX", "5"});
  CHECK(Run({"DBSIZE"}) == Integer(3));
  AdvanceTime(5);
  CHECK(Run({"DBSIZE"}) == Integer(2));
  CHECK(Run({"DBSIZE", "x"}) == Error("ERR wrong number of arguments for 'dbsize' command"));
}

TEST_CASE_METHOD(CommandTest, "the commands after a flush in one pipeline see the empty database") {
  const std::string replies = RunRaw("SET k v\r\nGET k\r\nFLUSHDB\r\nGET k\r\nSET k w\r\nGET k\r\n");
  CHECK(replies == "+OK\r\n$1\r\nv\r\n+OK\r\n$-1\r\n+OK\r\n$1\r\nw\r\n");
}

}  // namespace mayfly::testing
