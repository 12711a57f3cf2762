// Clients in a mode, and clients that are told of what others do, when an allocation fails: nothing is lost without
// its client being closed, and everybody else goes on.
#include <algorithm>

#include "commands/memory/no_memory_world.h"
#include "server/acl/user.h"
#include "server/acl/users.h"
#include "server/hubs/hubs.h"
#include "snapshot/format/dump_footer.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"
#include "snapshot/values/function_text.h"

namespace mayfly::testing {
namespace {

const std::string kLong(100'000, 'x');
const std::string kLongName = "a name that is too long to lie in a string itself";

const std::vector<Words> kBefore = {
    {"MSET", "k", "value", "n", "10"},
    {"SET", "timed", "value", "EX", "100"},
    {"RPUSH", "list", "a", "b"},
};

struct Scene {
  std::vector<Words> bystander;  // what it has sent
  std::vector<Words> client;     // what it has sent, before the request that finds no memory
  Words request;
};

const Words kLoadFunction = {"FUNCTION", "LOAD",
                             "#!lua name=lib\nredis.register_function('f', function(keys, args) "
                             "return redis.call('SET', keys[1], args[1]) end)"};

std::string FunctionPayload() {
  std::string payload;
  rdb::Out out(payload);
  rdb::WriteFunction(kLoadFunction[2], out);
  rdb::AppendDumpFooter(payload, rdb::version::kRedis70);
  return payload;
}

// Made when they are needed: another test looks at what the whole process uses.
std::vector<Scene> Scenes() {
  return {
      {{}, {}, {"SUBSCRIBE", "news", kLongName}},
      {{}, {}, {"PSUBSCRIBE", "n*", "*s", kLongName + "?"}},
      {{}, {}, {"SSUBSCRIBE", "news"}},
      {{}, {{"SUBSCRIBE", "news", "sport"}}, {"UNSUBSCRIBE"}},
      {{}, {{"PSUBSCRIBE", "n*", "*s"}}, {"PUNSUBSCRIBE", "n*"}},
      {{{"SUBSCRIBE", "news"}}, {}, {"PUBLISH", "news", kLong}},
      {{{"PSUBSCRIBE", "n*"}}, {}, {"PUBLISH", "news", "word"}},
      {{{"SUBSCRIBE", "news"}}, {}, {"PUBSUB", "CHANNELS"}},
      {{}, {{"HELLO", "3"}, {"SUBSCRIBE", "news"}}, {"PUBLISH", "news", kLong}},
      {{{"PSUBSCRIBE", "*"}},
       {{"CONFIG", "SET", "notify-keyspace-events", "KEA"}},
       {"SET", "timed", "v", "EX", "9"}},
      {{{"PSUBSCRIBE", "*"}}, {{"CONFIG", "SET", "notify-keyspace-events", "KEA"}}, {"RENAME", "timed", "k"}},
      {{}, {}, {"WATCH", "k", "n", kLongName}},
      {{}, {{"WATCH", "k", "n"}}, {"UNWATCH"}},
      {{}, {}, {"MULTI"}},
      {{}, {{"MULTI"}}, {"SET", "new", kLong}},
      {{}, {{"MULTI"}, {"SET", "new", "v"}}, {"DISCARD"}},
      {{},
       {{"WATCH", "k"}, {"MULTI"}, {"SET", "new", kLong}, {"INCR", "n"}, {"LRANGE", "list", "0", "-1"}},
       {"EXEC"}},
      {{}, {{"HELLO", "3"}}, {"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "k", "PREFIX", "t"}},
      {{}, {{"HELLO", "3"}, {"CLIENT", "TRACKING", "ON"}}, {"MGET", "k", "n", "timed"}},
      {{{"HELLO", "3"}, {"CLIENT", "TRACKING", "ON"}, {"GET", "k"}}, {}, {"SET", "k", "v"}},
      {{{"MONITOR"}}, {}, {"SET", kLongName, kLong}},
      {{}, {}, {"MONITOR"}},
      {{}, {{"CONFIG", "SET", "slowlog-log-slower-than", "0"}}, {"SET", kLongName, kLong}},
      {{}, {{"CONFIG", "SET", "slowlog-log-slower-than", "0"}, {"GET", "k"}}, {"SLOWLOG", "GET"}},
      {{}, {}, {"LATENCY", "HISTOGRAM"}},
      {{}, {}, {"LATENCY", "DOCTOR"}},
      {{}, {{"EVAL", "return 1", "0"}}, {"SCRIPT", "LOAD", "return redis.call('GET', 'k')"}},
      {{},
       {{"EVAL", "return 1", "0"}},
       {"EVAL", "redis.call('SET', KEYS[1], ARGV[1]) return {1, 'two'}", "1", "k", "v"}},
      {{}, {{"EVAL", "return 1", "0"}}, {"EVAL", "return cjson.encode({1, {a = 'b'}})", "0"}},
      {{}, {{"EVAL", "return 1", "0"}}, {"EVAL", "return redis.call('LRANGE', 'list', 0, -1)", "0"}},
      {{}, {{"EVAL", "return 1", "0"}}, {"SCRIPT", "FLUSH"}},
      {{}, {}, kLoadFunction},
      {{}, {kLoadFunction}, {"FCALL", "f", "1", "k", "v"}},
      {{}, {kLoadFunction}, {"FUNCTION", "LIST", "WITHCODE"}},
      {{}, {kLoadFunction}, {"FUNCTION", "DELETE", "lib"}},
      {{}, {kLoadFunction}, {"FUNCTION", "DUMP"}},
      {{}, {}, {"FUNCTION", "RESTORE", FunctionPayload()}},
      {{}, {kLoadFunction}, {"FUNCTION", "RESTORE", FunctionPayload(), "REPLACE"}},
      {{}, {kLoadFunction}, {"FUNCTION", "RESTORE", FunctionPayload(), "FLUSH"}},
      {{}, {}, {"REPLCONF", "rdb-only", "1", "rdb-filter-only", "functions"}},
      {{}, {{"REPLCONF", "rdb-only", "1"}}, {"SYNC"}},
      {{}, {{"REPLCONF", "rdb-only", "1", "rdb-filter-only", "functions"}}, {"PSYNC", "?", "-1"}},
      {{}, {}, {"TAKE", kLongName, "LEASE", "1000"}},
      {{{"TAKE", "new", "LEASE", "1000"}}, {}, {"TAKE", "new", "LEASE", "1000", "WAIT", "1000"}},
      {{{"TAKE", "new", "LEASE", "1000"}}, {{"HELLO", "3"}}, {"TAKE", "new", "LEASE", "1000", "PUSH"}},
      {{{"TAKE", "new", "LEASE", "1000"}, {"TAKE", "new", "LEASE", "1000", "WAIT", "9"}},
       {},
       {"SET", "new", "v"}},
  };
}

class ModesWorld : public World {
 public:
  explicit ModesWorld(const Scene& scene) : World(kBefore) {
    for (const Words& words : scene.bystander) Run(bystander, words);
    for (const Words& words : scene.client) Run(client, words);
    client.output.Clear();
    bystander.output.Clear();
  }
  // What a client that comes now sees.
  bool NewcomerWorks() {
    Session newcomer{server.chunks};
    server.Connect(newcomer);
    Run(newcomer, {"SET", "the next request", "v"});
    Run(newcomer, {"GET", "the next request"});
    Run(newcomer, {"EVAL", "return redis.call('GET', KEYS[1])", "1", "the next request"});
    const bool works = OutputText(newcomer.output) == "+OK\r\n$1\r\nv\r\n$1\r\nv\r\n";
    server.server.hubs.client_ends.Tell(newcomer);
    server.sessions.Remove(newcomer);
    return works && Valid();
  }
};

bool Closed(const Session& session) { return session.closes(); }

}  // namespace

TEST_CASE(
    "whichever allocation fails, a client's mode and the keys stay whole, and the next client is served") {
  size_t failures = 0;
  for (const Scene& scene : Scenes()) {
    INFO(scene.request[0] << " " << (scene.request.size() > 1 ? scene.request[1].substr(0, 50) : ""));
    for (size_t nth = 1;; ++nth) {
      ModesWorld world(scene);
      const std::string before = world.Digest();
      world.Run(world.client, scene.request, nth);
      if (!AllocationFailed()) break;
      ++failures;
      INFO("allocation " << nth);
      const std::string output = OutputText(world.client.output);
      if (output == kOom) CHECK(world.Digest() == before);
      CHECK((!output.empty() || Closed(world.client) || world.no_room));
      CHECK(world.NewcomerWorks());
      REQUIRE(nth < 20'000);
    }
  }
  CHECK(failures > 100);
}

TEST_CASE(
    "a message is delivered whole, or its subscriber is closed, or the publisher is told that it was not "
    "sent") {
  for (size_t nth = 1;; ++nth) {
    ModesWorld world({{{"SUBSCRIBE", "news"}}, {}, {}});
    world.Run(world.client, {"PUBLISH", "news", kLong}, nth);
    if (!AllocationFailed()) break;
    INFO("allocation " << nth);
    const std::string got = OutputText(world.bystander.output);
    const std::string whole = "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$100000\r\n" + kLong + "\r\n";
    if (!Closed(world.bystander))
      CHECK((got == whole || (got.empty() && OutputText(world.client.output) != ":1\r\n")));
  }
}

TEST_CASE("what a client has read is remembered, or it is told to forget it, or it is closed") {
  for (size_t nth = 1;; ++nth) {
    ModesWorld world({{}, {{"HELLO", "3"}, {"CLIENT", "TRACKING", "ON"}}, {}});
    world.Run(world.client, {"GET", "k"}, nth);
    if (!AllocationFailed()) break;
    INFO("allocation " << nth);
    const bool was_read = OutputText(world.client.output).find("value") != std::string::npos;
    world.Run(world.bystander, {"SET", "k", "changed"});
    if (was_read && !Closed(world.client))
      CHECK(OutputText(world.client.output).find("invalidate") != std::string::npos);
  }
}

TEST_CASE("a change is told to the client that has read the key, or that client is closed") {
  for (size_t nth = 1;; ++nth) {
    ModesWorld world({{{"HELLO", "3"}, {"CLIENT", "TRACKING", "ON"}, {"GET", "k"}}, {}, {}});
    world.Run(world.client, {"SET", "k", kLong}, nth);
    if (!AllocationFailed()) break;
    INFO("allocation " << nth);
    if (OutputText(world.client.output) == "+OK\r\n" && !Closed(world.bystander))
      CHECK(OutputText(world.bystander.output).find("invalidate") != std::string::npos);
  }
}

TEST_CASE("a password that CONFIG SET finds no memory for is neither the option's nor the default user's") {
  const std::string secret = "a password that is too long to lie in a string itself";
  size_t nth = 1;
  for (bool failed = true; failed; ++nth) {
    World world({{"CONFIG", "SET", "requirepass", "old"}});
    world.Run(world.client, {"CONFIG", "SET", "requirepass", secret, "timeout", "300"}, nth);
    failed = AllocationFailed();
    INFO("allocation " << nth);
    const Server& server = world.server.server;
    const bool in_force = server.options.settings().requirepass == secret;
    CHECK((in_force || server.options.settings().requirepass == "old"));
    CHECK((server.options.settings().timeout_seconds == 300) == in_force);
    const User& user = server.users.default_user();
    CHECK(user.Accepts(secret) == in_force);
    CHECK(user.Accepts("old") == !in_force);
    CHECK((OutputText(world.client.output) == "+OK\r\n") <= in_force);
    if (!failed) CHECK(in_force);
    CHECK(world.Works());
  }
  CHECK(nth > 20);
}

TEST_CASE("a transaction in which an allocation failed while it was queued is not executed") {
  for (size_t nth = 1;; ++nth) {
    ModesWorld world({{}, {{"MULTI"}, {"SET", "first", "v"}}, {}});
    const std::string before = world.Digest();
    world.Run(world.client, {"SET", "second", kLong}, nth);
    if (!AllocationFailed()) break;
    INFO("allocation " << nth);
    if (Closed(world.client) || world.no_room) continue;
    const bool queued = OutputText(world.client.output) == "+QUEUED\r\n";
    world.Run(world.client, {"EXEC"});
    CHECK((world.Digest() != before) == queued);
  }
}

TEST_CASE(
    "a script that finds no memory while it ignores maxmemory does not free later scripts from the limit") {
  size_t failures = 0;
  for (size_t nth = 1;; ++nth) {
    INFO("allocation " << nth);
    World world({{"SET", "big", std::string(3'000'000, 'x')},
                 {"EVAL", "return 1", "0"},
                 {"CONFIG", "SET", "maxmemory-policy", "noeviction"},
                 {"CONFIG", "SET", "maxmemory", "1"}});
    world.server.chunks.Trim(0);  // so that replies need memory, too
    world.Run(world.client,
              {"EVAL", "#!lua flags=allow-oom\nreturn redis.pcall('SET', 'a', 'v', 'GET')", "0"}, nth);
    const bool failed = AllocationFailed();
    world.Run(world.bystander, {"EVAL", "return redis.call('SET', 'b', 1)", "0"});
    CHECK(OutputText(world.bystander.output).starts_with("-OOM command not allowed"));
    if (!failed) break;
    ++failures;
  }
  CHECK(failures > 3);
}

TEST_CASE("a transaction whose replies find no memory changes all that it was to change, or nothing") {
  const std::vector<Words> before = {
      {"SET", "a", "1"}, {"SET", "b", "1"}, {"SET", "v", std::string(3000, 'x')}};
  std::string queued;
  for (const Words& words : std::vector<Words>{{"MULTI"}, {"INCR", "a"}}) queued += EncodeRequest(words);
  for (int i = 0; i < 50; ++i) queued += EncodeRequest({"GETRANGE", "v", "0", "2000"});
  queued += EncodeRequest({"INCR", "b"});
  size_t closed = 0;
  for (size_t nth = 1; nth < 100; ++nth) {
    CAPTURE(nth);
    World world(before);
    world.RunRaw(world.client, queued);
    world.client.output.Clear();
    world.Run(world.client, {"EXEC"}, nth);
    closed += world.client.closes() ? 1 : 0;
    world.bystander.output.Clear();
    world.Run(world.bystander, {"MGET", "a", "b"});
    const std::string values = OutputText(world.bystander.output);
    CHECK((values == "*2\r\n$1\r\n1\r\n$1\r\n1\r\n" || values == "*2\r\n$1\r\n2\r\n$1\r\n2\r\n"));
    CHECK(world.Valid());
  }
  CHECK(closed != 0);
}

}  // namespace mayfly::testing
