// A client that is held back has sent more: whole requests, and the beginning of another one. None of it may
// be lost, mixed up or run in part, wherever the bytes are torn.
#include "support/command_test.h"
#include "support/request_text.h"

namespace mayfly::testing {
namespace {

std::string Pipeline(const std::vector<std::vector<std::string>>& requests) {
  std::string text;
  for (const std::vector<std::string>& request : requests) text += EncodeRequest(request);
  return text;
}

}  // namespace

TEST_CASE_METHOD(CommandTest, "requests of a paused client run in order, wherever their bytes were torn") {
  const std::string bytes =
      Pipeline({{"PING"}, {"PING", "two"}, {"SET", "k", "v"}, {"MGET", "k", "absent"}, {"DEL", "k"}});
  const std::string replies = "+PONG\r\n$3\r\ntwo\r\n+OK\r\n*2\r\n$1\r\nv\r\n$-1\r\n:1\r\n";
  for (size_t first = 0; first <= bytes.size(); ++first) {
    CAPTURE(first);
    TestClient& held = Connect();
    Run({"CLIENT", "PAUSE", "100", "ALL"});
    CHECK(held.RunRaw(bytes.substr(0, first)).empty());
    CHECK(held.RunRaw(bytes.substr(first)).empty());
    Run({"CLIENT", "UNPAUSE"});
    REQUIRE(held.RunRaw({}) == replies);
  }
}

TEST_CASE_METHOD(CommandTest, "a paused client may send the rest of a request after the pause") {
  const std::string bytes = Pipeline({{"PING"}, {"PING", "two"}, {"SET", "k", "v"}, {"MGET", "k", "absent"}});
  const std::string replies = "+PONG\r\n$3\r\ntwo\r\n+OK\r\n*2\r\n$1\r\nv\r\n$-1\r\n";
  for (size_t first = 1; first <= bytes.size(); ++first) {
    CAPTURE(first);
    TestClient& held = Connect();
    Run({"CLIENT", "PAUSE", "100", "ALL"});
    std::string got = held.RunRaw(bytes.substr(0, first));
    Run({"CLIENT", "UNPAUSE"});
    got += held.RunRaw({});
    got += held.RunRaw(bytes.substr(first));
    REQUIRE(got == replies);
  }
}

TEST_CASE_METHOD(CommandTest, "a write, an inline read and half a PING survive CLIENT PAUSE WRITE") {
  TestClient& held = Connect();
  Run({"CLIENT", "PAUSE", "100", "WRITE"});
  CHECK(held.RunRaw(EncodeRequest({"SET", "b", "1"}) + "GET b\n*1\r\n$4\r\nPI").empty());
  Run({"CLIENT", "UNPAUSE"});
  CHECK(held.RunRaw("NG\r\n") == "+OK\r\n$1\r\n1\r\n+PONG\r\n");
}

TEST_CASE_METHOD(CommandTest, "the end of a value that arrives in two parts never runs as a command") {
  TestClient& held = Connect();
  Run({"SET", "kept", "1"});
  const std::string value = std::string(30'000, 'x') + "\r\nFLUSHALL\r\nFLUSHALL";
  const std::string bytes = Pipeline({{"SET", "a", "1"}, {"SET", "b", "2"}, {"SET", "c", value}});
  for (const size_t before_end : {1, 5, 25, 15'000, 30'000}) {
    CAPTURE(before_end);
    Run({"CLIENT", "PAUSE", "100", "WRITE"});
    CHECK(held.RunRaw(bytes.substr(0, bytes.size() - before_end)).empty());
    Run({"CLIENT", "UNPAUSE"});
    CHECK(held.RunRaw({}) == "+OK\r\n+OK\r\n");
    CHECK(held.RunRaw(bytes.substr(bytes.size() - before_end)) == "+OK\r\n");
    CHECK(Run({"GET", "c"}) == Bulk(value));
    CHECK(Run({"GET", "kept"}) == Bulk("1"));
  }
}

TEST_CASE_METHOD(CommandTest, "what breaks the protocol after a held request is answered after it") {
  TestClient& held = Connect();
  Run({"CLIENT", "PAUSE", "100", "ALL"});
  CHECK(held.RunRaw(EncodeRequest({"PING"}) + EncodeRequest({"PING"}) + "*1\r\n!\r\n").empty());
  CHECK(Run({"CLIENT", "UNPAUSE"}) == Ok());
  CHECK(held.RunRaw({}) == "+PONG\r\n+PONG\r\n-ERR Protocol error: expected '$', got '!'\r\n");
  CHECK(held.session().Has(Mode::kEnding));
}

}  // namespace mayfly::testing
