// What a script says it does is looked at before it runs (no-writes, allow-oom), and what a read-only script may call. The
// replies are those of redis-server.
#include <string>
#include <vector>

#include "support/beside_redis.h"

namespace mayfly::testing {
namespace {

const std::string kReads = "#!lua flags=no-writes\nreturn 1";
const std::string kWrites = "#!lua\nreturn 1";
const std::string kAllowsOom = "#!lua flags=allow-oom\nreturn 1";
const std::string kOfOldKind = "return 1";
const std::string kUnknownSha(40, 'x');

class ScriptFlagsTest : public CommandTest {
 public:
  ScriptFlagsTest() {
    REQUIRE(Run({"FUNCTION", "LOAD",
                 "#!lua name=lib\nredis.register_function('w', function() return 1 end)\n"
                 "redis.register_function{function_name = 'nw', callback = function() return 1 end, "
                 "flags = {'no-writes'}}"}) == Bulk("lib"));
  }
  std::string ShaOf(const std::string& script) { return Run({"SCRIPT", "LOAD", script}).text; }
  void FillMemory() {
    for (int i = 0; i < 1000; ++i) Run({"SET", "k" + std::to_string(i), std::string(2000, 'x')});
    Run({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
    Run({"CONFIG", "SET", "maxmemory", "1"});
  }
};

}  // namespace

TEST_CASE_METHOD(BesideRedis, "a read-only script may not call what replicas would be sent, as PUBLISH") {
  std::vector<Words> requests;
  for (const char* call :
       {"'PUBLISH', 'c', 'm'", "'SPUBLISH', 'c', 'm'", "'PFCOUNT', 'h'", "'GET', 'k'", "'SET', 'k', 'v'"}) {
    const std::string script = "return redis.call(" + std::string(call) + ")";
    requests.push_back({"EVAL", script, "0"});
    requests.push_back({"EVAL_RO", script, "0"});
    requests.push_back({"EVALSHA_RO", "71e6319f97b0fe8bdfa1c5df3ce4489946dda479", "0"});
    requests.push_back({"EVAL", "#!lua flags=no-writes\n" + script, "0"});
    requests.push_back({"EVAL_RO", "#!lua\n" + script, "0"});
    requests.push_back({"FUNCTION", "LOAD", "REPLACE",
                        "#!lua name=lib\nredis.register_function{function_name='f', callback=function() " +
                            script + " end, flags={'no-writes'}}"});
    requests.push_back({"FCALL", "f", "0"});
    requests.push_back({"FCALL_RO", "f", "0"});
  }
  Compare(requests, 2);
}

TEST_CASE_METHOD(BesideRedis,
                 "a script's first line is split at any white space, and its words may be quoted") {
  std::vector<Words> requests;
  for (const char* line :
       {"#!lua flags=no-writes\r", "#!lua\tflags=no-writes", "#!lua flags='no-writes'",
        "#!lua \"flags=no-writes\"", "#!lua \"", "#!lua 'flags=no-writes'x", "#!", "#! lua", "#!lua ",
        "#!lua flags=", "#!lua flags=,", "#!lua flags=no-writes,",
        "#!lua flags=no-writes,allow-stale flags=allow-oom", "#!lua x", "#!LUA", "#!lua\r"}) {
    requests.push_back({"EVAL", std::string(line) + "\nreturn redis.call('SET', 'k', 'v')", "1", "k"});
    requests.push_back({"SCRIPT", "LOAD", std::string(line) + "\nreturn 2"});
  }
  Compare(requests, 2);
}

TEST_CASE_METHOD(ScriptFlagsTest,
                 "when memory is full, scripts run that write nothing or say that they may") {
  const std::string reads = ShaOf(kReads);
  const std::string writes = ShaOf(kWrites);
  FillMemory();
  for (const std::vector<std::string>& call :
       std::vector<std::vector<std::string>>{{"EVAL", kReads, "0"},
                                             {"EVAL_RO", kReads, "0"},
                                             {"EVALSHA", reads, "0"},
                                             {"EVALSHA_RO", reads, "0"},
                                             {"EVAL", kAllowsOom, "0"},
                                             {"EVAL", kOfOldKind, "0"},
                                             {"EVAL_RO", kOfOldKind, "0"},
                                             {"FCALL", "nw", "0"},
                                             {"FCALL_RO", "nw", "0"}}) {
    CAPTURE(call);
    CHECK(Run(call) == Integer(1));
  }
  for (const std::vector<std::string>& call :
       std::vector<std::vector<std::string>>{{"EVAL", kWrites, "0"},
                                             {"EVAL_RO", kWrites, "0"},
                                             {"EVAL", kWrites, "-1"},
                                             {"EVALSHA", writes, "0"},
                                             {"EVALSHA_RO", writes, "0"},
                                             {"FCALL", "w", "0"},
                                             {"FCALL", "w", "x"},
                                             {"FCALL_RO", "w", "0"}}) {
    CAPTURE(call);
    CHECK(Run(call) == Error("OOM command not allowed when used memory > 'maxmemory'."));
  }
  CHECK(Run({"EVAL_RO", kAllowsOom, "0"}) ==
        Error("ERR Can not execute a script with write flag using *_ro command."));
}

TEST_CASE_METHOD(ScriptFlagsTest, "EXEC needs the room that the scripts in its queue need") {
  const auto exec = [&](const std::string& script) {
    Run({"CONFIG", "SET", "maxmemory", "0"});
    Run({"MULTI"});
    CHECK(Run({"EVAL", script, "0"}) == Simple("QUEUED"));
    Connect().Run({"CONFIG", "SET", "maxmemory", "1"});
    return Run({"EXEC"});
  };
  FillMemory();
  CHECK(exec(kReads) == Array({Integer(1)}));
  CHECK(exec(kAllowsOom) == Array({Integer(1)}));
  CHECK(exec(kOfOldKind) == Array({Integer(1)}));
  CHECK(exec(kWrites) ==
        Error("EXECABORT Transaction discarded because of: OOM command not allowed when used memory "
              "> 'maxmemory'."));
}

TEST_CASE_METHOD(ScriptFlagsTest,
                 "CLIENT PAUSE WRITE lets scripts through that say that they write nothing") {
  const std::string reads = ShaOf(kReads);
  const std::string writes = ShaOf(kWrites);
  Run({"CLIENT", "PAUSE", "100000", "WRITE"});
  for (const std::vector<std::string>& call :
       std::vector<std::vector<std::string>>{{"EVAL", kReads, "0"},
                                             {"EVALSHA", reads, "0"},
                                             {"EVAL_RO", kReads, "0"},
                                             {"EVAL_RO", kOfOldKind, "0"},
                                             {"FCALL", "nw", "0"},
                                             {"FCALL_RO", "nw", "0"}}) {
    CAPTURE(call);
    CHECK(Connect().Run(call) == Integer(1));
    TestClient& other = Connect();
    other.Run({"MULTI"});
    CHECK(other.Run(call) == Simple("QUEUED"));
    CHECK(other.Run({"EXEC"}) == Array({Integer(1)}));
  }
  for (const std::vector<std::string>& call :
       std::vector<std::vector<std::string>>{{"EVAL", kWrites, "0"},
                                             {"EVAL", kOfOldKind, "0"},
                                             {"EVALSHA", writes, "0"},
                                             {"EVALSHA", kUnknownSha, "0"},
                                             {"EVAL_RO", kWrites, "0"},
                                             {"EVAL", "#!lua flags=nosuch\nreturn 1", "0"},
                                             {"FCALL", "w", "0"},
                                             {"FCALL", "nosuch", "0"},
                                             {"FCALL_RO", "w", "0"},
                                             {"PUBLISH", "c", "m"},
                                             {"SPUBLISH", "c", "m"},
                                             {"PFCOUNT", "h"}}) {
    CAPTURE(call);
    CHECK(Connect().Run(call) == NoReply());
  }
  CHECK(Connect().Run({"EVALSHA_RO", kUnknownSha, "0"}).text.starts_with("NOSCRIPT"));
  CHECK(Connect().Run({"FCALL_RO", "nosuch", "0"}) == Error("ERR Function not found"));
}

TEST_CASE_METHOD(ScriptFlagsTest,
                 "MONITOR shows each call that would run a script, before what the script calls") {
  TestClient& monitor = Connect();
  monitor.Run({"MONITOR"});
  Run({"EVALSHA", kUnknownSha, "0"});
  Run({"EVALSHA", "short", "0"});
  Run({"EVAL", "return redis.call('GET', 'k')", "0"});
  Run({"EVAL", "not Lua", "0"});
  Run({"EVAL", kWrites, "x"});
  Run({"EVAL_RO", kWrites, "0"});
  Run({"FCALL", "nosuch", "0"});
  std::string shown;
  for (std::string rest = monitor.RunRaw(""); !rest.empty(); rest.erase(0, rest.find('\n') + 1)) {
    const size_t begin = rest.find("] ") + 2;
    shown += rest.substr(begin, rest.find('\r') - begin) + "\n";
  }
  CHECK(shown == "\"EVALSHA\" \"" + kUnknownSha +
                     "\" \"0\"\n\"EVALSHA\" \"short\" \"0\"\n\"EVAL\" \"return redis.call('GET', 'k')\" "
                     "\"0\"\n\"GET\" \"k\"\n"
                     "\"EVAL\" \"not Lua\" \"0\"\n\"EVAL\" \"#!lua\\nreturn 1\" \"x\"\n\"EVAL_RO\" "
                     "\"#!lua\\nreturn 1\" \"0\"\n"
                     "\"FCALL\" \"nosuch\" \"0\"\n");
  FillMemory();
  monitor.RunRaw("");
  Run({"EVAL", kWrites, "0"});  // refused
  CHECK(monitor.RunRaw("").empty());
}

}  // namespace mayfly::testing
