#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "CLIENT REPLY OFF sends nothing at all until ON") {
  CHECK(RunRaw("PING\r\nCLIENT REPLY OFF\r\nSET k v\r\nGET\r\nNOSUCH\r\nGET k\r\n") == "+PONG\r\n");
  CHECK(Run({"GET", "k"}) == NoReply());
  CHECK(Run({"CLIENT", "REPLY", "SKIP"}) == NoReply());
  CHECK(Run({"CLIENT", "REPLY", "foo"}) == NoReply());
  CHECK(Run({"GET", "k"}) == NoReply());
  CHECK(Connect().Run({"GET", "k"}) == Bulk("v"));
  CHECK(RunRaw("CLIENT REPLY ON\r\nGET k\r\n") == "+OK\r\n$1\r\nv\r\n");
  CHECK(Run({"CLIENT", "REPLY", "foo"}) == Error("ERR syntax error"));
}

TEST_CASE_METHOD(CommandTest, "replies that CLIENT REPLY OFF suppresses take no memory") {
  Run({"SET", "k", std::string(10'000, 'v')});
  Run({"CLIENT", "REPLY", "OFF"});
  Run({"GET", "k"});
  const uint64_t before = server().memory.All();
  for (int i = 0; i < 1000; ++i) Run({"GET", "k"});
  CHECK(server().memory.All() <= before + 100'000);
}

TEST_CASE_METHOD(CommandTest, "CLIENT REPLY SKIP leaves out the next reply alone") {
  CHECK(RunRaw("CLIENT REPLY SKIP\r\nSET k v\r\nGET k\r\n") == "$1\r\nv\r\n");
  CHECK(Run({"CLIENT", "REPLY", "SKIP"}) == NoReply());
  CHECK(Run({"CLIENT", "REPLY", "SKIP"}) == NoReply());
  CHECK(Run({"NOSUCH"}) == NoReply());
  CHECK(Run({"PING"}) == Simple("PONG"));
  CHECK(RunRaw("CLIENT REPLY SKIP\r\nCLIENT REPLY ON\r\nPING\r\n") == "+OK\r\n+PONG\r\n");
  // What has no reply is a request as well.
  CHECK(RunRaw("CLIENT REPLY SKIP\r\n\r\nPING\r\n") == "+PONG\r\n");
  CHECK(RunRaw("CLIENT REPLY SKIP\r\n*0\r\nPING\r\n") == "+PONG\r\n");
}

TEST_CASE_METHOD(CommandTest, "RESET takes back the modes that a client has set") {
  CHECK(RunRaw("CLIENT REPLY OFF\r\nRESET\r\nPING\r\n") == "+RESET\r\n+PONG\r\n");
  CHECK(RunRaw("CLIENT REPLY SKIP\r\nRESET\r\nPING\r\n") == "+PONG\r\n");
  CHECK(RunRaw("CLIENT NO-TOUCH ON\r\nCLIENT NO-EVICT ON\r\nRESET\r\n") == "+OK\r\n+OK\r\n+RESET\r\n");
  CHECK(Run({"CLIENT", "INFO"}).text.find(" flags=N ") != std::string::npos);
  Run({"SUBSCRIBE", "c"});
  CHECK(Run({"GET", "k"}).kind == Reply::Kind::kError);
  CHECK(Run({"RESET"}) == Simple("RESET"));
  CHECK(Run({"GET", "k"}) == Null());
  CHECK(client().session().modes == 0);
}

TEST_CASE_METHOD(CommandTest, "a reply that is to be skipped is skipped after a pause as well") {
  TestClient& other = Connect();
  CHECK(other.Run({"CLIENT", "REPLY", "SKIP"}) == NoReply());
  Run({"CLIENT", "PAUSE", "10"});
  CHECK(other.RunRaw("SET k v\r\nGET k\r\n").empty());
  AdvanceTime(10);
  CHECK(other.Received() == std::vector<Reply>{Bulk("v")});
}

TEST_CASE_METHOD(CommandTest, "what a client with NO-TOUCH reads does not count as accessed") {
  for (const char* policy : {"allkeys-lru", "allkeys-sieve"}) {
    SetOption("maxmemory-policy", policy);
    Run({"FLUSHALL"});
    Run({"SET", "old", "1"});
    Run({"SET", "new", "1"});
    AdvanceTime(60'000);
    CHECK(Run({"CLIENT", "NO-TOUCH", "ON"}) == Ok());
    CHECK(Run({"GET", "old"}) == Bulk("1"));
    CHECK(Run({"OBJECT", "IDLETIME", "old"}) == Integer(60));
    CHECK(Connect().Run({"GET", "new"}) == Bulk("1"));
    CHECK(Run({"OBJECT", "IDLETIME", "new"}) == Integer(0));
    CHECK(Run({"TOUCH", "old"}) == Integer(1));
    CHECK(Run({"OBJECT", "IDLETIME", "old"}) == Integer(0));
    AdvanceTime(1000);
    CHECK(Run({"CLIENT", "NO-TOUCH", "OFF"}) == Ok());
    CHECK(client().session().modes == 0);
    CHECK(Run({"OBJECT", "IDLETIME", "old"}) == Integer(1));
    CHECK(Run({"GET", "old"}) == Bulk("1"));
    CHECK(Run({"OBJECT", "IDLETIME", "old"}) == Integer(0));
  }
}

TEST_CASE_METHOD(CommandTest, "a client with NO-TOUCH sees the policy, and sets it, like any other") {
  CHECK(Run({"CLIENT", "NO-TOUCH", "ON"}) == Ok());
  CHECK(Run({"CONFIG", "SET", "maxmemory-policy", "allkeys-lfu"}) == Ok());
  Run({"SET", "k", "v"});
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  CHECK(Run({"OBJECT", "FREQ", "k"}) == Integer(5));
  // The first hit of a new key is always counted.
  CHECK(Connect().Run({"GET", "k"}) == Bulk("v"));
  CHECK(Run({"OBJECT", "FREQ", "k"}) == Integer(6));
}

}  // namespace mayfly::testing
