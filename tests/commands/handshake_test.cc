// What client libraries send when they connect, replayed as far as the commands exist: each reply that the
// library insists on is checked, and all others may be anything but silence.
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

class HandshakeTest : public CommandTest {
 public:
  // Sends everything in one piece, as a pipelining library does; as many replies come back.
  std::vector<Reply> Pipeline(const std::vector<std::vector<std::string>>& requests) {
    std::string bytes;
    for (const std::vector<std::string>& request : requests) bytes += EncodeRequest(request);
    std::vector<Reply> replies = TakeReplies(RunRaw(bytes));
    REQUIRE(replies.size() == requests.size());
    return replies;
  }
  // A field of the reply to HELLO, INFO or another map.
  static Reply Field(const Reply& map, std::string_view name) {
    for (size_t i = 0; i + 1 < map.elements.size(); i += 2) {
      if (map.elements[i] == Bulk(name)) return map.elements[i + 1];
    }
    return NoReply();
  }
};

const std::string kPassword = "secret";

}  // namespace

TEST_CASE_METHOD(HandshakeTest, "redis-cli comes in with and without -3") {
  SetOption("requirepass", kPassword);
  CHECK(Run({"AUTH", kPassword}) == Ok());
  CHECK(Run({"SELECT", "2"}) == Ok());
  CHECK(Run({"COMMAND", "DOCS"}).kind == Reply::Kind::kArray);
  CHECK(Run({"INFO", "SERVER"}).kind == Reply::Kind::kBulk);
  CHECK(Run({"COMMAND"}).kind == Reply::Kind::kArray);
  const Reply hello = Run({"HELLO", "3"});
  REQUIRE(hello.kind == Reply::Kind::kMap);
  CHECK(Field(hello, "version").kind == Reply::Kind::kBulk);
  CHECK(RunRaw("\r\nPING\r\n") == "+PONG\r\n");
}

TEST_CASE_METHOD(HandshakeTest, "redis-py comes in") {
  SetOption("requirepass", kPassword);
  CHECK(Field(Run({"HELLO", "3", "AUTH", "default", kPassword}), "proto") == Integer(3));
  CHECK(Run({"CLIENT", "MAINT_NOTIFICATIONS", "ON", "moving-endpoint-type", "internal-ip"}).kind ==
        Reply::Kind::kError);
  CHECK(Run({"CLIENT", "SETNAME", "worker"}) == Ok());
  CHECK(Run({"CLIENT", "SETINFO", "LIB-NAME", "redis-py"}) == Ok());
  CHECK(Run({"CLIENT", "SETINFO", "LIB-VER", "8.0.0"}) == Ok());
  CHECK(Run({"SELECT", "1"}) == Ok());
  CHECK(Run({"PING"}) == Simple("PONG"));
}

TEST_CASE_METHOD(HandshakeTest, "redis-rb and Sidekiq come in by one pipeline") {
  SetOption("requirepass", kPassword);
  const std::vector<Reply> replies = Pipeline({{"HELLO", "3", "AUTH", "default", kPassword},
                                               {"SELECT", "3"},
                                               {"CLIENT", "SETINFO", "LIB-NAME", "redis-client(sidekiq)"},
                                               {"CLIENT", "SETINFO", "LIB-VER", "0.30.0"},
                                               {"CLIENT", "SETNAME", "sidekiq"},
                                               {"INFO"}});
  CHECK(replies[0].kind == Reply::Kind::kMap);
  for (size_t i = 1; i < 5; ++i) CHECK(replies[i] == Ok());
  CHECK(replies[5].text.find("redis_version:7.2.4\r\n") != std::string::npos);
}

TEST_CASE_METHOD(HandshakeTest, "Lettuce comes in and reads the identity") {
  const Reply hello = Run({"HELLO", "3", "SETNAME", "app"});
  CHECK(Field(hello, "id").kind == Reply::Kind::kInteger);
  CHECK(Field(hello, "version") == Bulk("7.2.4"));
  CHECK(Field(hello, "mode") == Bulk("standalone"));
  CHECK(Field(hello, "role") == Bulk("master"));
  CHECK(Run({"SELECT", "0"}) == Ok());
  CHECK(Run({"CLIENT", "SETINFO", "lib-name", "Lettuce"}) == Ok());
  CHECK(Run({"CLIENT", "SETINFO", "lib-ver", "7.8.0.RELEASE/abc"}) == Ok());
}

TEST_CASE_METHOD(HandshakeTest, "Jedis falls back to AUTH and HELLO when it was not let in") {
  SetOption("requirepass", kPassword);
  CHECK(Run({"HELLO", "3"}).text.find("NOAUTH ") == 0);
  CHECK(Run({"AUTH", kPassword}) == Ok());
  CHECK(Field(Run({"HELLO", "3"}), "server") == Bulk("redis"));
  CHECK(Run({"PING"}) == Simple("PONG"));
}

TEST_CASE_METHOD(HandshakeTest, "StackExchange.Redis gets every reply in its order") {
  const std::vector<Reply> replies = Pipeline({{"HELLO", "3"},
                                               {"CLIENT", "SETNAME", "host"},
                                               {"CLIENT", "SETINFO", "lib-name", "SE.Redis"},
                                               {"CLIENT", "SETINFO", "lib-ver", "3.1"},
                                               {"CLIENT", "ID"},
                                               {"CONFIG", "GET", "timeout"},
                                               {"CONFIG", "GET", "replica-read-only"},
                                               {"CONFIG", "GET", "databases"},
                                               {"SENTINEL", "MASTERS"},
                                               {"INFO", "replication"},
                                               {"INFO", "server"},
                                               {"CLUSTER", "NODES"},
                                               {"GET", "__Booksleeve_TieBreak"},
                                               {"ECHO", std::string("\x01\x02\xfe\xff", 4)}});
  CHECK(replies[4].kind == Reply::Kind::kInteger);
  CHECK(replies[7] == Map({Bulk("databases"), Bulk("16")}));
  CHECK(replies[8].text.find("ERR unknown command") == 0);
  CHECK(replies[9].text.find("role:master\r\n") != std::string::npos);
  CHECK(replies[11] == Error("ERR This instance has cluster support disabled"));
  CHECK(replies[12] == Null());
  CHECK(replies[13] == Bulk(std::string("\x01\x02\xfe\xff", 4)));
}

TEST_CASE_METHOD(HandshakeTest, "go-redis, node-redis and ioredis come in") {
  SetOption("requirepass", kPassword);
  const std::vector<Reply> replies = Pipeline({{"hello", "3", "auth", "default", kPassword, "setname", "app"},
                                               {"select", "4"},
                                               {"client", "maint_notifications", "on"},
                                               {"client", "setinfo", "lib-name", "go-redis(,go1.25)"},
                                               {"client", "setinfo", "lib-ver", "9.22.0"},
                                               {"info"}});
  CHECK(replies[0].kind == Reply::Kind::kMap);
  CHECK(replies[1] == Ok());
  CHECK(replies[2] == Error("ERR unknown subcommand 'maint_notifications'. Try CLIENT HELP."));
  CHECK(replies[3] == Ok());
  CHECK(replies[4] == Ok());
  // ioredis is not ready before this line.
  CHECK(replies[5].text.find("\r\nloading:0\r\n") != std::string::npos);
}

TEST_CASE_METHOD(HandshakeTest, "predis and phpredis come in by RESP2") {
  const Reply hello = Run({"HELLO", "2", "SETNAME", "predis"});
  CHECK(hello.kind == Reply::Kind::kArray);
  CHECK(Field(hello, "id").kind == Reply::Kind::kInteger);
  CHECK(Run({"ECHO", "liveness-1"}) == Bulk("liveness-1"));
}

TEST_CASE_METHOD(HandshakeTest, "nginx gets a key by an inline command") {
  Run({"SET", "page", "html"});
  CHECK(RunRaw("get page\r\n") == "$4\r\nhtml\r\n");
  CHECK(RunRaw("get absent\r\n") == "$-1\r\n");
}

TEST_CASE_METHOD(HandshakeTest, "redis_exporter and redis-benchmark ask what they ask") {
  const std::vector<Reply> replies = Pipeline({{"CLIENT", "SETNAME", "redis_exporter"},
                                               {"INFO", "ALL"},
                                               {"CONFIG", "GET", "*"},
                                               {"LATENCY", "LATEST"},
                                               {"SLOWLOG", "LEN"},
                                               {"COMMAND", "INFO", "COMMANDLOG"},
                                               {"CONFIG", "GET", "save"},
                                               {"CONFIG", "GET", "appendonly"}});
  CHECK(replies[1].text.find("# Commandstats\r\n") != std::string::npos);
  CHECK(replies[2].elements.size() % 2 == 0);
  CHECK(replies[3].text.find("ERR unknown command") == 0);
  CHECK(replies[5] == Array({Null()}));
  CHECK(replies[6].elements.size() == 2);
  CHECK(replies[7].elements.size() == 2);
}

}  // namespace mayfly::testing
