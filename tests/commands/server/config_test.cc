#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "CONFIG GET answers pairs, as a map in RESP3") {
  CHECK(Run({"CONFIG", "GET", "databases"}) == Bulks({"databases", "16"}));
  CHECK(Run({"CONFIG", "GET", "nosuch"}) == Array({}));
  UseResp3();
  CHECK(Run({"CONFIG", "GET", "databases"}) == Map({Bulk("databases"), Bulk("16")}));
  CHECK(Run({"CONFIG", "GET", "nosuch"}) == Map({}));
  CHECK(Run({"CONFIG", "GET"}) == Error("ERR wrong number of arguments for 'config|get' command"));
}

TEST_CASE_METHOD(CommandTest, "CONFIG GET takes several patterns and answers each option once") {
  UseResp3();
  const Reply found = Run({"CONFIG", "GET", "maxmemory", "databases", "max*ory", "TIMEOUT", "timeout"});
  REQUIRE(found.kind == Reply::Kind::kMap);
  std::vector<std::string> names;
  for (size_t i = 0; i < found.elements.size(); i += 2) names.push_back(found.elements[i].text);
  CHECK(names == std::vector<std::string>{"maxmemory", "databases", "TIMEOUT"});
}

TEST_CASE_METHOD(CommandTest, "CONFIG GET answers what clients and benchmarks read") {
  CHECK(Run({"CONFIG", "GET", "save"}) == Bulks({"save", ""}));
  CHECK(Run({"CONFIG", "SET", "save", "900 1 300 10"}) == Ok());
  CHECK(Run({"CONFIG", "GET", "save"}) == Bulks({"save", "900 1 300 10"}));
  CHECK(Run({"CONFIG", "GET", "dbfilename"}) == Bulks({"dbfilename", "dump.rdb"}));
  CHECK(Run({"CONFIG", "GET", "appendonly"}) == Bulks({"appendonly", "no"}));
  CHECK(Run({"CONFIG", "SET", "timeout", "301"}) == Ok());
  CHECK(Run({"CONFIG", "GET", "timeout"}) == Bulks({"timeout", "301"}));
  CHECK(Run({"CONFIG", "SET", "slave-read-only", "no"}) == Ok());
  CHECK(Run({"CONFIG", "GET", "replica-read-only"}) == Bulks({"replica-read-only", "no"}));
  CHECK(Run({"CONFIG", "GET", "slave-read-only"}) == Bulks({"slave-read-only", "no"}));
  CHECK(Run({"CONFIG", "GET", "*"}).elements.size() > 200);
}

TEST_CASE_METHOD(CommandTest, "CONFIG SET takes effect at once") {
  CHECK(Run({"CONFIG", "SET", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru"}) == Ok());
  CHECK(Run({"CONFIG", "GET", "maxmemory"}) == Bulks({"maxmemory", "104857600"}));
  CHECK(Run({"CONFIG", "GET", "maxmemory-policy"}) == Bulks({"maxmemory-policy", "allkeys-lru"}));
  CHECK(server().options.settings().maxmemory.bytes == 100 << 20);
  CHECK(server().options.settings().maxmemory_policy == EvictionPolicy::kAllKeysLru);
}

TEST_CASE_METHOD(CommandTest, "CONFIG SET takes any bytes, and CONFIG GET gives them back") {
  const std::string bytes("a \"b\"\r\n\0\xff", 9);
  CHECK(Run({"CONFIG", "SET", "bind-source-addr", bytes, "requirepass", ""}) == Ok());
  CHECK(Run({"CONFIG", "GET", "bind-source-addr"}) == Bulks({"bind-source-addr", bytes}));
}

TEST_CASE_METHOD(CommandTest, "an unknown policy is refused with the names of the known ones") {
  CHECK(Run({"CONFIG", "SET", "maxmemory-policy", "allkeys-fifo"}) ==
        Error("ERR CONFIG SET failed (possibly related to argument 'maxmemory-policy') - argument(s) must be "
              "one of "
              "the following: volatile-lru, volatile-lfu, volatile-random, volatile-ttl, "
              "volatile-s3fifo, allkeys-lru, allkeys-lfu, allkeys-random, allkeys-sieve, allkeys-s3fifo, "
              "noeviction"));
  CHECK(Run({"CONFIG", "SET", "maxmemory-policy", "ALLKEYS-SIEVE"}) == Ok());
  CHECK(Run({"INFO", "memory"}).text.find("maxmemory_policy:allkeys-sieve") != std::string::npos);
}

TEST_CASE_METHOD(CommandTest, "CONFIG SET changes all or nothing") {
  const Reply before = Run({"CONFIG", "GET", "*"});
  CHECK(Run({"CONFIG", "SET", "timeout", "5", "nosuch", "1"}) ==
        Error("ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'"));
  CHECK(Run({"CONFIG", "SET", "timeout", "5", "maxmemory", "x"}) ==
        Error("ERR CONFIG SET failed (possibly related to argument 'maxmemory') - argument must be a memory "
              "value"));
  CHECK(
      Run({"CONFIG", "SET", "timeout", "5", "databases", "5"}) ==
      Error("ERR CONFIG SET failed (possibly related to argument 'databases') - can't set immutable config"));
  CHECK(Run({"CONFIG", "SET", "timeout", "5", "timeout", "6"}) ==
        Error("ERR CONFIG SET failed (possibly related to argument 'timeout') - duplicate parameter"));
  CHECK(Run({"CONFIG", "SET", "timeout", "5", "hz"}) == Error("ERR syntax error"));
  CHECK(Run({"CONFIG", "SET", "timeout"}) == Error("ERR wrong number of arguments for 'config|set' command"));
  CHECK(Run({"CONFIG", "GET", "*"}) == before);
}

TEST_CASE_METHOD(CommandTest,
                 "a password that is set while clients are connected applies only to later clients") {
  TestClient& there = Connect();
  CHECK(Run({"CONFIG", "SET", "requirepass", "secret"}) == Ok());
  CHECK(Run({"PING"}) == Simple("PONG"));
  CHECK(there.Run({"PING"}) == Simple("PONG"));
  TestClient& later = Connect();
  CHECK(later.Run({"PING"}) == Error("NOAUTH Authentication required."));
  CHECK(Run({"CONFIG", "SET", "timeout", "100"}) == Ok());
  CHECK(Run({"CONFIG", "SET", "requirepass", "other"}) == Ok());
  CHECK(later.Run({"PING"}) == Error("NOAUTH Authentication required."));
  CHECK(Run({"CONFIG", "SET", "requirepass", ""}) == Ok());
  CHECK(later.Run({"PING"}) == Simple("PONG"));
}

TEST_CASE_METHOD(CommandTest, "CONFIG RESETSTAT sets the counters to zero") {
  Run({"GET", "absent"});
  Run({"NOSUCH"});
  Run({"SET", "k", "v", "PX", "5"});
  AdvanceTime(5);
  CHECK(stats().keyspace_misses == 1);
  CHECK(stats().error_replies == 1);
  CHECK(stats().errors.counts().size() == 1);
  CHECK(server().databases.expiry_stats().expired_keys == 1);
  CHECK(server().commands.Find("get")->calls.calls == 1);
  CHECK(Run({"CONFIG", "RESETSTAT"}) == Ok());
  CHECK(stats().keyspace_misses == 0);
  CHECK(stats().error_replies == 0);
  CHECK(stats().errors.counts().empty());
  CHECK(server().databases.expiry_stats().expired_keys == 0);
  CHECK(server().commands.Find("get")->calls.calls == 0);
  CHECK(Run({"CONFIG", "RESETSTAT", "x"}) ==
        Error("ERR wrong number of arguments for 'config|resetstat' command"));
}

TEST_CASE_METHOD(CommandTest, "CONFIG knows no other subcommand") {
  CHECK(Run({"CONFIG", "FOO"}) == Error("ERR unknown subcommand 'FOO'. Try CONFIG HELP."));
  CHECK(Run({"CONFIG"}) == Error("ERR wrong number of arguments for 'config' command"));
  CHECK(Run({"CONFIG", "HELP"}).kind == Reply::Kind::kArray);
}

TEST_CASE_METHOD(CommandTest, "CONFIG REWRITE is refused if the server was started without a file") {
  CHECK(Run({"CONFIG", "REWRITE"}) == Error("ERR The server is running without a config file"));
  CHECK(Run({"CONFIG", "REWRITE", "x"}) ==
        Error("ERR wrong number of arguments for 'config|rewrite' command"));
}

// Such a value would forge lines of CLUSTER NODES and of the log.
TEST_CASE_METHOD(CommandTest, "CONFIG SET refuses line breaks and other control characters in a text") {
  const std::string start = "ERR CONFIG SET failed (possibly related to argument '";
  for (const char* value : {"1.2.3.4\r\n", "1.2.3.4 5", "a,b", "a@b", "\x7f"}) {
    INFO(value);
    CHECK(Run({"CONFIG", "SET", "cluster-announce-ip", value}) ==
          Error(start + "cluster-announce-ip') - argument " +
                (std::string_view(value).find_first_of("\r\x7f") != std::string_view::npos
                     ? "must not contain line breaks or other control characters"
                     : "may only contain letters, digits and the signs - . _ : %")));
  }
  for (const char* value : {"10.0.0.1", "fe80::1%eth0", "host_1", ""})
    CHECK(Run({"CONFIG", "SET", "cluster-announce-ip", value}) == Ok());
  CHECK(Run({"CONFIG", "SET", "metrics-hosts", "a\nb"}).kind == Reply::Kind::kError);
  CHECK(Run({"CONFIG", "SET", "cluster-announce-hostname", "a\nb"}).kind == Reply::Kind::kError);
}

}  // namespace mayfly::testing
