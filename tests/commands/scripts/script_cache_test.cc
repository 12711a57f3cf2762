// The cache of scripts and the libraries as INFO counts them, what a script writes into the log, and what is told of a script that
// runs for long.
#include <fstream>
#include <string>
#include <vector>

#include "base/log/log.h"
#include "base/time/tsc.h"
#include "support/command_test.h"
#include "support/folder.h"

namespace mayfly::testing {
namespace {

class ScriptCacheTest : public CommandTest {
 public:
  Reply Eval(const std::string& script) { return Run({"EVAL", script, "0"}); }
  std::string Load(const std::string& script) { return Run({"SCRIPT", "LOAD", script}).text; }
  bool IsCached(const std::string& sha) {
    return Run({"SCRIPT", "EXISTS", sha}).elements.at(0) == Integer(1);
  }
  std::string ShaOf(const std::string& text) {
    return Run({"EVAL", "return redis.sha1hex(ARGV[1])", "0", text}).text;
  }
  // A field of INFO, "" if there is none.
  std::string InfoField(const std::string& name) {
    const std::string text = "\n" + Run({"INFO", "everything"}).text;
    const size_t at = text.find("\n" + name + ":");
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 2;
    return text.substr(begin, text.find('\r', begin) - begin);
  }
  int64_t InfoNumber(const std::string& name) { return std::stoll(InfoField(name)); }
  // What the loop does in a turn while a script is busy.
  void Slice() {
    server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, 1);
    server().RunWoken();
  }
  void SliceToEnd() {
    for (int i = 0; i < 1'000'000 && server().sliced_work.waits(); ++i) Slice();
    CHECK_FALSE(server().sliced_work.waits());
  }
};

std::string LibraryOf(const std::string& name, const std::string& function, const std::string& more = "") {
  return "#!lua name=" + name + "\nredis.register_function('" + function + "', function() return 1 end)" +
         more;
}

}  // namespace

TEST_CASE_METHOD(ScriptCacheTest, "a script that EVAL brought stays once SCRIPT LOAD has named it, too") {
  Eval("return 'both'");
  Load("return 'both'");
  Load("return 'loaded'");
  Eval("return 'loaded'");
  Eval("return 'eval'");
  const std::string both = ShaOf("return 'both'");
  const std::string loaded = ShaOf("return 'loaded'");
  const std::string eval = ShaOf("return 'eval'");
  Load("return 'both'");
  for (int i = 0; i < 498; ++i) Eval("return " + std::to_string(i));
  CHECK(IsCached(eval));  // with these 498 and the one with sha1hex
  for (int i = 498; i < 1000; ++i) Eval("return " + std::to_string(i));
  CHECK(IsCached(both));
  CHECK(IsCached(loaded));
  CHECK_FALSE(IsCached(eval));
  CHECK(InfoField("number_of_cached_scripts") == "502");
  CHECK(Run({"EVALSHA", both, "0"}) == Bulk("both"));
}

TEST_CASE_METHOD(ScriptCacheTest, "each use of a script counts: EVAL, EVALSHA, and SCRIPT EXISTS and SHOW") {
  const std::vector<std::string> words = {"EVAL", "EVALSHA", "EVALSHA_RO", "SHOW", "EXISTS"};
  std::vector<std::string> texts;
  std::vector<std::string> shas;
  for (const std::string& word : words) {
    texts.push_back("return '" + word + "'");
    Eval(texts.back());
    shas.push_back(ShaOf(texts.back()));
  }
  Eval("return 'unused'");
  const std::string unused = ShaOf("return 'unused'");
  for (int i = 0; i < 490; ++i) Eval("return " + std::to_string(i));
  Eval(texts[0]);
  Run({"EVALSHA", shas[1], "0"});
  Run({"EVALSHA_RO", shas[2], "0"});
  Run({"SCRIPT", "SHOW", shas[3]});
  Run({"SCRIPT", "EXISTS", shas[4]});
  for (int i = 490; i < 800; ++i) Eval("return " + std::to_string(i));
  for (const std::string& sha : shas) CHECK(IsCached(sha));
  CHECK_FALSE(IsCached(unused));
}

TEST_CASE_METHOD(ScriptCacheTest, "the memory of cached scripts follows their number and texts") {
  CHECK(InfoNumber("used_memory_scripts_eval") == 0);
  Load("return 1");
  const int64_t one = InfoNumber("used_memory_scripts_eval");
  CHECK(one > 8);
  Load("return 1");
  CHECK(InfoNumber("used_memory_scripts_eval") == one);
  Load("return 2");
  CHECK(InfoNumber("used_memory_scripts_eval") == 2 * one);
  Load("return 3 " + std::string(1000, ' '));
  CHECK(InfoNumber("used_memory_scripts_eval") == 3 * one + 1001);
  Load("return +");
  CHECK(InfoNumber("used_memory_scripts_eval") == 3 * one + 1001);
  Run({"SCRIPT", "FLUSH"});
  CHECK(InfoNumber("used_memory_scripts_eval") == 0);
  for (int i = 1000; i < 1500; ++i) Eval("return " + std::to_string(i));
  const int64_t full = InfoNumber("used_memory_scripts_eval");
  CHECK(full == 500 * (one + 3));
  for (int i = 1500; i < 1600; ++i) Eval("return " + std::to_string(i));
  CHECK(InfoNumber("used_memory_scripts_eval") == full);
  CHECK(InfoField("number_of_cached_scripts") == "500");
}

TEST_CASE_METHOD(ScriptCacheTest, "a script whose text is as long as the name of one is not taken for it") {
  const std::string sha = Load("return 'found'");
  CHECK(Run({"EVALSHA", sha, "0"}) == Bulk("found"));
  CHECK(Run({"EVALSHA", sha.substr(1), "0"}).text.starts_with("NOSCRIPT"));
  CHECK(Run({"EVALSHA", sha + "0", "0"}).text.starts_with("NOSCRIPT"));
  CHECK_FALSE(IsCached(sha.substr(1)));
  CHECK_FALSE(IsCached(sha + "0"));
  CHECK(Run({"EVAL", sha, "0"}).kind == Reply::Kind::kError);
  CHECK(Run({"SCRIPT", "SHOW", sha.substr(0, 39)}).text.starts_with("NOSCRIPT"));
}

TEST_CASE_METHOD(ScriptCacheTest,
                 "INFO counts libraries, functions and their memory, whatever changes them") {
  const auto counts = [&] {
    return InfoField("number_of_libraries") + "/" + InfoField("number_of_functions");
  };
  CHECK(counts() == "0/0");
  CHECK(InfoField("used_memory_vm_functions") == "0");
  Run({"FUNCTION", "LOAD", LibraryOf("a", "fa")});
  const int64_t one = InfoNumber("used_memory_functions");
  CHECK(counts() == "1/1");
  CHECK(InfoNumber("used_memory_vm_functions") > 10'000);
  Run({"FUNCTION", "LOAD", LibraryOf("b", "fb", " redis.register_function('fc', function() end)")});
  CHECK(counts() == "2/3");
  const int64_t two = InfoNumber("used_memory_functions");
  for (int i = 0; i < 5; ++i) {
    Run({"FUNCTION", "LOAD", "REPLACE", LibraryOf("a", "fa")});
    CHECK(InfoNumber("used_memory_functions") == two);
  }
  CHECK(two > 2 * one);
  const int64_t of_interpreter = InfoNumber("used_memory_vm_functions");
  const std::string text = "-- " + std::string(20'000, 'x');
  for (int i = 0; i < 100; ++i) {
    Run({"FUNCTION", "LOAD", "REPLACE",
         LibraryOf("a", "fa",
                   " local text = '" + std::to_string(i) + text +
                       "' redis.register_function('fd', function() return text end)")});
  }
  CHECK(InfoNumber("used_memory_vm_functions") < of_interpreter + 1'000'000);  // 100 texts are two millions
  Run({"FUNCTION", "LOAD", "REPLACE", LibraryOf("a", "fa")});
  const Reply payload = Run({"FUNCTION", "DUMP"});
  Run({"FUNCTION", "LOAD", "REPLACE", LibraryOf("b", "fb")});
  CHECK(counts() == "2/2");
  Run({"FUNCTION", "LOAD", "REPLACE", "#!lua name=b\nerror('no')"});
  Run({"FUNCTION", "LOAD", LibraryOf("c", "FA")});
  CHECK(counts() == "2/2");
  CHECK(Run({"FUNCTION", "RESTORE", payload.text, "REPLACE"}) == Ok());
  CHECK(counts() == "2/3");
  Run({"FUNCTION", "DELETE", "nosuch"});
  CHECK(counts() == "2/3");
  Run({"FUNCTION", "DELETE", "a"});
  CHECK(counts() == "1/2");
  CHECK(Run({"FUNCTION", "RESTORE", payload.text, "FLUSH"}) == Ok());
  CHECK(counts() == "2/3");
  Run({"FUNCTION", "FLUSH"});
  CHECK(counts() == "0/0");
  CHECK(InfoField("used_memory_vm_functions") == "0");
  CHECK(InfoField("used_memory_functions") == "0");
  CHECK(Run({"FUNCTION", "STATS"}) ==
        Array({Bulk("running_script"), Null(), Bulk("engines"),
               Array({Bulk("LUA"),
                      Array({Bulk("libraries_count"), Integer(0), Bulk("functions_count"), Integer(0)})})}));
}

TEST_CASE_METHOD(ScriptCacheTest,
                 "each change of the libraries counts as a change to save, and nothing else") {
  const auto changes = [&] { return InfoNumber("rdb_changes_since_last_save"); };
  const auto counts = [&](const std::vector<std::string>& request) {
    const int64_t before = changes();
    Run(request);
    return changes() - before;
  };
  CHECK(counts({"FUNCTION", "LOAD", LibraryOf("a", "fa")}) == 1);
  CHECK(counts({"FUNCTION", "LOAD", LibraryOf("a", "fa")}) == 0);
  CHECK(counts({"FUNCTION", "LOAD", "REPLACE", LibraryOf("a", "fa")}) == 1);
  const Reply payload = Run({"FUNCTION", "DUMP"});
  CHECK(counts({"FUNCTION", "RESTORE", payload.text}) == 0);
  CHECK(counts({"FUNCTION", "RESTORE", payload.text, "REPLACE"}) == 1);
  CHECK(counts({"FUNCTION", "RESTORE", "x", "REPLACE"}) == 0);
  CHECK(counts({"FUNCTION", "DELETE", "a"}) == 1);
  CHECK(counts({"FUNCTION", "DELETE", "a"}) == 0);
  CHECK(counts({"FUNCTION", "FLUSH"}) == 1);
  CHECK(counts({"FUNCTION", "FLUSH", "NOSUCH"}) == 0);
  CHECK(counts({"FUNCTION", "LIST"}) == 0);
  CHECK(counts({"SCRIPT", "LOAD", "return 1"}) == 0);
  CHECK(counts({"SCRIPT", "FLUSH"}) == 0);
  CHECK(counts({"EVAL", "return redis.call('SET', 'k', 'v')", "0"}) == 1);
  CHECK(counts({"EVAL", "return redis.call('GET', 'k')", "0"}) == 0);
}

TEST_CASE_METHOD(ScriptCacheTest, "errors, however many, leave nothing behind in the memory of Lua") {
  Run({"FUNCTION", "LOAD", LibraryOf("a", "fa")});
  const std::vector<std::vector<std::string>> failing = {
      {"SCRIPT", "LOAD", "return +"},
      {"EVAL", "return +", "0"},
      {"EVAL", "error('x')", "0"},
      {"EVAL", "error({err = 'x'})", "0"},
      {"EVAL", "return redis.call('NOSUCH')", "0"},
      {"FUNCTION", "LOAD", "#!lua name=b\nreturn +"},
      {"FUNCTION", "LOAD", "#!lua name=b\nerror('x')"},
      {"FUNCTION", "LOAD", "#!lua name=b\nredis.register_function('FA', function() end)"},
      {"FUNCTION", "LOAD", "REPLACE",
       "#!lua name=a\nredis.register_function('f', function() end) error({})"}};
  const auto bytes = [&] { return stats().scripts.eval_heap_bytes + stats().scripts.function_heap_bytes; };
  for (const std::vector<std::string>& request : failing) {
    CAPTURE(request);
    for (int i = 0; i < 100; ++i) CHECK(Run(request).kind == Reply::Kind::kError);
    const uint64_t before = bytes();
    for (int i = 0; i < 1500; ++i) Run(request);
    CHECK(bytes() < before + 20'000);
  }
  CHECK(Run({"FCALL", "fa", "0"}) == Integer(1));
}

TEST_CASE_METHOD(ScriptCacheTest, "redis.log writes one line of the words, if the log takes the level") {
  const Folder folder;
  const std::string path = folder / "log";
  Log log(server().clock, Log::Level::kNotice, path);
  server().server.log = &log;
  CHECK(Eval("redis.log(redis.LOG_DEBUG, 'debug') redis.log(redis.LOG_VERBOSE, 'verbose') "
             "redis.log(redis.LOG_NOTICE, 'notice', 5, {}, 2.5, 'end') "
             "redis.log(redis.LOG_WARNING, 'warning') redis.log(3, {}, 'second') redis.log('2', 'x')") ==
        Null());
  Run({"FUNCTION", "LOAD",
       "#!lua name=l\nredis.log(redis.LOG_WARNING, 'loading') redis.register_function('f', function() "
       "redis.log(redis.LOG_WARNING, 'called') end)"});
  Run({"FCALL", "f", "0"});
  server().server.log = nullptr;
  std::ifstream file(path);
  std::vector<std::string> ends;
  for (std::string line; std::getline(file, line);) ends.push_back(line.substr(line.find_first_of("*#")));
  CHECK(ends == std::vector<std::string>{"* notice 5 2.5 end", "# warning", "#  second", "* x", "# loading",
                                         "# called"});
}

TEST_CASE_METHOD(ScriptCacheTest, "the log names a script that has been running for long") {
  SetOption("busy-reply-threshold", "1");
  const Folder folder;
  const std::string path = folder / "log";
  Log log(server().clock, Log::Level::kWarning, path);
  server().server.log = &log;
  const std::string script = "for i = 1, 3e7 do end return 1";
  const std::string sha = Load(script);
  CHECK(Eval(script) == NoReply());
  SliceToEnd();
  client().Received();
  Run({"FUNCTION", "LOAD",
       "#!lua name=l\nredis.register_function('slow', function() for i = 1, 3e7 do end return 1 end)"});
  CHECK(Run({"FCALL", "slow", "0"}) == NoReply());
  SliceToEnd();
  server().server.log = nullptr;
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("a script has been running for ") != std::string::npos);
  CHECK(lines[0].ends_with(" ms: " + sha));
  CHECK(lines[1].ends_with(" ms: slow"));
}

TEST_CASE_METHOD(ScriptCacheTest, "errors within the reply of a long script count as a failed call") {
  SetOption("busy-reply-threshold", "1");
  for (const bool is_long : {false, true}) {
    CAPTURE(is_long);
    const std::string before = is_long ? "for i = 1, 3e7 do end " : "";
    for (const auto& [result, failed] : std::vector<std::pair<std::string, std::string>>{
             {"{1, {err = 'MINE x'}}", "1"}, {"{1, 2}", "0"}, {"{err = 'MINE x'}", "1"}}) {
      CAPTURE(result);
      Run({"CONFIG", "RESETSTAT"});
      if (Eval(before + "return " + result) == NoReply()) SliceToEnd();
      client().Received();
      CHECK(InfoField("cmdstat_eval").ends_with("failed_calls=" + failed));
      CHECK(InfoField("errorstat_MINE") == (failed == "1" ? "count=1" : ""));
      CHECK(InfoField("total_error_replies") == failed);
    }
  }
}

TEST_CASE_METHOD(ScriptCacheTest,
                 "a text longer than a client may hold ends the client, however long the script has run") {
  SetOption("busy-reply-threshold", "1");
  SetOption("client-output-buffer-limit", "normal 1mb 0 0");
  const std::string before = GENERATE("", "for i = 1, 3e7 do end ");
  if (Eval(before + "return string.rep('x', 2e7)") == NoReply()) SliceToEnd();
  CHECK_FALSE(client().session().MayRun());
  CHECK(stats().output_limit_disconnections == 1);
  CHECK(client().Received().empty());
  CHECK(Connect().Run({"EVAL", "return 1", "0"}) == Integer(1));
}

TEST_CASE_METHOD(ScriptCacheTest, "FUNCTION STATS tells no command for a function whose client has left") {
  SetOption("busy-reply-threshold", "1");
  Run({"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() while true do end end)"});
  {
    TestClient leaving(server());
    CHECK(leaving.Run({"FCALL", "f", "0"}) == NoReply());
  }
  const Reply stats = Run({"FUNCTION", "STATS"});
  REQUIRE(stats.elements.size() == 4);
  CHECK(stats.elements[0] == Bulk("running_script"));
  const std::vector<Reply>& running = stats.elements[1].elements;
  REQUIRE(running.size() == 6);
  CHECK(running[0] == Bulk("name"));
  CHECK(running[1] == Bulk("f"));
  CHECK(running[2] == Bulk("command"));
  CHECK(running[3] == Array({}));
  CHECK(running[4] == Bulk("duration_ms"));
  CHECK(running[5].integer >= 1);
  CHECK(stats.elements[2] == Bulk("engines"));
  CHECK(Run({"FUNCTION", "KILL"}) == Ok());
  SliceToEnd();
  CHECK(Run({"FUNCTION", "STATS"}).elements[1] == Null());
}

TEST_CASE_METHOD(
    ScriptCacheTest,
    "a function that was replaced in a queue by one that may not run without the master is refused") {
  const auto library = [](const std::string& flags) {
    return "#!lua name=l\nredis.register_function{function_name = 'f', callback = function() return 1 end, "
           "flags = {" +
           flags + "}}";
  };
  Run({"FUNCTION", "LOAD", library("'no-writes', 'allow-stale'")});
  Run({"MULTI"});
  CHECK(Run({"FCALL", "f", "0"}) == Simple("QUEUED"));
  Connect().Run({"FUNCTION", "LOAD", "REPLACE", library("'no-writes'")});
  server().server.modes |= BitOf(Mode::kNoMaster);
  const Reply reply = Run({"EXEC"});
  server().server.modes &= ~BitOf(Mode::kNoMaster);
  CHECK(reply ==
        Array({Error("MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' and "
                     "'allow-stale' flag is not set on the script.")}));
}

}  // namespace mayfly::testing
