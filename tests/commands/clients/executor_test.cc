// What holds for every command: look-up, arity, permission, memory, order in a pipeline, counting.
#include "exec/dispatch/executor.h"

#include <string>

#include "support/catch.h"
#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "an unknown command is answered with the beginning of what was sent") {
  CHECK(Run({"FOO", "bar", "b\r\nz"}) ==
        Error("ERR unknown command 'FOO', with args beginning with: 'bar' 'b  z' "));
  CHECK(Run({"GETX"}) == Error("ERR unknown command 'GETX', with args beginning with: "));
  const std::string text = Run({"FOO", std::string(200, 'a'), "never shown"}).text;
  CHECK(text == "ERR unknown command 'FOO', with args beginning with: '" + std::string(128, 'a') + "' ");
  CHECK(Run({std::string(200, 'x')}).text ==
        "ERR unknown command '" + std::string(128, 'x') + "', with args beginning with: ");
}

TEST_CASE_METHOD(CommandTest, "a name is known in any case, and only as a whole") {
  CHECK(Run({"pInG"}) == Simple("PONG"));
  CHECK(Run({"client", "GetName"}).kind == Reply::Kind::kNull);
  for (const char* name : {"pin", "pingg", "", "\x10ing", "ge\x54t", "get\x00"})
    CHECK(Run({name}).kind == Reply::Kind::kError);
}

TEST_CASE_METHOD(CommandTest, "the number of arguments is checked before anything else") {
  CHECK(Run({"GET"}) == Error("ERR wrong number of arguments for 'get' command"));
  CHECK(Run({"GET", "a", "b"}) == Error("ERR wrong number of arguments for 'get' command"));
  CHECK(Run({"CLIENT"}) == Error("ERR wrong number of arguments for 'client' command"));
  CHECK(Run({"CLIENT", "SETNAME"}) == Error("ERR wrong number of arguments for 'client|setname' command"));
  CHECK(Run({"CLIENT", "FLY"}) == Error("ERR unknown subcommand 'FLY'. Try CLIENT HELP."));
}

TEST_CASE_METHOD(CommandTest, "with a password set, nothing runs before AUTH") {
  SetOption("requirepass", "secret");
  CHECK(Run({"GET", "k"}) == Error("NOAUTH Authentication required."));
  CHECK(Run({"NOSUCH"}).text.substr(0, 19) == "ERR unknown command");
  CHECK(Run({"AUTH", "secret"}) == Ok());
  CHECK(Run({"GET", "k"}) == Null());
}

TEST_CASE_METHOD(CommandTest, "a client that speaks HTTP is closed before any of its requests runs") {
  CHECK(RunRaw("POST / HTTP/1.1\r\nHost: localhost\r\n\r\nSET hacked 1\r\n").empty());
  CHECK(client().session().Has(Mode::kDropped));
  CHECK(keyspace().size() == 0);
  TestClient& other = Connect();
  CHECK(other.RunRaw("Host: localhost\r\nSET hacked 1\r\n").empty());
  CHECK(other.session().Has(Mode::kDropped));
}

TEST_CASE_METHOD(CommandTest, "a pipeline is answered in order, its protocol error at its place") {
  const std::string replies = RunRaw(
      "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\n1\r\n*2\r\n$4\r\nINCR\r\n$1\r\nk\r\nGET "
      "k\r\n*1\r\nbroken\r\nPING\r\n");
  CHECK(replies == "+OK\r\n:2\r\n$1\r\n2\r\n-ERR Protocol error: expected '$', got 'b'\r\n");
  CHECK(client().session().Has(Mode::kEnding));
}

TEST_CASE_METHOD(CommandTest, "a pipeline longer than one batch looks ahead and keeps its order") {
  std::string requests;
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    requests += "INCR k\r\nSET x " + std::to_string(i) + "\r\nGET x\r\nDEL x\r\n";
    const std::string text = std::to_string(i);
    expected += ":" + std::to_string(i + 1) + "\r\n+OK\r\n$" + std::to_string(text.size()) + "\r\n" + text +
                "\r\n:1\r\n";
  }
  CHECK(RunRaw(requests) == expected);
}

TEST_CASE_METHOD(CommandTest, "a batch follows SELECT and AUTH into the new state") {
  CHECK(RunRaw("SET k zero\r\nSELECT 1\r\nSET k one\r\nGET k\r\nSELECT 0\r\nGET k\r\n") ==
        "+OK\r\n+OK\r\n+OK\r\n$3\r\none\r\n+OK\r\n$4\r\nzero\r\n");
  SetOption("requirepass", "secret");
  CHECK(RunRaw("GET k\r\nAUTH secret\r\nGET k\r\n") ==
        "-NOAUTH Authentication required.\r\n+OK\r\n$4\r\nzero\r\n");
}

TEST_CASE_METHOD(CommandTest,
                 "over maxmemory with nothing to evict, writes that may grow are refused and the rest runs") {
  CHECK(Run({"SET", "k", "v"}) == Ok());
  SetOption("maxmemory-policy", "noeviction");
  SetOption("maxmemory", "1");
  CHECK(Run({"SET", "k", "w"}) == Error("OOM command not allowed when used memory > 'maxmemory'."));
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  CHECK(Run({"DEL", "k"}) == Integer(1));
  SetOption("maxmemory", "0");
  CHECK(Run({"SET", "k", "w"}) == Ok());
}

TEST_CASE_METHOD(CommandTest, "the OOM error says so if a volatile policy finds no key with a TTL") {
  const std::string redis = "OOM command not allowed when used memory > 'maxmemory'.";
  CHECK(Run({"SET", "stays", "v"}) == Ok());
  SetOption("maxmemory", "1");
  for (const char* policy :
       {"volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl", "volatile-s3fifo"}) {
    INFO(policy);
    SetOption("maxmemory-policy", policy);
    CHECK(Run({"SET", "k", "v", "EX", "60"}) ==
          Error(redis + " The volatile maxmemory-policy finds no key with a TTL to evict."));
    // A script compares with Redis's text.
    CHECK(Run({"EVAL", "return redis.pcall('set', KEYS[1], 'v')['err']", "1", "k"}) == Bulk(redis));
  }
  SetOption("maxmemory-policy", "noeviction");
  CHECK(Run({"SET", "k", "v", "EX", "60"}) == Error(redis));
}

TEST_CASE_METHOD(CommandTest,
                 "over maxmemory the policy chooses the victims, and a key without a TTL stays") {
  Run({"SET", "stays", "v"});
  for (int i = 0; i < 1000; ++i) Run({"SET", "k" + std::to_string(i), std::string(100, 'v'), "EX", "100"});
  const uint64_t used = server().memory.Data();
  SetOption("maxmemory", std::to_string(used - 50'000));
  CHECK(Run({"SET", "another", "v"}) == Ok());
  int slices = 0;
  while (server().executor.EvictSome(64)) ++slices;
  CHECK(slices > 2);
  CHECK(server().memory.Data() <= used - 50'000);
  CHECK(Run({"EXISTS", "stays", "another"}) == Integer(2));
  CHECK(Run({"EXISTS", "k0", "k999"}) == Integer(1));
}

TEST_CASE_METHOD(CommandTest, "maxkeys holds after every write, whatever the policy") {
  SetOption("maxmemory-policy", "noeviction");
  SetOption("maxkeys", "3");
  for (const char* key : {"a", "b", "c", "d", "e"}) {
    AdvanceTime(Entry::kStampMs);
    CHECK(Run({"SET", key, "v"}) == Ok());
  }
  CHECK(Run({"DBSIZE"}) == Integer(3));
  CHECK(Run({"EXISTS", "c", "d", "e"}) == Integer(3));
}

TEST_CASE_METHOD(CommandTest, "allkeys-sieve keeps keys that were read again, for maxkeys too") {
  CHECK(Run({"CONFIG", "SET", "maxmemory-policy", "allkeys-sieve", "maxkeys", "3"}) == Ok());
  CHECK(Run({"CONFIG", "GET", "maxmemory-policy"}) == Bulks({"maxmemory-policy", "allkeys-sieve"}));
  for (const char* key : {"a", "b", "c"}) Run({"SET", key, "v"});
  CHECK(Run({"GET", "a"}) == Bulk("v"));
  TakeChanges();
  CHECK(Run({"SET", "d", "v"}) == Ok());
  CHECK(TakeChanges() == std::vector<std::string>{"new d", "set d", "evicted b"});
  CHECK(Run({"SET", "e", "v", "EX", "100"}) == Ok());
  CHECK(TakeChanges() == std::vector<std::string>{"new e", "set e", "expire e", "evicted c"});
  AdvanceTime(9000);
  CHECK(Run({"OBJECT", "IDLETIME", "a"}) == Integer(9));
  CHECK(Run({"GET", "a"}) == Bulk("v"));
  CHECK(Run({"OBJECT", "IDLETIME", "a"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "the policy can be changed while keys are there, from LRU to SIEVE and back") {
  SetOption("maxkeys", "3");
  SetOption("maxmemory-policy", "allkeys-lru");
  const auto touch = [&](const char* key) {
    AdvanceTime(Entry::kStampMs);
    Run({"GET", key});
  };
  for (const char* key : {"a", "b", "c"}) Run({"SET", key, "v"});
  for (const char* key : {"c", "b", "a"}) touch(key);
  SetOption("maxmemory-policy", "allkeys-sieve");
  touch("c");
  TakeChanges();
  Run({"SET", "d", "v"});
  CHECK(TakeChanges() == std::vector<std::string>{"new d", "set d", "evicted b"});
  SetOption("maxmemory-policy", "allkeys-lru");
  for (const char* key : {"d", "c", "a"}) touch(key);
  TakeChanges();
  Run({"SET", "e", "v"});
  CHECK(TakeChanges() == std::vector<std::string>{"new e", "set e", "evicted d"});
}

TEST_CASE_METHOD(CommandTest, "under allkeys-sieve every write finds room, though every key was read again") {
  SetOption("maxmemory-policy", "allkeys-sieve");
  const auto key = [](int i) { return "k" + std::to_string(1000 + i); };
  for (int i = 0; i < 300; ++i) Run({"SET", key(i), std::string(100, 'v')});
  Run({"GET", key(0)});  // from its first call on a command has a histogram
  const uint64_t limit = server().memory.Data();
  SetOption("maxmemory", std::to_string(limit));
  for (int i = 300; i < 400; ++i) {
    for (int j = 0; j < i; ++j) Run({"GET", key(j)});
    CHECK(Run({"SET", key(i), std::string(100, 'v')}) == Ok());
    CHECK(server().memory.Data() < limit + 500);
  }
  CHECK(Run({"DBSIZE"}).integer > 250);
}

TEST_CASE_METHOD(CommandTest, "under allkeys-s3fifo a scan leaves alone what is read again") {
  SetOption("maxkeys", "100");
  SetOption("maxmemory-policy", "allkeys-s3fifo");
  const auto read = [&](const std::string& key) {
    const bool hit = Run({"GET", key}) == Bulk("v");
    if (!hit) CHECK(Run({"SET", key, "v"}) == Ok());
    return hit;
  };
  for (int i = 0; i < 160; ++i) read("hot" + std::to_string(i % 80));
  for (int i = 0; i < 1000; ++i) read("scan" + std::to_string(i));
  for (int i = 0; i < 80; ++i) CHECK(read("hot" + std::to_string(i)));
  CHECK(Run({"DBSIZE"}) == Integer(100));
  CHECK(Run({"OBJECT", "IDLETIME", "hot0"}) == Integer(0));
  CHECK(Run({"OBJECT", "FREQ", "hot0"}).text.starts_with("ERR An LFU maxmemory policy is not selected"));
  const std::string info = Run({"INFO", "memory"}).text;
  CHECK(info.find("maxmemory_policy:allkeys-s3fifo") != std::string::npos);
  CHECK(info.find("mem_ghost_ring:4096") != std::string::npos);
  SetOption("maxmemory-policy", "allkeys-lru");
  CHECK(Run({"INFO", "memory"}).text.find("mem_ghost_ring:0") != std::string::npos);
}

TEST_CASE_METHOD(CommandTest, "a key that comes back after its eviction is not on probation, also by MSET") {
  SetOption("maxkeys", "20");
  SetOption("maxmemory-policy", "allkeys-s3fifo");
  for (int i = 0; i < 30; ++i) Run({"SET", "k" + std::to_string(i), "v"});
  CHECK(Run({"EXISTS", "k0", "k1"}) == Integer(0));
  CHECK(Run({"SET", "k0", "v"}) == Ok());
  CHECK(Run({"MSET", "k1", "v", "new", "v"}) == Ok());
  for (int i = 0; i < 30; ++i) Run({"SET", "other" + std::to_string(i), "v"});
  CHECK(Run({"EXISTS", "k0", "k1"}) == Integer(2));
  CHECK(Run({"EXISTS", "new"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest,
                 "volatile-s3fifo keeps keys without a TTL, and writes are refused if no other is left") {
  for (int i = 0; i < 50; ++i) Run({"SET", "lasting" + std::to_string(i), std::string(2000, 'v')});
  for (int i = 0; i < 80; ++i) Run({"SET", "brief" + std::to_string(i), std::string(2000, 'v'), "EX", "100"});
  SetOption("maxmemory-policy", "volatile-s3fifo");
  SetOption("maxmemory", std::to_string(server().memory.Data()));
  for (int i = 0; i < 40; ++i)
    CHECK(Run({"SET", "more" + std::to_string(i), std::string(2000, 'v')}) == Ok());
  CHECK(Run({"EXISTS", "lasting0", "lasting49", "more39"}) == Integer(3));
  Reply reply = Ok();
  for (int i = 0; i < 400 && reply == Ok(); ++i)
    reply = Run({"SET", "last" + std::to_string(i), std::string(2000, 'v')});
  CHECK(reply.text.starts_with("OOM"));
}

TEST_CASE_METHOD(CommandTest, "calls, refusals and failures are counted for each command") {
  const TableRow& get = *server().commands.Find("get");
  const CallStats before = get.calls;
  Run({"GET", "k"});
  Run({"GET"});
  Run({"SET", "n", "text"});
  Run({"INCR", "n"});
  CHECK(get.calls.calls - before.calls == 1);
  CHECK(get.calls.rejected - before.rejected == 1);
  CHECK(server().commands.Find("incr")->calls.failed == 1);
  CHECK(stats().error_replies == 2);
}

}  // namespace mayfly::testing
