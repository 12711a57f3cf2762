// Load of a whole configuration, CONFIG GET and CONFIG SET.
#include "config/sources/options.h"

#include "support/catch.h"
#include "unit/config/load.h"

namespace mayfly::config {
namespace {

constexpr uint64_t kMemory = Loaded::kMemoryBytes;

// The warnings of a start with these flags.
std::vector<std::string> WarningsOf(const std::vector<std::string>& words) {
  const TestFiles files;
  const Loaded loaded(files, words);
  CHECK(loaded.error == "");
  return loaded.warnings;
}

std::string ErrorOfOptions(const std::vector<std::string>& words) {
  const TestFiles files;
  return Loaded(files, words).error;
}

}  // namespace

TEST_CASE("maxmemory is auto, a percentage or bytes, and CONFIG GET answers plain bytes") {
  const TestFiles files;
  const auto bytes = [&](const std::string& text) {
    return Loaded(files, {"--maxmemory", text}).Get("maxmemory");
  };
  CHECK(Loaded(files, {}).Get("maxmemory") == std::to_string(kMemory / 100 * 75));
  CHECK(bytes("auto") == std::to_string(kMemory / 100 * 75));
  CHECK(bytes("AUTO") == bytes("75%"));
  CHECK(bytes("100%") == std::to_string(kMemory));
  CHECK(bytes("1%") == std::to_string(kMemory / 100));
  CHECK(bytes("1kb") == "1024");
  CHECK(bytes("1k") == "1000");
  CHECK(bytes("0") == "0");
  for (const char* wrong : {"", "%", "x%", "abc", "-1", " 5", "1.5gb", "99999999999gb", "5 %"})
    CHECK(ErrorOfOptions({"--maxmemory", wrong}) == "--maxmemory: argument must be a memory value");
  for (const char* wrong : {"0%", "101%"})
    CHECK(ErrorOfOptions({"--maxmemory", wrong}) ==
          "--maxmemory: percentage argument must be between 1 and 100 inclusive");
}

TEST_CASE("a percentage follows the machine's memory, and the followers of maxmemory are called") {
  const TestFiles files;
  Loaded loaded(files, {});
  std::vector<std::string> heard;
  FollowEach(loaded.options, [&](const Settings& settings, const Option& option) {
    heard.push_back(std::string(option.name) + " " + std::to_string(settings.maxmemory.bytes));
  });
  loaded.options.SetMemoryBytes(1'000'000'000);
  loaded.options.SetMemoryBytes(1'000'000'000);
  CHECK(heard == std::vector<std::string>{"maxmemory 750000000"});
  CHECK(loaded.Set({{"maxmemory", "2kb"}}) == "");
  heard.clear();
  loaded.options.SetMemoryBytes(5000);
  CHECK(loaded.Get("maxmemory") == "2048");
  CHECK(heard == std::vector<std::string>{"maxmemory 2048"});  // what is left beside it has changed
}

TEST_CASE("a percentage stays one when the machine's memory changes, also in the conf file") {
  TestFiles files;
  files.Put("/a.conf", "maxmemory 1gb\n");
  Loaded loaded(files, {"/a.conf"});
  CHECK(loaded.Set({{"maxmemory", "60%"}}) == "");
  loaded.options.SetMemoryBytes(1'000'000'000);
  CHECK(loaded.Get("maxmemory") == "600000000");
  CHECK_FALSE(loaded.options.Rewrite());
  CHECK(files.Text("/a.conf") == "maxmemory 60%\n");
  loaded.options.SetMemoryBytes(2'000'000'000);
  CHECK(loaded.Get("maxmemory") == "1200000000");
}

TEST_CASE("maxmemory auto leaves a quarter, and of little memory at least what does not shrink with it") {
  constexpr uint64_t kMb = 1 << 20;
  const TestFiles files;
  const auto of = [&](uint64_t memory_bytes) {
    Options options(memory_bytes, files.files());
    const LoadResult result = options.Load({}, {});
    CHECK_FALSE(result.error);
    CHECK(result.warnings.size() == (memory_bytes < 48 * kMb ? 1 : 0));
    return options.settings().maxmemory.bytes / kMb;
  };
  CHECK(of(1000 * kMb) == 750);
  CHECK(of(130 * kMb) == 97);
  CHECK(of(120 * kMb) == 88);
  CHECK(of(70 * kMb) == 38);
  CHECK(of(60 * kMb) == 30);
  CHECK(of(48 * kMb) == 24);
  CHECK(of(47 * kMb) == 23);
  Options options(100 * kMb, files.files());
  const std::vector<std::string> words{"--maxmemory", "75%"};
  CHECK_FALSE(options.Load(words, {}).error);
  CHECK(options.settings().maxmemory.bytes / kMb == 75);
}

TEST_CASE("if the machine's memory is unknown, a percentage sets no limit and gives a warning") {
  const TestFiles files;
  Options options(0, files.files());
  const LoadResult result = options.Load({}, {});
  CHECK_FALSE(result.error);
  CHECK(result.warnings.size() == 1);
  CHECK(options.settings().maxmemory.bytes == 0);
  std::vector<std::string> warnings;
  const NameValue pairs[] = {{"maxmemory", "50%"}};
  CHECK_FALSE(options.Set(pairs, warnings));
  CHECK(warnings.size() == 1);
}

TEST_CASE("options that only Redis has are accepted with one warning, and CONFIG GET answers them") {
  const TestFiles files;
  const Loaded loaded(files, {"--io-threads", "4", "--hz", "10", "--activerehashing", "NO",
                              "--repl-diskless-sync", "yes", "--locale-collate", "a b"});
  REQUIRE(loaded.warnings.size() == 1);
  CHECK(loaded.warnings[0] ==
        "options without a meaning here are ignored: locale-collate, io-threads, activerehashing; at "
        "Redis's "
        "default hz, "
        "repl-diskless-sync");
  CHECK(loaded.Get("io-threads") == "4");
  CHECK(loaded.Get("activerehashing") == "no");
  CHECK(loaded.Get("repl-diskless-sync") == "yes");
  CHECK(loaded.Get("locale-collate") == "a b");
  CHECK(WarningsOf({"--hz", "10"}) ==
        std::vector<std::string>{"options without a meaning here are ignored: at Redis's default hz"});
  CHECK(WarningsOf({"--save", ""}).empty());
  CHECK(WarningsOf({"--appendonly", "no"}).empty());
}

TEST_CASE("daemonize has a warning of its own, and CONFIG GET answers what is in force") {
  const TestFiles files;
  const Loaded loaded(files, {"--save", "900", "1", "300", "10", "--daemonize", "yes"});
  CHECK(loaded.error == "");
  CHECK(loaded.warnings == std::vector<std::string>{"daemonize is ignored: mayfly stays in the foreground"});
  CHECK(loaded.Get("save") == "900 1 300 10");
  CHECK(loaded.Get("daemonize") == "no");
  CHECK(ErrorOfOptions({"--save", "900"}) == "--save: Invalid save parameters");
  CHECK(ErrorOfOptions({"--save", "0 1"}) == "--save: Invalid save parameters");
}

TEST_CASE("options whose silent loss would hurt are refused, except with their harmless value") {
  CHECK(ErrorOfOptions({"--appendonly", "yes"}).starts_with("--appendonly: appendonly yes is refused: "));
  CHECK(ErrorOfOptions({"--loadmodule", "/x.so"}).find("is refused") != std::string::npos);
  CHECK(ErrorOfOptions({"--appendonly", "no", "--cluster-enabled", "no"}) == "");
}

TEST_CASE("replicaof names a host and a port, or no one") {
  const TestFiles files;
  CHECK(Loaded(files, {"--replicaof", "10.0.0.1", "6379"}).options.settings().replicaof ==
        MasterAddress{"10.0.0.1", 6379});
  CHECK(Loaded(files, {"--slaveof", "10.0.0.1 6379"}).Get("replicaof") == "10.0.0.1 6379");
  CHECK(Loaded(files, {"--replicaof", "no", "one"}).Get("replicaof") == "");
  CHECK(ErrorOfOptions({"--replicaof", "10.0.0.1"}) == "--replicaof: wrong number of arguments");
  CHECK(Loaded(files, {"--replicaof", "10.0.0.1", "0"}).Get("replicaof") == "10.0.0.1 0");  // as in Redis
  for (const char* wrong : {"x", "-1", "65536"})
    CHECK(ErrorOfOptions({"--replicaof", "10.0.0.1", wrong}) == "--replicaof: Invalid master port");
}

TEST_CASE("a master that REPLICAOF has named is written by CONFIG REWRITE") {
  TestFiles files;
  files.Put("/here/a.conf", "port 7000\n");
  Loaded loaded(files, {"/here/a.conf"});
  loaded.options.FollowMaster({"10.0.0.1", 6379});
  CHECK(loaded.Get("replicaof") == "10.0.0.1 6379");
  CHECK(loaded.options.Rewrite() == std::nullopt);
  CHECK(files.Text("/here/a.conf").find("replicaof 10.0.0.1 6379\n") != std::string::npos);
}

TEST_CASE("whatever host and port REPLICAOF takes, a start from the rewritten file has them again") {
  for (const std::string host :
       {"10.0.0.1", "::1", "no", "a-b.c_d", "\"q", "it's", "#x", "a\\b", "$HOME", "*"}) {
    for (const uint16_t port : {0, 1, 65535}) {
      CAPTURE(host, port);
      TestFiles files;
      files.Put("/a.conf", "port 7000\n");
      Loaded loaded(files, {"/a.conf"});
      loaded.options.FollowMaster({host, port});
      REQUIRE(loaded.options.Rewrite() == std::nullopt);
      const Loaded again(files, {"/a.conf"});
      CHECK(again.error == "");
      CHECK(again.options.settings().replicaof == MasterAddress{host, port});
    }
  }
}

TEST_CASE("a master that a cluster's file names is shown, and not written by CONFIG REWRITE") {
  TestFiles files;
  files.Put("/here/a.conf", "port 7000\n");
  Loaded loaded(files, {"/here/a.conf"});
  loaded.options.ShowMaster({"10.0.0.1", 6379});
  CHECK(loaded.Get("replicaof") == "10.0.0.1 6379");
  CHECK(loaded.options.Rewrite() == std::nullopt);
  CHECK(files.Text("/here/a.conf") == "port 7000\n");
}

TEST_CASE("a refusal depends on the value that wins, and names its place") {
  TestFiles files;
  files.Put("a.conf", "\nappendonly yes\n");
  CHECK(Loaded(files, {"a.conf"}).error.starts_with("a.conf:2: appendonly yes is refused"));
  CHECK(Loaded(files, {"a.conf", "--appendonly", "no"}).error == "");
}

TEST_CASE("there may be as many databases as an entry can name, and no more") {
  const TestFiles files;
  CHECK(Loaded(files, {"--databases", "256"}).options.settings().databases == 256);
  CHECK(Loaded(files, {"--databases", "1"}).options.settings().databases == 1);
  for (const char* wrong : {"257", "0", "-1", "2147483648"})
    CHECK(ErrorOfOptions({"--databases", wrong}) ==
          "--databases: argument must be between 1 and 256 inclusive");
}

TEST_CASE("dir is kept absolute, and must be a directory") {
  const TestFiles files;
  CHECK(Loaded(files, {}).Get("dir") == "/here");
  CHECK(Loaded(files, {"--dir", "/data"}).Get("dir") == "/data");
  CHECK(ErrorOfOptions({"--dir", "/missing"}) == "dir /missing: No such file or directory");
}

TEST_CASE("CONFIG GET knows names, aliases and patterns") {
  const TestFiles files;
  const Loaded loaded(files, {});
  CHECK(loaded.options.Match("Databases") == std::vector<NameValue>{{"Databases", "16"}});
  CHECK(loaded.options.Match("slave-read-only") == std::vector<NameValue>{{"slave-read-only", "yes"}});
  CHECK(loaded.options.Match("*REPLICAOF") == std::vector<NameValue>{{"replicaof", ""}});
  CHECK(loaded.options.Match("maxmemory*").size() == 5);
  CHECK(loaded.options.Match("nothing").empty());
  CHECK(loaded.options.Match("user").empty());
  CHECK(loaded.options.Match("rename*").empty());
  CHECK(loaded.options.Match("*").size() > 200);
  CHECK(loaded.Get("client-output-buffer-limit") ==
        "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60");
  CHECK(loaded.Get("proto-max-bulk-len") == "536870912");
  CHECK(loaded.Get("bind") == "* -::*");
  CHECK(loaded.Get("unixsocketperm") == "0");
  CHECK(Loaded(files, {"--unixsocketperm", "770"}).Get("unixsocketperm") == "770");
  CHECK(ErrorOfOptions({"--unixsocketperm", "778"}) ==
        "--unixsocketperm: argument couldn't be parsed as an octal number");
  for (const char* wrong : {"1000", "-1"})
    CHECK(ErrorOfOptions({"--unixsocketperm", wrong}) ==
          "--unixsocketperm: argument must be between 0 and 777 inclusive");
}

TEST_CASE("CONFIG SET changes the options that may change while the server runs") {
  const TestFiles files;
  Loaded loaded(files, {});
  std::vector<std::string> heard;
  FollowEach(loaded.options, [&](const Settings&, const Option& option) { heard.emplace_back(option.name); });
  CHECK(
      loaded.Set(
          {{"timeout", "5"}, {"MaxMemory", "1mb"}, {"maxmemory-policy", "ALLKEYS-LRU"}, {"maxkeys", "0"}}) ==
      "");
  CHECK(loaded.options.settings().timeout_seconds == 5);
  CHECK(loaded.Get("maxmemory") == "1048576");
  CHECK(loaded.Get("maxmemory-policy") == "allkeys-lru");
  CHECK(heard == std::vector<std::string>{"timeout", "maxmemory", "maxmemory-policy"});
  CHECK(loaded.Set({{"client-output-buffer-limit", "pubsub 1mb 2mb 3 slave 0 0 0"}}) == "");
  CHECK(loaded.Get("client-output-buffer-limit") == "normal 0 0 0 slave 0 0 0 pubsub 1048576 2097152 3");
  CHECK(loaded.Set({{"client-output-buffer-limit", ""}}) == "");
  CHECK(loaded.Set({{"requirepass", "a b"}}) == "");
  CHECK(loaded.Get("requirepass") == "a b");
}

TEST_CASE("CONFIG SET fails in Redis's words") {
  const TestFiles files;
  Loaded loaded(files, {});
  const auto failed = [](const std::string& name, const std::string& reason) {
    return "CONFIG SET failed (possibly related to argument '" + name + "') - " + reason;
  };
  const auto set = [&](const std::string& name, const std::string& value) {
    return loaded.Set({{name, value}});
  };
  CHECK(set("FOO", "bar") == "Unknown option or number of arguments for CONFIG SET - 'FOO'");
  CHECK(set("user", "bob") == "Unknown option or number of arguments for CONFIG SET - 'user'");
  CHECK(set("maxmem", "5") ==
        "Unknown option or number of arguments for CONFIG SET - 'maxmem', did you mean 'maxmemory'?");
  CHECK(set("slowlog-max-lne", "5") ==
        "Unknown option or number of arguments for CONFIG SET - 'slowlog-max-lne', did you mean "
        "'slowlog-max-len'?");
  // A name that CONFIG does not know is no help.
  CHECK(set("rename-comand", "x") ==
        "Unknown option or number of arguments for CONFIG SET - 'rename-comand'");
  CHECK(set("maxmemory", "abc") == failed("maxmemory", "argument must be a memory value"));
  CHECK(set("MAXMEMORY", "abc") == failed("maxmemory", "argument must be a memory value"));
  CHECK(set("databases", "3") == failed("databases", "can't set immutable config"));
  CHECK(set("replicaof", "a 1") == failed("replicaof", "can't set immutable config"));
  CHECK(set("dir", "/x") == failed("dir", "can't set protected config"));
  CHECK(set("timeout", "-1") == failed("timeout", "argument must be between 0 and 2147483647 inclusive"));
  CHECK(set("timeout", "abc") == failed("timeout", "argument couldn't be parsed into an integer"));
  CHECK(set("maxclients", "0") ==
        failed("maxclients", "argument must be between 1 and 4294967295 inclusive"));
  CHECK(set("protected-mode", "maybe") == failed("protected-mode", "argument must be 'yes' or 'no'"));
  CHECK(set("slave-priority", "abc") ==
        failed("slave-priority", "argument couldn't be parsed into an integer"));
  CHECK(set("proto-max-bulk-len", "1") ==
        failed("proto-max-bulk-len", "argument must be between 1048576 and 9223372036854775807 inclusive"));
  CHECK(loaded.Set({{"maxmemory", "1"}, {"MAXMEMORY", "2"}}) == failed("MAXMEMORY", "duplicate parameter"));
  CHECK(set("appendonly", "yes").starts_with(failed("appendonly", "there is no append-only file")));
  CHECK(set("client-output-buffer-limit", "pubsub 1 2") ==
        failed("client-output-buffer-limit", "Wrong number of arguments in buffer limit configuration."));
  CHECK(
      set("client-output-buffer-limit", "pubsubx 1 2 3") ==
      failed("client-output-buffer-limit", "Invalid client class specified in buffer limit configuration."));
  CHECK(set("client-output-buffer-limit", "pubsub 1mb 2mb -3") ==
        failed("client-output-buffer-limit",
               "Error in hard, soft or soft_seconds setting in buffer limit configuration."));
}

TEST_CASE("CONFIG SET with one wrong pair changes nothing and calls no follower") {
  const TestFiles files;
  Loaded loaded(files, {});
  FollowEach(loaded.options, [](const Settings&, const Option&) { FAIL("nothing changed"); });
  const Settings before = loaded.options.settings();
  CHECK(loaded.Set({{"timeout", "5"}, {"hz", "20"}, {"maxmemory-policy", "foo"}}) != "");
  CHECK(loaded.Set({{"timeout", "5"}, {"foo", "1"}}) != "");
  CHECK(loaded.options.settings() == before);
  CHECK(loaded.Get("hz") == "10");
  CHECK(loaded.warnings.empty());
}

TEST_CASE("CONFIG SET of an option that only Redis has is remembered, with a warning") {
  const TestFiles files;
  Loaded loaded(files, {});
  CHECK(loaded.Set({{"hz", "20"}}) == "");
  CHECK(loaded.Get("hz") == "20");
  CHECK(loaded.warnings.size() == 1);
  CHECK(loaded.Set({{"list-compress-depth", "5"}}) == "");
  CHECK(loaded.Get("list-compress-depth") == "5");
  CHECK(loaded.warnings.size() == 2);
  CHECK(loaded.Set({{"save", ""}, {"appendonly", "no"}}) == "");
  CHECK(loaded.warnings.size() == 2);
}

TEST_CASE("a Load that fails leaves the defaults") {
  const TestFiles files;
  const Loaded loaded(files, {"--port", "1", "--timeout", "x"});
  CHECK(loaded.error != "");
  CHECK(loaded.options.settings().port == 6379);
}

TEST_CASE("CONFIG SET bind keeps its words, also empty ones, over a rewrite") {
  for (const char* value : {"127.0.0.1 -::1", "", "a  b", " ", "-", "::1", "* -::*"}) {
    TestFiles files;
    files.Put("/a.conf", "bind * -::*\nport 6379\n");
    Loaded loaded(files, {"/a.conf"});
    CAPTURE(value);
    CHECK(loaded.Set({{"bind", value}, {"port", "7000"}}) == "");
    CHECK(loaded.Get("bind") == value);
    CHECK(loaded.options.Rewrite().value_or("") == "");
    const Loaded again(files, {"/a.conf"});
    CHECK(again.Get("bind") == value);
    CHECK(again.Get("port") == "7000");
  }
  const TestFiles files;
  Loaded loaded(files, {});
  CHECK(loaded.Set({{"bind", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17"}}) ==
        "CONFIG SET failed (possibly related to argument 'bind') - Too many bind addresses specified.");
}

TEST_CASE("a hostname is refused in Redis's words") {
  const TestFiles files;
  Loaded loaded(files, {});
  const std::string name = "cluster-announce-hostname";
  const std::string failed = "CONFIG SET failed (possibly related to argument '" + name + "') - ";
  CHECK(loaded.Set({{name, std::string(255, 'a')}}) == "");
  CHECK(loaded.Set({{name, std::string(256, 'a')}}) == failed + "Hostnames must be less than 256 characters");
  for (const char* wrong : {"a_b", "a b", "\xc3\xa4", "a\n"})
    CHECK(loaded.Set({{name, wrong}}) ==
          failed + "Hostnames may only contain alphanumeric characters, hyphens or dots");
  CHECK(loaded.Set({{name, ""}}) == "");
}

}  // namespace mayfly::config
