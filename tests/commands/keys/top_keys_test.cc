// HOTKEYS and BIGKEYS.
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

Reply Hot(int64_t database, std::string_view key, std::string_view per_second) {
  return Array({Integer(database), Bulk(key), Bulk(per_second)});
}

class BigKeysCommandTest : public CommandTest {
 public:
  // As BIGKEYS shows it.
  Reply Big(int64_t database, const std::string& key, const std::string& type) {
    return Array({Integer(database), Bulk(key), Bulk(type), Run({"MEMORY", "USAGE", key, "SAMPLES", "0"})});
  }
};

}  // namespace

TEST_CASE_METHOD(CommandTest,
                 "HOTKEYS shows the keys that are asked for most often, with how often a second") {
  CHECK(Run({"HOTKEYS"}) == Array({}));
  for (int i = 0; i < 30; ++i) Run({"GET", "absent"});
  for (int i = 0; i < 15; ++i) Run({"SET", "written", "v"});
  Run({"MGET", "first", "second"});
  Run({"PING"});
  AdvanceTime(2000);
  CHECK(Run({"HOTKEYS"}) ==
        Array({Hot(0, "absent", "15"), Hot(0, "written", "7.5"), Hot(0, "first", "0.5")}));
  CHECK(Run({"HOTKEYS", "COUNT", "1"}) == Array({Hot(0, "absent", "15")}));
  UseResp3();
  CHECK(RunRaw("HOTKEYS COUNT 1\r\n") == "*1\r\n*3\r\n:0\r\n$6\r\nabsent\r\n,15\r\n");
}

TEST_CASE_METHOD(CommandTest,
                 "HOTKEYS tells databases apart, and shows ten keys unless it is told how many") {
  Run({"SELECT", "3"});
  Run({"GET", "k"});
  Run({"SELECT", "0"});
  for (int i = 0; i < 12; ++i) Run({"GET", "k" + std::to_string(i)});
  CHECK(Run({"HOTKEYS"}).elements.size() == 10);
  const Reply all = Run({"HOTKEYS", "COUNT", "9223372036854775807"});
  CHECK(all.elements.size() == 13);
  CHECK(all.elements.back() == Hot(3, "k", "1"));
}

TEST_CASE_METHOD(CommandTest,
                 "requests of a whole pipeline, of a transaction and of a tracked client count") {
  std::string pipeline;
  for (int i = 0; i < 200; ++i) pipeline += "GET k\r\n";
  RunRaw(pipeline);
  Run({"MULTI"});
  Run({"GET", "k"});
  Run({"EXEC"});
  Run({"CLIENT", "TRACKING", "ON"});
  Run({"GET", "k"});
  CHECK(Run({"HOTKEYS"}) == Array({Hot(0, "k", "202")}));
}

TEST_CASE_METHOD(CommandTest, "requests of clients that have not logged in do not count") {
  TestClient& stranger = Connect();
  SetOption("requirepass", "secret");
  TestClient& other = Connect();
  for (TestClient* sender : {&stranger, &other}) sender->Run({"GET", "k"});
  CHECK(other.Run({"AUTH", "secret"}) == Ok());
  CHECK(other.Run({"HOTKEYS"}).elements.size() <= 1);
  CHECK(other.Run({"CONFIG", "RESETSTAT"}) == Ok());
  Connect().Run({"GET", "k"});
  CHECK(other.Run({"HOTKEYS"}) == Array({}));
}

TEST_CASE_METHOD(CommandTest, "CONFIG RESETSTAT begins to count anew") {
  for (int i = 0; i < 30; ++i) Run({"GET", "old"});
  CHECK(Run({"CONFIG", "RESETSTAT"}) == Ok());
  CHECK(Run({"HOTKEYS"}) == Array({}));
  Run({"GET", "new"});
  CHECK(Run({"HOTKEYS"}) == Array({Hot(0, "new", "1")}));
}

TEST_CASE_METHOD(BigKeysCommandTest,
                 "BIGKEYS shows the largest values of all databases with their sizes of now") {
  const std::string long_text(20'000, 'x');
  CHECK(Run({"BIGKEYS"}) == Array({}));
  Run({"SET", "small", std::string(16'000, 'x')});
  Run({"SET", "text", long_text});
  for (int i = 0; i < 5; ++i) Run({"RPUSH", "list", long_text + std::to_string(i)});
  for (int i = 0; i < 3; ++i) Run({"HSET", "hash", "field" + std::to_string(i), long_text});
  Run({"SADD", "small set", "a", "b"});
  const Reply list = Big(0, "list", "list");
  const Reply hash = Big(0, "hash", "hash");
  const Reply text = Big(0, "text", "string");
  CHECK(text.elements[3].integer > 20'000);
  CHECK(Run({"BIGKEYS"}) == Array({list, hash, text}));
  CHECK(Run({"BIGKEYS", "COUNT", "2"}) == Array({list, hash}));
  Run({"MOVE", "list", "7"});
  Run({"SELECT", "7"});
  CHECK(Run({"BIGKEYS", "COUNT", "1"}) == Array({Big(7, "list", "list")}));
  Run({"SELECT", "0"});
  Run({"APPEND", "text", std::string(100'000, 'y')});
  CHECK(Run({"BIGKEYS", "COUNT", "1"}) == Array({Big(0, "text", "string")}));
}

TEST_CASE_METHOD(BigKeysCommandTest, "BIGKEYS shows no key that is gone, has expired or has become small") {
  const std::string long_text(20'000, 'x');
  for (const char* key : {"deleted", "small", "renamed", "timed"}) Run({"SET", key, long_text});
  Run({"DEL", "deleted"});
  Run({"SET", "small", "v"});
  Run({"RENAME", "renamed", "new name"});
  Run({"PEXPIRE", "timed", "10"});
  LetTimePass(10);
  TakeChanges();
  CHECK(Run({"BIGKEYS"}) == Array({Big(0, "new name", "string")}));
  CHECK(TakeChanges().empty());
  Run({"FLUSHALL"});
  CHECK(Run({"BIGKEYS"}) == Array({}));
  RunRaw("SELECT 1\r\nSET k " + long_text + "\r\nSWAPDB 0 1\r\nSELECT 0\r\n");
  CHECK(Run({"BIGKEYS"}) == Array({Big(0, "k", "string")}));
}

TEST_CASE_METHOD(CommandTest, "HOTKEYS and BIGKEYS take a count of one or more") {
  for (const char* command : {"HOTKEYS", "BIGKEYS"}) {
    const std::string usage = "': " + std::string(command) + " [COUNT count]";
    CHECK(Run({command, "COUNT"}) == Error("ERR syntax error near 'COUNT" + usage));
    CHECK(Run({command, "5"}) == Error("ERR syntax error near '5" + usage));
    CHECK(Run({command, "COUNT", "x"}) == Error("ERR value is not an integer or out of range"));
    CHECK(Run({command, "COUNT", "0"}) == Error("ERR count should be greater than 0"));
    CHECK(Run({command, "COUNT", "-1"}) == Error("ERR count should be greater than 0"));
    CHECK(Run({command, "count", "3", "COUNT", "4"}) == Array({}));
  }
}

}  // namespace mayfly::testing
