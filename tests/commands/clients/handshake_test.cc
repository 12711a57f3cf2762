// What client libraries, tools and proxies send when they connect and when they ask whether the server is
// well, replayed line by line, optional lines too. Each is sent once request by request and once as one
// pipeline, since libraries do both. What a library insists on is checked; a line marked kLater is of a
// command that comes later: it is unknown now, and whoever adds the command turns its line.
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

enum class Expect : uint8_t {
  kOk,
  kPong,
  kHello2,  // the introduction, in RESP2
  kHello3,  // the introduction, in RESP3
  kInteger,
  kBulk,
  kNil,
  kArray,
  kPairs,  // a map, or in RESP2 a flat array
  kText,   // a report: verbatim, or in RESP2 bulk
  kQueued,
  kConfirmation,  // of a subscription: a push, or in RESP2 an array
  kRefused,       // an error that the client survives
  kLater,
};
using enum Expect;

struct Line {
  Words request;
  Expect expected;
};

const std::string kPassword = "secret";
const std::string kBinary("\x01\x02\r\n\xfe\xff\x00", 7);

// A field of the reply to HELLO, CONFIG GET or another map.
Reply Field(const Reply& map, std::string_view name) {
  for (size_t i = 0; i + 1 < map.elements.size(); i += 2) {
    if (map.elements[i] == Bulk(name)) return map.elements[i + 1];
  }
  return NoReply();
}

bool StartsWith(const Reply& reply, std::string_view text) { return reply.text.starts_with(text); }

// Seven fields with bulk names, of the types that clients assert.
bool Introduces(const Reply& hello, int protocol) {
  return hello.kind == (protocol == 3 ? Reply::Kind::kMap : Reply::Kind::kArray) &&
         hello.elements.size() == 14 && Field(hello, "server") == Bulk("redis") &&
         Field(hello, "version") == Bulk("7.4.0") && Field(hello, "proto") == Integer(protocol) &&
         Field(hello, "id").kind == Reply::Kind::kInteger && Field(hello, "mode") == Bulk("standalone") &&
         Field(hello, "role") == Bulk("master") && Field(hello, "modules") == Array({});
}

bool Meets(const Reply& reply, Expect expected) {
  using Kind = Reply::Kind;
  switch (expected) {
    case kOk:
      return reply == Ok();
    case kPong:
      return reply == Simple("PONG");
    case kHello2:
      return Introduces(reply, 2);
    case kHello3:
      return Introduces(reply, 3);
    case kInteger:
      return reply.kind == Kind::kInteger;
    case kBulk:
      return reply.kind == Kind::kBulk;
    case kNil:
      return reply.kind == Kind::kNull;
    case kArray:
      return reply.kind == Kind::kArray;
    case kPairs:
      return reply.kind == Kind::kMap || (reply.kind == Kind::kArray && reply.elements.size() % 2 == 0);
    case kText:
      return reply.kind == Kind::kBulk || (reply.kind == Kind::kVerbatim && StartsWith(reply, "txt:"));
    case kQueued:
      return reply == Simple("QUEUED");
    case kConfirmation:
      return reply.elements.size() == 3 && (reply.kind == Kind::kPush || reply.kind == Kind::kArray);
    case kRefused:
      return reply.kind == Kind::kError;
    case kLater:
      return reply.kind == Kind::kError &&
             (StartsWith(reply, "ERR unknown command '") || StartsWith(reply, "ERR unknown subcommand '"));
  }
  return false;
}

class HandshakeTest : public CommandTest {
 public:
  // Two new clients send the lines, each in its way. The replies are those of the one with the pipeline.
  std::vector<Reply> Replay(const std::vector<Line>& lines) {
    TestClient& patient = Connect();
    for (const Line& line : lines) Check(line, patient.Run(line.request), "alone");
    std::string bytes;
    for (const Line& line : lines) bytes += EncodeRequest(line.request);
    std::vector<Reply> replies = TakeReplies(Connect().RunRaw(bytes));
    REQUIRE(replies.size() == lines.size());
    for (size_t i = 0; i < lines.size(); ++i) Check(lines[i], replies[i], "in a pipeline");
    return replies;
  }

 private:
  static void Check(const Line& line, const Reply& reply, const char* how) {
    std::string request;
    for (const std::string& word : line.request) request += word + ' ';
    INFO(request << how << ": " << reply);
    CHECK(Meets(reply, line.expected));
  }
};

// With a password, for the tests in which the client has one.
class FirstLoginTest : public HandshakeTest {
 public:
  FirstLoginTest() { SetOption("requirepass", kPassword); }
};

}  // namespace

TEST_CASE_METHOD(FirstLoginTest, "redis-cli connects, with and without -3, and reads its hints") {
  Replay({{{"AUTH", kPassword}, kOk},
          {{"SELECT", "2"}, kOk},
          {{"COMMAND", "DOCS"}, kPairs},
          {{"INFO", "SERVER"}, kText},
          {{"COMMAND"}, kArray},
          {{"PING"}, kPong},
          {{"INFO"}, kText}});
  Replay({{{"AUTH", "default", kPassword}, kOk},
          {{"SELECT", "2"}, kOk},
          {{"HELLO", "3"}, kHello3},
          {{"COMMAND", "DOCS"}, kPairs},
          {{"PING"}, kPong}});
}

TEST_CASE_METHOD(HandshakeTest, "redis-cli --pipe begins with an empty line and ends with an ECHO") {
  CHECK(RunRaw("\r\n*2\r\n$4\r\nECHO\r\n$20\r\n" + std::string(20, '\xe9') + "\r\n") ==
        "$20\r\n" + std::string(20, '\xe9') + "\r\n");
}

TEST_CASE_METHOD(FirstLoginTest, "redis-py 8 connects in both protocols") {
  const Line maintenance = {{"CLIENT", "MAINT_NOTIFICATIONS", "ON", "moving-endpoint-type", "internal-ip"},
                            kRefused};
  Replay({{{"HELLO", "3", "AUTH", "default", kPassword}, kHello3},
          maintenance,
          {{"CLIENT", "SETNAME", "worker"}, kOk},
          {{"CLIENT", "SETINFO", "LIB-NAME", "redis-py"}, kOk},
          {{"CLIENT", "SETINFO", "LIB-VER", "8.0.0"}, kOk},
          {{"SELECT", "1"}, kOk},
          {{"CLIENT", "TRACKING", "ON"}, kOk},
          {{"PING"}, kPong}});
  Replay({{{"AUTH", "default", kPassword}, kOk},
          {{"CLIENT", "SETINFO", "LIB-NAME", "redis-py"}, kOk},
          {{"CLIENT", "SETINFO", "LIB-VER", "8.0.0"}, kOk},
          {{"PING"}, kPong}});
}

TEST_CASE_METHOD(FirstLoginTest, "redis-client, redis-rb and Sidekiq connect with one pipeline") {
  const std::vector<Reply> replies =
      Replay({{{"HELLO", "3", "AUTH", "default", kPassword}, kHello3},
              {{"SELECT", "3"}, kOk},
              {{"CLIENT", "SETINFO", "LIB-NAME", "redis-client(sidekiq)"}, kOk},
              {{"CLIENT", "SETINFO", "LIB-VER", "0.30.0"}, kOk},
              {{"CLIENT", "SETNAME", "sidekiq"}, kOk},
              {{"ROLE"}, kArray},
              {{"INFO"}, kText},
              {{"PING"}, kPong}});
  CHECK(replies[5] == Array({Bulk("master"), Integer(0), Array({})}));
  CHECK(replies[6].text.find("redis_version:7.4.0\r\n") != std::string::npos);
}

TEST_CASE_METHOD(HandshakeTest, "redis-rb goes back to RESP2 on NOPROTO") {
  const std::vector<Reply> replies = Replay({{{"HELLO", "4"}, kRefused}, {{"PING"}, kPong}});
  CHECK(replies[0] == Error("NOPROTO unsupported protocol version"));
}

TEST_CASE_METHOD(FirstLoginTest, "Lettuce connects, with its options in lower case") {
  const std::vector<Reply> replies =
      Replay({{{"HELLO", "3", "AUTH", "default", kPassword, "SETNAME", "app"}, kHello3},
              {{"SELECT", "0"}, kOk},
              {{"CLIENT", "SETINFO", "lib-name", "Lettuce"}, kOk},
              {{"CLIENT", "SETINFO", "lib-ver", "7.8.0.RELEASE/abc"}, kOk},
              {{"CLIENT", "MAINT_NOTIFICATIONS", "on"}, kRefused},
              {{"CLIENT", "GETNAME"}, kBulk},
              {{"PING"}, kPong}});
  CHECK(replies[5] == Bulk("app"));
}

TEST_CASE_METHOD(FirstLoginTest, "Jedis falls back to AUTH and HELLO if its login failed") {
  const std::vector<Reply> replies = Replay({{{"HELLO", "3"}, kRefused},
                                             {{"AUTH", kPassword}, kOk},
                                             {{"HELLO", "2"}, kHello2},
                                             {{"HELLO", "3"}, kHello3},
                                             {{"CLIENT", "SETNAME", "jedis"}, kOk},
                                             {{"CLIENT", "SETINFO", "LIB-NAME", "jedis"}, kOk},
                                             {{"CLIENT", "SETINFO", "LIB-VER", "8.0.0"}, kOk},
                                             {{"READONLY"}, kRefused},
                                             {{"SELECT", "1"}, kOk},
                                             {{"PING"}, kPong}});
  CHECK(StartsWith(replies[0], "NOAUTH "));
  CHECK(replies[7] == Error("ERR This instance has cluster support disabled"));
  Replay({{{"HELLO", "3", "AUTH", "default", kPassword}, kHello3}, {{"PING"}, kPong}});
}

TEST_CASE_METHOD(FirstLoginTest, "Redisson connects and waits for no replicas") {
  const std::vector<Reply> replies = Replay({{{"AUTH", kPassword}, kOk},
                                             {{"HELLO", "3"}, kHello3},
                                             {{"SELECT", "1"}, kOk},
                                             {{"CLIENT", "SETNAME", "redisson"}, kOk},
                                             {{"CLIENT", "CAPA", "redirect"}, kRefused},
                                             {{"READONLY"}, kRefused},
                                             {{"PING"}, kPong},
                                             {{"WAIT", "0", "0"}, kInteger},
                                             {{"WAITAOF", "0", "0", "0"}, kArray},
                                             {{"WAITAOF", "1", "0", "0"}, kRefused},
                                             {{"INFO", "ALL"}, kText}});
  CHECK(replies[7] == Integer(0));
  CHECK(replies[8] == Array({Integer(0), Integer(0)}));
  CHECK(replies[9] == Error("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."));
}

TEST_CASE_METHOD(FirstLoginTest, "StackExchange.Redis gets every reply in its order, in both protocols") {
  for (const char* protocol : {"2", "3"}) {
    const std::vector<Reply> replies = Replay({{{"AUTH", "default", kPassword}, kOk},
                                               {{"HELLO", protocol}, *protocol == '3' ? kHello3 : kHello2},
                                               {{"CLIENT", "SETNAME", "host"}, kOk},
                                               {{"CLIENT", "SETINFO", "lib-name", "SE.Redis"}, kOk},
                                               {{"CLIENT", "SETINFO", "lib-ver", "3.1"}, kOk},
                                               {{"CLIENT", "ID"}, kInteger},
                                               {{"CONFIG", "GET", "timeout"}, kPairs},
                                               {{"CONFIG", "GET", "replica-read-only"}, kPairs},
                                               {{"CONFIG", "GET", "databases"}, kPairs},
                                               {{"SENTINEL", "MASTERS"}, kRefused},
                                               {{"INFO", "replication"}, kText},
                                               {{"INFO", "server"}, kText},
                                               {{"CLUSTER", "NODES"}, kRefused},
                                               {{"GET", "__Booksleeve_TieBreak"}, kNil},
                                               {{"ECHO", kBinary}, kBulk},
                                               {{"PING"}, kPong},
                                               {{"SUBSCRIBE", "__Booksleeve_MasterChanged"}, kConfirmation}});
    CHECK(Field(replies[8], "databases") == Bulk("16"));
    CHECK(StartsWith(replies[9], "ERR unknown command"));
    CHECK(replies[10].text.find("role:master\r\n") != std::string::npos);
    CHECK(replies[12] == Error("ERR This instance has cluster support disabled"));
    CHECK(replies[14] == Bulk(kBinary));
  }
}

TEST_CASE_METHOD(FirstLoginTest, "go-redis connects, by AUTH if HELLO fails") {
  const std::vector<Reply> replies =
      Replay({{{"hello", "3", "auth", "default", kPassword, "setname", "app"}, kHello3},
              {{"select", "4"}, kOk},
              {{"client", "setname", "app"}, kOk},
              {{"client", "tracking", "on"}, kOk},
              {{"client", "maint_notifications", "on", "moving-endpoint-type", "external-fqdn"}, kRefused},
              {{"client", "setinfo", "LIB-NAME", "go-redis(,go1.25)"}, kOk},
              {{"client", "setinfo", "LIB-VER", "9.22.0"}, kOk}});
  CHECK(replies[4] == Error("ERR unknown subcommand 'maint_notifications'. Try CLIENT HELP."));
  Replay({{{"hello", "9"}, kRefused}, {{"auth", kPassword}, kOk}, {{"select", "4"}, kOk}});
}

TEST_CASE_METHOD(FirstLoginTest, "rueidis connects with one pipeline") {
  Replay({{{"HELLO", "3", "AUTH", "default", kPassword, "SETNAME", "rueidis"}, kHello3},
          {{"CLIENT", "TRACKING", "ON", "OPTIN"}, kOk},
          {{"SELECT", "1"}, kOk},
          {{"CLIENT", "NO-TOUCH", "ON"}, kOk},
          {{"CLIENT", "NO-EVICT", "ON"}, kOk},
          {{"CLIENT", "CAPA", "redirect"}, kRefused},
          {{"CLIENT", "SETINFO", "LIB-NAME", "rueidis"}, kOk},
          {{"CLIENT", "SETINFO", "LIB-VER", "1.0.68"}, kOk},
          {{"PING"}, kPong}});
}

TEST_CASE_METHOD(FirstLoginTest, "redis-rs and valkey-glide connect in both protocols") {
  const std::vector<Line> rest = {{{"SELECT", "1"}, kOk},
                                  {{"CLIENT", "SETNAME", "glide"}, kOk},
                                  {{"CLIENT", "TRACKING", "ON", "OPTIN"}, kOk},
                                  {{"CLIENT", "SETINFO", "LIB-NAME", "redis-rs"}, kOk},
                                  {{"CLIENT", "SETINFO", "LIB-VER", "1.4.0"}, kOk},
                                  {{"PING"}, kPong}};
  for (const Line& first : {Line{{"HELLO", "3", "AUTH", "default", kPassword}, kHello3},
                            Line{{"AUTH", "default", kPassword}, kOk}, Line{{"AUTH", kPassword}, kOk}}) {
    std::vector<Line> lines = {first};
    lines.insert(lines.end(), rest.begin(), rest.end());
    Replay(lines);
  }
}

TEST_CASE_METHOD(FirstLoginTest, "node-redis 6 connects") {
  Replay({{{"HELLO", "3", "AUTH", "default", kPassword, "SETNAME", "app"}, kHello3},
          {{"SELECT", "1"}, kOk},
          {{"READONLY"}, kRefused},
          {{"CLIENT", "SETINFO", "LIB-NAME", "node-redis"}, kOk},
          {{"CLIENT", "SETINFO", "LIB-VER", "6.0.0"}, kOk},
          {{"CLIENT", "TRACKING", "ON"}, kOk},
          {{"CLIENT", "MAINT_NOTIFICATIONS", "ON", "moving-endpoint-type", "internal-ip"}, kRefused},
          {{"PING"}, kPong}});
}

TEST_CASE_METHOD(FirstLoginTest, "ioredis connects and is ready once INFO says that nothing loads") {
  const std::vector<Reply> replies = Replay({{{"hello", "3", "auth", "default", kPassword}, kHello3},
                                             {{"select", "1"}, kOk},
                                             {{"client", "setname", "app"}, kOk},
                                             {{"readonly"}, kRefused},
                                             {{"client", "SETINFO", "LIB-NAME", "ioredis"}, kOk},
                                             {{"client", "SETINFO", "LIB-VER", "6.0.0"}, kOk},
                                             {{"info"}, kText}});
  CHECK(replies[6].text.find("\r\nloading:0\r\n") != std::string::npos);
  Replay({{{"auth", kPassword}, kOk}, {{"info"}, kText}});
}

TEST_CASE_METHOD(HandshakeTest,
                 "ioredis and redis-py get the error that they expect if there is no password") {
  const std::vector<Reply> replies = Replay({{{"AUTH", kPassword}, kRefused}, {{"PING"}, kPong}});
  CHECK(replies[0] == Error("ERR AUTH <password> called without any password configured for the default "
                            "user. Are you sure your configuration is correct?"));
}

TEST_CASE_METHOD(FirstLoginTest, "phpredis connects and checks that a kept connection is alive") {
  Replay({{{"AUTH", kPassword}, kOk}, {{"SELECT", "1"}, kOk}, {{"PING"}, kPong}});
  const std::vector<Reply> replies = Replay({{{"ECHO", "liveness-1"}, kRefused},
                                             {{"AUTH", "default", kPassword}, kOk},
                                             {{"ECHO", "liveness-1"}, kBulk}});
  CHECK(replies[0] == Error("NOAUTH Authentication required."));
  CHECK(replies[2] == Bulk("liveness-1"));
}

TEST_CASE_METHOD(FirstLoginTest, "predis connects in either protocol, by AUTH if HELLO fails") {
  const std::vector<Line> rest = {{{"CLIENT", "SETINFO", "LIB-NAME", "predis"}, kOk},
                                  {{"CLIENT", "SETINFO", "LIB-VER", "3.0.0"}, kOk},
                                  {{"SELECT", "1"}, kOk}};
  for (const Line& first : {Line{{"HELLO", "2", "AUTH", "default", kPassword, "SETNAME", "predis"}, kHello2},
                            Line{{"HELLO", "3", "AUTH", "default", kPassword, "SETNAME", "predis"}, kHello3},
                            Line{{"AUTH", "default", kPassword}, kOk}}) {
    std::vector<Line> lines = {first};
    lines.insert(lines.end(), rest.begin(), rest.end());
    Replay(lines);
  }
  Replay({{{"HELLO", "2", "SETNAME", "predis"}, kRefused},
          {{"AUTH", kPassword}, kOk},
          {{"CLIENT", "SETNAME", "predis"}, kOk}});
}

TEST_CASE_METHOD(HandshakeTest, "nginx reads a key by an inline command") {
  Run({"SET", "page", "html"});
  CHECK(RunRaw("get page\r\n") == "$4\r\nhtml\r\n");
  CHECK(RunRaw("get absent\r\n") == "$-1\r\n");
}

TEST_CASE_METHOD(FirstLoginTest, "Envoy and twemproxy connect and run their health checks") {
  const std::vector<Reply> replies = Replay({{{"AUTH", kPassword}, kOk},
                                             {{"SELECT", "1"}, kOk},
                                             {{"PING"}, kPong},
                                             {{"EXISTS", "health"}, kInteger},
                                             {{"ECHO", "x"}, kBulk},
                                             {{"TIME"}, kArray},
                                             {{"QUIT"}, kOk}});
  CHECK(replies[3] == Integer(0));
  CHECK(replies[5].elements.size() == 2);
}

TEST_CASE_METHOD(FirstLoginTest, "redis_exporter scrapes") {
  const std::vector<Reply> replies = Replay({{{"AUTH", kPassword}, kOk},
                                             {{"PING"}, kPong},
                                             {{"CLIENT", "SETNAME", "redis_exporter"}, kOk},
                                             {{"INFO", "ALL"}, kText},
                                             {{"INFO"}, kText},
                                             {{"CONFIG", "GET", "*"}, kPairs},
                                             {{"LATENCY", "LATEST"}, kArray},
                                             {{"LATENCY", "HISTOGRAM"}, kPairs},
                                             {{"SLOWLOG", "LEN"}, kInteger},
                                             {{"SLOWLOG", "GET", "1"}, kArray},
                                             {{"COMMAND", "INFO", "COMMANDLOG"}, kArray},
                                             {{"CLIENT", "LIST"}, kText},
                                             {{"SET", "k", "v"}, kOk},
                                             {{"SCAN", "0", "MATCH", "*", "COUNT", "100"}, kArray},
                                             {{"STRLEN", "k"}, kInteger},
                                             {{"MEMORY", "USAGE", "k"}, kInteger},
                                             {{"INFO", "MODULES"}, kText}});
  CHECK(replies[3].text.find("# Commandstats\r\n") != std::string::npos);
  // With cluster_enabled:1 it would ask CLUSTER INFO.
  CHECK(replies[3].text.find("\r\ncluster_enabled:0\r\n") != std::string::npos);
  CHECK(replies[10] == Array({Null()}));
  CHECK(StartsWith(replies[11], "id="));
  CHECK(replies[11].text.find(" addr=") != std::string::npos);
}

TEST_CASE_METHOD(HandshakeTest, "RedisInsight connects and browses") {
  Run({"SET", "k", "v", "EX", "100"});
  const std::vector<Reply> replies = Replay({{{"INFO"}, kText},
                                             {{"HELLO"}, kHello2},
                                             {{"MODULE", "LIST"}, kArray},
                                             {{"COMMAND", "INFO", "JSON.SET", "FT.SEARCH"}, kArray},
                                             {{"CONFIG", "GET", "databases"}, kPairs},
                                             {{"DBSIZE"}, kInteger},
                                             {{"CLIENT", "LIST"}, kText},
                                             {{"COMMAND"}, kArray},
                                             {{"ACL", "CAT", "dangerous"}, kArray},
                                             {{"ACL", "CAT", "blocking"}, kArray},
                                             {{"SCAN", "0", "MATCH", "*", "COUNT", "500"}, kArray},
                                             {{"TTL", "k"}, kInteger},
                                             {{"MEMORY", "USAGE", "k", "SAMPLES", "0"}, kInteger},
                                             {{"SLOWLOG", "GET", "50"}, kArray},
                                             {{"CONFIG", "GET", "slowlog*"}, kPairs},
                                             {{"MONITOR"}, kOk}});
  CHECK(replies[2] == Array({}));
  CHECK(replies[3] == Array({Null(), Null()}));
  CHECK(replies[10] == Array({Bulk("0"), Bulks({"k"})}));
  CHECK(Run({"TYPE", "k"}) == Simple("string"));
}

TEST_CASE_METHOD(FirstLoginTest, "Redis Sentinel watches, and closes others' connections") {
  const std::vector<Reply> replies = Replay({{{"AUTH", kPassword}, kOk},
                                             {{"CLIENT", "SETNAME", "sentinel-8aa1-cmd"}, kOk},
                                             {{"PING"}, kPong},
                                             {{"INFO"}, kText},
                                             {{"PUBLISH", "__sentinel__:hello", "x"}, kInteger},
                                             {{"MULTI"}, kOk},
                                             {{"SLAVEOF", "NO", "ONE"}, kQueued},
                                             {{"CONFIG", "REWRITE"}, kQueued},
                                             {{"CLIENT", "KILL", "TYPE", "pubsub"}, kQueued},
                                             {{"EXEC"}, kArray},
                                             {{"SCRIPT", "KILL"}, kRefused},
                                             {{"CLIENT", "KILL", "TYPE", "normal"}, kInteger}});
  const std::string& info = replies[3].text;
  const size_t run_id = info.find("\r\nrun_id:");
  REQUIRE(run_id != std::string::npos);
  CHECK(info.find_first_not_of("0123456789abcdef", run_id + 9) == run_id + 9 + 40);
  CHECK(info.find("\r\nrole:master\r\n") != std::string::npos);
  Replay({{{"AUTH", kPassword}, kOk}, {{"SUBSCRIBE", "__sentinel__:hello"}, kConfirmation}});
}

TEST_CASE_METHOD(FirstLoginTest, "the Bitnami chart and Spring Boot run their health checks") {
  const std::vector<Reply> replies = Replay(
      {{{"AUTH", kPassword}, kOk}, {{"PING"}, kPong}, {{"info", "replication"}, kText}, {{"INFO"}, kText}});
  CHECK(replies[2].text.find("role:master\r\n") != std::string::npos);
  CHECK(replies[3].text.find("\r\nredis_version:7.4.0\r\n") != std::string::npos);
}

TEST_CASE_METHOD(FirstLoginTest, "redis-benchmark and memtier read the options about saving, and connect") {
  const std::vector<Reply> replies = Replay({{{"AUTH", kPassword}, kOk},
                                             {{"CONFIG", "GET", "save"}, kPairs},
                                             {{"CONFIG", "GET", "appendonly"}, kPairs},
                                             {{"HELLO", "3"}, kHello3},
                                             {{"SELECT", "1"}, kOk},
                                             {{"CLUSTER", "NODES"}, kRefused},
                                             {{"CLUSTER", "SLOTS"}, kRefused}});
  CHECK(replies[1].elements.size() == 2);
  CHECK(replies[2].elements.size() == 2);
}

// Redis loses such a reply where others wait before it; StackExchange.Redis has a workaround for that.
TEST_CASE_METHOD(FirstLoginTest,
                 "a failed login is answered with its error, wherever in a pipeline it stands") {
  constexpr int kMoreThanOneBatch = 100;
  const Reply wrong = Error("WRONGPASS invalid username-password pair or user is disabled.");
  for (const Words& login :
       {Words{"AUTH", "no"}, Words{"AUTH", "default", "no"}, Words{"AUTH", "nobody", kPassword},
        Words{"HELLO", "3", "AUTH", "default", "no"}}) {
    std::string bytes = EncodeRequest({"AUTH", kPassword});
    for (int i = 0; i < kMoreThanOneBatch; ++i) bytes += EncodeRequest({"PING"}) + EncodeRequest(login);
    TestClient& guesser = Connect();
    std::vector<Reply> replies = TakeReplies(guesser.RunRaw(bytes));
    for (int i = 0; i < kMoreThanOneBatch; ++i) {  // whoever fails often waits
      AdvanceTime(FailedLogins::kLongestWaitMs);
      for (Reply& reply : guesser.Received()) replies.push_back(std::move(reply));
    }
    REQUIRE(replies.size() == 1 + 2 * kMoreThanOneBatch);
    for (size_t i = 1; i < replies.size(); i += 2) {
      CHECK(replies[i] == Simple("PONG"));
      CHECK(replies[i + 1] == wrong);
    }
  }
}

}  // namespace mayfly::testing
