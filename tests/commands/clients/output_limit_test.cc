// How much output a pipeline may pile up before its client reads a byte. Connections close a client whose
// output is full; here it only stops.
#include "server/clients/output_pool.h"
#include "support/command_test.h"
#include "support/long_text.h"

namespace mayfly::testing {
namespace {

constexpr uint64_t kMegabyte = uint64_t{1} << 20;

config::MaxMemory Bytes(uint64_t bytes) { return {config::MaxMemory::Request::kBytes, bytes, bytes}; }

}  // namespace

// CVE-2025-21605.
TEST_CASE_METHOD(CommandTest,
                 "a client that has not logged in piles up a few kilobytes of errors and no more") {
  SetOption("requirepass", "secret");
  TestClient& stranger = Connect();
  CHECK(stranger.RunRaw(Repeat("a\n", 60'000)).size() < 40'000);
  CHECK_FALSE(stranger.session().MayRun());
}

TEST_CASE_METHOD(CommandTest,
                 "the limit of who has not logged in ends with the login, in the same pipeline") {
  SetOption("requirepass", "secret");
  Run({"AUTH", "secret"});
  Run({"SET", "k", std::string(1000, 'x')});
  TestClient& guest = Connect();
  CHECK(guest.RunRaw("AUTH secret\r\n" + Repeat("GET k\r\n", 1000)).size() > 1'000'000);
  CHECK(guest.session().MayRun());
}

TEST_CASE_METHOD(CommandTest, "client-output-buffer-limit ends a pipeline after the reply that passes it") {
  SetOption("client-output-buffer-limit", "normal 1mb 0 0");
  for (int i = 0; i < 20'000; ++i) Run({"SET", "key:" + std::to_string(i), "v"});
  const size_t one = RunRaw("KEYS *\r\n").size();
  CHECK(one < kMegabyte);
  CHECK(RunRaw(Repeat("KEYS *\r\n", 1000)).size() < kMegabyte + 2 * one);
  CHECK_FALSE(client().session().MayRun());
}

TEST_CASE_METHOD(CommandTest, "big values that are not copied count against the output limit too") {
  SetOption("client-output-buffer-limit", "normal 1mb 0 0");
  Run({"SET", "k", std::string(400'000, 'x')});
  CHECK(RunRaw(Repeat("GET k\r\n", 100)).size() < 2 * kMegabyte);
  CHECK_FALSE(client().session().MayRun());
}

// Requests of few bytes whose replies would have gigabytes or more.
TEST_CASE_METHOD(CommandTest, "a reply ends soon after its client's bound, whatever builds it") {
  SetOption("client-output-buffer-limit", "normal 1mb 0 0");
  const std::string value(100'000, 'v');
  for (const char* key : {"s", "z", "h", "l", "k", "k1"}) Run({"DEL", key});
  Run({"SADD", "s", "m"});
  Run({"ZADD", "z", "1", "m"});
  Run({"HSET", "h", "m", value});
  Run({"SET", "k1", value});
  for (int i = 0; i < 100; ++i) Run({"RPUSH", "l", "1"});
  for (int i = 0; i < 20; ++i) Run({"XADD", "x", "*", "f", value});
  const std::string most = "-9223372036854775807";
  const std::string most_pairs = "-4611686018427387903";
  const auto repeated = [](std::vector<std::string> words, const std::string& word, size_t times) {
    words.insert(words.end(), times, word);
    return words;
  };
  const std::vector<std::vector<std::string>> requests = {
      {"SRANDMEMBER", "s", most},
      {"SRANDMEMBER", "s", "-250000"},
      {"ZRANDMEMBER", "z", most},
      {"ZRANDMEMBER", "z", most_pairs, "WITHSCORES"},
      {"ZRANDMEMBER", "z", "-170000"},
      {"HRANDFIELD", "h", most},
      {"HRANDFIELD", "h", "-10000", "WITHVALUES"},
      repeated({"MGET"}, "k1", 10'000),
      repeated({"HMGET", "h"}, "m", 10'000),
      {"SORT", "l", "BY", "nosort", "GET", "k*", "GET", "k*"},
      {"XRANGE", "x", "-", "+"},
      repeated({"COMMAND", "DOCS"}, "set", 10'000),
      repeated({"COMMAND", "INFO"}, "set", 10'000),
      repeated({"PUBSUB", "NUMSUB"}, value, 100),
  };
  for (const auto& request : requests) {
    CAPTURE(request.front(), request.back().substr(0, 70));
    for (const char* mode : {"", "HELLO 3\r\n", "MULTI\r\n"}) {
      TestClient& client = Connect();
      const std::string before = client.RunRaw(mode);
      std::string replies = client.RunRaw(EncodeRequest(request));
      if (mode[0] == 'M') replies = client.RunRaw("EXEC\r\n");
      CHECK(replies.size() < 2 * kMegabyte);
      CHECK_FALSE(client.session().MayRun());
    }
    CHECK(Run({"PING"}) == Simple("PONG"));
  }
}

TEST_CASE_METHOD(
    CommandTest,
    "a reply ends at what all clients' replies may take, if a client's own limit is higher or none") {
  SetOption("maxmemory", "8gb");  // of which 16 MB are left for replies
  SetOption("client-output-buffer-limit", GENERATE("normal 1gb 0 0", "normal 0 0 0"));
  Run({"SET", "k", std::string(kMegabyte, 'v')});
  for (int i = 0; i < 40; ++i) Run({"RPUSH", "l", std::string(kMegabyte, 'v')});
  std::vector<std::string> mget = {"MGET"};
  mget.insert(mget.end(), 40, "k");
  for (const std::vector<std::string>& request :
       std::vector<std::vector<std::string>>{mget, {"LRANGE", "l", "0", "-1"}, {"LPOP", "l", "40"}}) {
    CAPTURE(request.front());
    TestClient& client = Connect();
    CHECK(client.RunRaw(EncodeRequest(request)).size() < 18 * kMegabyte);
    CHECK_FALSE(client.session().MayRun());
    CHECK(Run({"LLEN", "l"}) == Integer(40));
  }
  CHECK(Run({"EVAL", "return redis.pcall('LRANGE', 'l', 0, -1).err", "0"}) ==
        Bulk("ERR The reply to a call of the script is longer than a client may hold"));
  CHECK(client().session().MayRun());
}

TEST_CASE_METHOD(CommandTest, "what a reply may take follows maxmemory") {
  Run({"SET", "large", std::string(20 * kMegabyte, 'v')});
  CHECK(RunRaw("GET large\r\n").size() > 20 * kMegabyte);
  Run({"CONFIG", "SET", "maxmemory", "8gb"});
  TestClient& early = Connect();
  early.RunRaw("GET large\r\n");
  CHECK_FALSE(early.session().MayRun());
  Run({"CONFIG", "SET", "maxmemory", "4gb"});
  CHECK(Connect().RunRaw("GET large\r\n").size() > 20 * kMegabyte);
}

TEST_CASE_METHOD(
    CommandTest,
    "a subscriber's reply ends at what all clients' replies may take, not at the limit of others") {
  SetOption("maxmemory", "8gb");
  SetOption("client-output-buffer-limit", "normal 1mb 0 0 pubsub 1gb 0 0");
  Run({"SET", "k", std::string(2 * kMegabyte, 'v')});
  Run({"SET", "large", std::string(20 * kMegabyte, 'v')});
  TestClient& subscriber = Connect();
  subscriber.UseResp3();
  subscriber.RunRaw("SUBSCRIBE c\r\n");
  CHECK(subscriber.RunRaw("GET k\r\n").size() > 2 * kMegabyte);
  CHECK(subscriber.session().MayRun());
  subscriber.RunRaw("GET large\r\n");
  CHECK_FALSE(subscriber.session().MayRun());
}

TEST_CASE_METHOD(CommandTest, "SORT stores no more than it might answer with") {
  SetOption("client-output-buffer-limit", "normal 1mb 0 0");
  Run({"SET", "k1", std::string(100'000, 'v')});
  for (int i = 0; i < 12; ++i) Run({"RPUSH", "l", "1"});
  CHECK(Run({"SORT", "l", "BY", "nosort", "GET", "k*", "STORE", "d"}) ==
        Error("OOM command not allowed when used memory > 'maxmemory'."));
  CHECK(Run({"EXISTS", "d"}) == Integer(0));
  CHECK(Run({"SORT", "l", "BY", "nosort", "LIMIT", "0", "9", "GET", "k*", "STORE", "d"}) == Integer(9));
}

TEST_CASE_METHOD(CommandTest, "with CLIENT REPLY OFF a reply has the same bound") {
  SetOption("client-output-buffer-limit", "normal 1mb 0 0");
  Run({"SADD", "s", "m"});
  TestClient& client = Connect();
  client.RunRaw("CLIENT REPLY OFF\r\n");
  CHECK(client.RunRaw("SRANDMEMBER s -100000\r\n").empty());
  CHECK(client.session().MayRun());
  for (const char* count : {"-1000000", "-9223372036854775807"}) {
    client.RunRaw(std::string("SRANDMEMBER s ") + count + "\r\n");
    CHECK(client.session().closes());
  }
  CHECK(stats().output_limit_disconnections == 1);
}

TEST_CASE_METHOD(CommandTest,
                 "a script gets an error for a call whose reply is longer than its client's bound") {
  SetOption("client-output-buffer-limit", "normal 1mb 0 0");
  Run({"SADD", "s", "m"});
  for (const char* count : {"-1000000", "-9223372036854775807"}) {
    const Reply raised = Run({"EVAL", "return redis.call('SRANDMEMBER', 's', ARGV[1])", "0", count});
    REQUIRE(raised.kind == Reply::Kind::kError);
    CHECK(raised.text.starts_with("ERR The reply to a call of the script is longer than a client may hold"));
    CHECK(
        Run({"EVAL",
             "local a = redis.pcall('SRANDMEMBER', 's', ARGV[1]) return {a.err, redis.call('SCARD', 's')}",
             "0", count}) ==
        Array({Bulk("ERR The reply to a call of the script is longer than a client may hold"), Integer(1)}));
  }
  CHECK(client().session().MayRun());
}

TEST_CASE_METHOD(CommandTest,
                 "a transaction whose reply is longer than the bound changes all that it was to change") {
  SetOption("client-output-buffer-limit", "normal 1mb 0 0");
  Run({"SADD", "s", "m"});
  TestClient& client = Connect();
  client.RunRaw("MULTI\r\nINCR n\r\nSRANDMEMBER s -9223372036854775807\r\nINCR n\r\n" +
                Repeat("SRANDMEMBER s -1000000\r\n", 100) + "INCR n\r\n");
  client.RunRaw("EXEC\r\n");
  CHECK_FALSE(client.session().MayRun());
  CHECK(Run({"GET", "n"}) == Bulk("3"));
}

TEST_CASE_METHOD(CommandTest, "a write whose reply is longer than the bound has changed nothing") {
  StartWith("enable-debug-command", "yes");
  SetOption("client-output-buffer-limit", "normal 1mb 0 0");
  const std::string value(100'000, 'v');
  for (int i = 0; i < 30; ++i) {
    Run({"RPUSH", "l", value});
    Run({"SADD", "s", std::to_string(i) + value});
    Run({"ZADD", "z", "1", std::to_string(i) + value});
    Run({"HSET", "h", std::to_string(i), value});
  }
  const Reply before = Run({"DEBUG", "DIGEST"});
  REQUIRE(before.kind == Reply::Kind::kSimple);
  std::vector<std::string> fields = {"HGETDEL", "h", "FIELDS", "30"};
  for (int i = 0; i < 30; ++i) fields.push_back(std::to_string(i));
  const std::vector<std::vector<std::string>> requests = {{"LPOP", "l", "30"},
                                                          {"LPOP", "l", "29"},
                                                          {"RPOP", "l", "29"},
                                                          {"SPOP", "s", "30"},
                                                          {"SPOP", "s", "29"},
                                                          {"ZPOPMIN", "z", "30"},
                                                          {"ZPOPMAX", "z", "29"},
                                                          fields,
                                                          {"LMPOP", "1", "l", "LEFT", "COUNT", "30"},
                                                          {"ZMPOP", "1", "z", "MIN", "COUNT", "29"}};
  for (const auto& request : requests) {
    CAPTURE(request);
    TestClient& client = Connect();
    client.RunRaw(EncodeRequest(request));
    CHECK_FALSE(client.session().MayRun());
    CHECK(Run({"DEBUG", "DIGEST"}) == before);
  }
}

TEST_CASE_METHOD(CommandTest,
                 "a write that would answer with one text beyond the bound has changed nothing") {
  StartWith("enable-debug-command", "yes");
  SetOption("client-output-buffer-limit", "normal 1mb 0 0");
  const std::string value(2 * kMegabyte, 'v');
  Run({"SET", "k", value});
  Run({"RPUSH", "l", value, value});
  Run({"HSET", "h", "f", value});
  Run({"SADD", "s", value});
  const Reply before = Run({"DEBUG", "DIGEST"});
  REQUIRE(before.kind == Reply::Kind::kSimple);
  const std::vector<std::vector<std::string>> requests = {{"GETDEL", "k"},
                                                          {"GETSET", "k", "x"},
                                                          {"SET", "k", "x", "GET"},
                                                          {"GETEX", "k", "EX", "10"},
                                                          {"LPOP", "l"},
                                                          {"LMOVE", "l", "other", "LEFT", "RIGHT"},
                                                          {"RPOPLPUSH", "l", "other"},
                                                          {"HGETEX", "h", "EX", "10", "FIELDS", "1", "f"},
                                                          {"HGETDEL", "h", "FIELDS", "1", "f"},
                                                          {"SPOP", "s"}};
  for (const auto& request : requests) {
    CAPTURE(request);
    TestClient& client = Connect();
    client.RunRaw(EncodeRequest(request));
    CHECK_FALSE(client.session().MayRun());
    CHECK(Run({"DEBUG", "DIGEST"}) == before);
    std::string call = "redis.pcall('" + request.front() + "'";
    for (size_t i = 1; i < request.size(); ++i) call += ", '" + request[i] + "'";
    CHECK(Run({"EVAL", "return " + call + ").err", "0"}) ==
          Bulk("ERR The reply to a call of the script is longer than a client may hold"));
    CHECK(Run({"DEBUG", "DIGEST"}) == before);
  }
}

TEST_CASE("the output pool is what maxmemory leaves, within reason") {
  const OutputPool large = OutputPool::Of(Bytes(1024 * kMegabyte), 24 * 1024 * kMegabyte);
  CHECK(large.most_bytes == 1024 * kMegabyte);
  CHECK(large.calm_bytes == 128 * kMegabyte);
  const OutputPool small = OutputPool::Of(Bytes(96 * kMegabyte), 128 * kMegabyte);
  CHECK(small.most_bytes == 16 * kMegabyte);
  CHECK(small.calm_bytes == 8 * kMegabyte);
  const OutputPool too_small = OutputPool::Of(Bytes(1024 * kMegabyte), 512 * kMegabyte);
  CHECK(too_small.most_bytes == 16 * kMegabyte);
  const OutputPool medium = OutputPool::Of(Bytes(384 * kMegabyte), 512 * kMegabyte);
  CHECK(medium.most_bytes == 64 * kMegabyte);
  CHECK(medium.calm_bytes == 32 * kMegabyte);
  const OutputPool unlimited = OutputPool::Of(Bytes(0), 2048 * kMegabyte);
  CHECK(unlimited.most_bytes == 512 * kMegabyte);
  const OutputPool unknown = OutputPool::Of(Bytes(0), 0);
  CHECK(unknown.most_bytes == 1024 * kMegabyte);
}

}  // namespace mayfly::testing
