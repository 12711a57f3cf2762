// The values of options that only Redis knows: what is refused, in which words, and what CONFIG GET answers.
#include "support/catch.h"
#include "unit/config/load.h"

namespace mayfly::config {
namespace {

// What CONFIG GET answers after this CONFIG SET, or the reason why it is refused.
std::string Set(const std::string& name, const std::string& value) {
  const TestFiles files;
  Loaded loaded(files, {});
  const std::string problem = loaded.Set({{name, value}});
  if (problem.empty()) return loaded.Get(name);
  const std::string beginning = "CONFIG SET failed (possibly related to argument '" + name + "') - ";
  CHECK(problem.starts_with(beginning));
  CHECK(loaded.Get(name) == FindOption(name)->default_text);
  return "refused: " + problem.substr(beginning.size());
}

// The same for an option that only a start can set.
std::string Start(const std::string& name, const std::string& value) {
  const TestFiles files;
  const Loaded loaded(files, {"--" + name, value});
  return loaded.error.empty() ? loaded.Get(name) : "refused: " + loaded.error;
}

}  // namespace

TEST_CASE("classes of keyspace events are answered once each, in Redis's order, and others are refused") {
  CHECK(Set("notify-keyspace-events", "KEA") == "AKE");
  CHECK(Set("notify-keyspace-events", "Kg$lshzxetd") == "AK");
  CHECK(Set("notify-keyspace-events", "elgK") == "gleK");
  CHECK(Set("notify-keyspace-events", "Axx") == "A");
  CHECK(Set("notify-keyspace-events", "mn") == "nm");
  CHECK(Set("notify-keyspace-events", "mnEA") == "AnEm");
  CHECK(Set("notify-keyspace-events", "") == "");
  for (const std::string& wrong : {std::string("garbage"), std::string("K E"), std::string("K\n"),
                                   std::string("K\0", 2), std::string("a")})
    CHECK(Set("notify-keyspace-events", wrong) ==
          "refused: Invalid event class character. Use 'Ag$lshzxeKEtmdn'.");
}

TEST_CASE("maxmemory-clients is bytes or a percentage of at most 100") {
  CHECK(Set("maxmemory-clients", "1gb") == "1073741824");
  CHECK(Set("maxmemory-clients", "5%") == "5%");
  CHECK(Set("maxmemory-clients", "100%") == "100%");
  CHECK(Set("maxmemory-clients", "0%") == "0");
  CHECK(Set("maxmemory-clients", "101%") == "refused: percentage argument must be less or equal to 100");
  for (const char* wrong : {"garbage", "", "%", "-5%", "-1", "5 %", "1.5%", "05%", "9223372036854775808"})
    CHECK(Set("maxmemory-clients", wrong) == "refused: argument must be a memory or percent value");
}

TEST_CASE("one of several names is taken in any case, and others are refused with the list") {
  CHECK(Set("appendfsync", "ALWAYS") == "always");
  CHECK(Set("appendfsync", "garbage") ==
        "refused: argument(s) must be one of the following: everysec, always, no");
  CHECK(Set("appendfsync", "") == "refused: argument(s) must be one of the following: everysec, always, no");
  CHECK(Set("appendfsync", "always no").starts_with("refused: "));
  CHECK(Set("oom-score-adj", "relative") == "yes");
  CHECK(Set("oom-score-adj", "relative=yes") ==
        "refused: argument(s) must be one of the following: no, yes, relative, absolute");
  CHECK(Start("supervised", "systemd") == "systemd");
  CHECK(Start("supervised", "garbage") ==
        "refused: --supervised: argument(s) must be one of the following: upstart, systemd, auto, no");
}

TEST_CASE("flags of a shutdown are answered in Redis's order, and default goes when another one comes") {
  CHECK(Set("shutdown-on-sigterm", "default default") == "default");
  CHECK(Set("shutdown-on-sigterm", "FORCE now default") == "now force");
  CHECK(Set("shutdown-on-sigint", "save now") == "save now");
  CHECK(Set("shutdown-on-sigint", "nosave now save") ==
        "refused: shutdown options SAVE and NOSAVE can't be used simultaneously");
  for (const char* wrong : {"", " ", "save  now", "save ", "save\tnow", "garbage", "now\nport 1"})
    CHECK(Set("shutdown-on-sigint", wrong) ==
          "refused: argument(s) must be one of the following: default, save, nosave, now, force");
}

TEST_CASE("save points are pairs of numbers, with one space between two of them") {
  CHECK(Set("save", "900 1 300 10") == "900 1 300 10");
  CHECK(Set("save", "900 1 900 1") == "900 1 900 1");
  CHECK(Set("save", "+1 00") == "1 0");
  CHECK(Set("save", "9223372036854775807 9223372036854775807") == "9223372036854775807 9223372036854775807");
  CHECK(Set("save", "") == "");
  for (const char* wrong :
       {"garbage", " ", "900", "900  1", "0 1", "1 -1", "+-1 1", "1 x", "1 ", "900 1 300", "900 1\n",
        "900 1 ", "1.5 1", "0x1 1", "9223372036854775808 1", "1 9223372036854775808"})
    CHECK(Set("save", wrong) == "refused: Invalid save parameters");
}

TEST_CASE("lines with save points add up, also those of the command line, until an empty one") {
  TestFiles files;
  const auto started = [&files](const std::string& text, std::vector<std::string> words = {}) {
    files.Put("/a.conf", text);
    words.insert(words.begin(), "/a.conf");
    const Loaded loaded(files, words);
    CHECK(loaded.error == "");
    CHECK(loaded.warnings.empty());
    return loaded.Get("save");
  };
  CHECK(started("save 1 2\nsave 3 4 5 6\nsave \"7 8\"\n") == "1 2 3 4 5 6 7 8");
  CHECK(started("save 1 2\nsave \"\"\nsave 5 6\n") == "5 6");
  CHECK(started("save 1 2\nsave \"\"\n") == "");
  CHECK(started("save 1 2\n", {"--save", "7", "8", "--save", "9 10"}) == "1 2 7 8 9 10");
  CHECK(started("save 1 2\n", {"--save", "7", "8", "--save", ""}) == "");
}

TEST_CASE("CONFIG SET of save points replaces all earlier ones, and a rewrite their lines") {
  TestFiles files;
  files.Put("/a.conf", "save 1 2\nsave 3 4\nsave \"\"\nsave 5 6\n");
  Loaded loaded(files, {"/a.conf"});
  CHECK(loaded.Set({{"save", "900 1 300 10"}}) == "");
  CHECK(loaded.Get("save") == "900 1 300 10");
  CHECK_FALSE(loaded.options.Rewrite());
  CHECK(files.Text("/a.conf") == "save 900 1 300 10\n");
  CHECK(loaded.Set({{"save", ""}}) == "");
  CHECK_FALSE(loaded.options.Rewrite());
  CHECK(files.Text("/a.conf") == "save \"\"\n");
}

TEST_CASE("scores of the out-of-memory killer are three numbers from -2000 to 2000") {
  CHECK(Set("oom-score-adj-values", "-2000 0 2000") == "-2000 0 2000");
  for (const char* wrong : {"", "1 2", "1 2 3 4", "1  2"})
    CHECK(Set("oom-score-adj-values", wrong).starts_with("refused: "));
  for (const char* wrong : {"-2001 0 0", "0 0 2001", "a b c", "1 2 3\n", "1 2 ", "1 2 3\nport"})
    CHECK(Set("oom-score-adj-values", wrong) ==
          "refused: Invalid oom-score-adj-values, elements must be between -2000 and 2000.");
}

TEST_CASE("names of files hold no path") {
  CHECK(Start("appendfilename", "a.aof") == "a.aof");
  CHECK(Start("appendfilename", "") == "refused: --appendfilename: appendfilename can't be empty");
  CHECK(Start("appendfilename", "a/b") ==
        "refused: --appendfilename: appendfilename can't be a path, just a filename");
  CHECK(Start("appenddirname", "a\\b") ==
        "refused: --appenddirname: appenddirname can't be a path, just a dirname");
  CHECK(Start("dbfilename", "") == "");
  CHECK(Start("dbfilename", "/x") == "refused: --dbfilename: dbfilename can't be a path, just a filename");
}

TEST_CASE("a template of the process title holds variables that Redis knows") {
  CHECK(Set("proc-title-template", "{config-file} x} {port}") == "{config-file} x} {port}");
  for (const char* wrong : {"", " ", "{", "a{title", "{}", "{ title}", "{TITLE}", "{title} {nosuch}"})
    CHECK(Set("proc-title-template", wrong) ==
          "refused: template format is invalid or contains unknown variables");
}

TEST_CASE("numbers are refused beyond the limits that Redis has for them") {
  CHECK(Set("active-expire-effort", "10") == "10");
  CHECK(Set("active-expire-effort", "11") == "refused: argument must be between 1 and 10 inclusive");
  CHECK(Set("slowlog-log-slower-than", "-1") == "-1");
  CHECK(Set("slowlog-log-slower-than", "-2") ==
        "refused: argument must be between -1 and 9223372036854775807 inclusive");
  CHECK(Set("list-max-listpack-size", "-2147483649") ==
        "refused: argument must be between -2147483648 and 2147483647 inclusive");
  CHECK(Set("cluster-node-timeout", "-1") ==
        "refused: argument must be between 0 and 9223372036854775807 inclusive");
  CHECK(Start("io-threads", "128") == "128");
  CHECK(Start("io-threads", "129") == "refused: --io-threads: argument must be between 1 and 128 inclusive");
}

}  // namespace mayfly::config
