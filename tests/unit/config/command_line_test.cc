#include "config/sources/command_line.h"

#include "support/catch.h"
#include "unit/config/load.h"

namespace mayfly::config {
namespace {

std::string ErrorOf(const std::vector<std::string>& words) {
  const TestFiles files;
  return Loaded(files, words).error;
}

}  // namespace

TEST_CASE("flags have the names of the options in a conf file") {
  const TestFiles files;
  const Loaded loaded(files,
                      {"--port", "7000", "--maxmemory", "100mb", "--requirepass", "foo", "--timeout=9"});
  CHECK(loaded.error == "");
  CHECK(loaded.options.settings().port == 7000);
  CHECK(loaded.options.settings().maxmemory.bytes == 100 << 20);
  CHECK(loaded.options.settings().requirepass == "foo");
  CHECK(loaded.options.settings().timeout_seconds == 9);
}

TEST_CASE("the name of an option without its dashes gets a hint") {
  CHECK(ErrorOf({"port", "6380"}) == "unexpected argument '6380', did you mean '--port'?");
  CHECK(ErrorOf({"maxmemroy", "1gb"}) == "unexpected argument '1gb', did you mean '--maxmemory'?");
  CHECK(ErrorOf({"my.conf", "hz", "10"}) == "unexpected argument 'hz', did you mean '--hz'?");
  CHECK(ErrorOf({"-port", "6380"}) == "unknown flag '-port', did you mean '--port'?");
  CHECK(ErrorOf({"port"}) == "port: No such file or directory, did you mean '--port'?");
  CHECK(ErrorOf({"my.conf", "more.conf"}) == "unexpected argument 'more.conf'");
  CHECK(ErrorOf({"./port"}) == "./port: No such file or directory");
}

TEST_CASE("a flag takes every word up to the next flag, also one that begins with a dash") {
  const TestFiles files;
  const std::vector<BindAddress> both{{"127.0.0.1", false}, {"::1", true}};
  CHECK(Loaded(files, {"--bind", "127.0.0.1", "-::1"}).options.settings().bind == both);
  CHECK(Loaded(files, {"--bind", "127.0.0.1 -::1"}).options.settings().bind == both);
  CHECK(Loaded(files, {"--bind=127.0.0.1", "-::1", "--port", "1"}).options.settings().bind == both);
  CHECK(Loaded(files, {"--bind", "-::1"}).options.settings().bind == std::vector<BindAddress>{{"::1", true}});
  CHECK(Loaded(files, {"--bind", ""}).options.settings().bind.empty());
  CHECK(Loaded(files, {"--save", ""}).error == "");
  CHECK(Loaded(files, {"--save", "900", "1", "--port", "1"}).error == "");
  CHECK(Loaded(files, {"--list-max-listpack-size", "-3"}).Get("list-max-listpack-size") == "-3");
}

TEST_CASE("a value that looks like a flag or holds odd bytes is kept as it is") {
  const TestFiles files;
  for (const std::string& secret :
       {std::string("--port"), std::string("a=b"), std::string("[a,b]"), std::string("{}"),
        std::string("\"q\" '\\"), std::string(" "), std::string("%%"), std::string("\xFF\n\t")}) {
    CHECK(Loaded(files, {"--requirepass=" + secret, "--port", "1"}).options.settings().requirepass == secret);
    if (secret[0] != '-')
      CHECK(Loaded(files, {"--requirepass", secret}).options.settings().requirepass == secret);
  }
}

TEST_CASE("a flag given twice: the last one wins, and buffer limits of different classes add up") {
  const TestFiles files;
  CHECK(Loaded(files, {"--port", "1", "--timeout", "3", "--port", "2"}).options.settings().port == 2);
  CHECK(Loaded(files, {"--bind", "a", "b", "--bind", "c"}).Get("bind") == "c");
  const Loaded limits(files, {"--client-output-buffer-limit", "normal", "1", "2", "3",
                              "--client-output-buffer-limit", "pubsub 4 5 6"});
  CHECK(limits.Get("client-output-buffer-limit") == "normal 1 2 3 slave 268435456 67108864 60 pubsub 4 5 6");
}

TEST_CASE("older names and names in upper case are flags as well") {
  const TestFiles files;
  CHECK(Loaded(files, {"--PORT", "7000"}).options.settings().port == 7000);
  CHECK(Loaded(files, {"--slave-priority", "7"}).Get("replica-priority") == "7");
  CHECK(Loaded(files, {"--lua-time-limit", "7", "--busy-reply-threshold", "8"}).Get("lua-time-limit") == "8");
}

TEST_CASE("the first word without dashes is the conf file, and a dash is standard input") {
  TestFiles files;
  files.Put("a.conf", "port 1\ntimeout 2\n");
  files.Put("-", "port 3\nfoo\n");
  const Loaded loaded(files, {"a.conf", "--port", "9"});
  CHECK(loaded.options.settings().port == 9);
  CHECK(loaded.options.settings().timeout_seconds == 2);
  CHECK(Loaded(files, {"-", "--port", "9"}).error == "standard input:2: unknown option 'foo'");
}

TEST_CASE("an include flag is read before the other flags") {
  TestFiles files;
  files.Put("a.conf", "port 1\ntimeout 2\n");
  const Loaded loaded(files, {"--port", "9", "--include", "a.conf"});
  CHECK(loaded.options.settings().port == 9);
  CHECK(loaded.options.settings().timeout_seconds == 2);
  CHECK(ErrorOf({"--include", "b.conf"}) == "--include: include b.conf: No such file or directory");
}

TEST_CASE("a mistake on the command line is reported in one clear line") {
  CHECK(ErrorOf({"--foo", "1"}) == "unknown flag '--foo'");
  CHECK(ErrorOf({"--foo=secret"}) == "unknown flag '--foo'");
  CHECK(ErrorOf({"-x"}) == "unknown flag '-x'");
  CHECK(ErrorOf({"--"}) == "unknown flag '--'");
  CHECK(ErrorOf({"--=x"}) == "unknown flag '--'");
  CHECK(ErrorOf({"--\n"}) == "unknown flag '--\\x0a'");
  CHECK(ErrorOf({"a.conf", "b.conf"}) == "unexpected argument 'b.conf'");
  CHECK(ErrorOf({""}) == ": No such file or directory");
  CHECK(ErrorOf({"--port"}) == "--port: wrong number of arguments");
  CHECK(ErrorOf({"--port", "1", "2"}) == "--port: wrong number of arguments");
  CHECK(ErrorOf({"--port", "x"}) == "--port: argument couldn't be parsed into an integer");
  CHECK(ErrorOf({"--port", ""}) == "--port: argument couldn't be parsed into an integer");
  CHECK(ErrorOf({"--requirepass"}) == "--requirepass: wrong number of arguments");
  CHECK(ErrorOf({"--maxmemory-policy", "allkeys-fifo"}) ==
        "--maxmemory-policy: argument(s) must be one of the following: volatile-lru, volatile-lfu, "
        "volatile-random, volatile-ttl, volatile-s3fifo, allkeys-lru, allkeys-lfu, allkeys-random, "
        "allkeys-sieve, "
        "allkeys-s3fifo, noeviction");
}

TEST_CASE("--help and --version take no value") {
  const TestFiles files;
  CHECK(Loaded(files, {"--version", "extra"}).error == "--version takes no value");
  CHECK(Loaded(files, {"--version=2"}).error == "--version takes no value");
  CHECK(Loaded(files, {"--port", "1", "--help", "extra"}).error == "--help takes no value");
  CHECK(Loaded(files, {"-v", "extra"}).error == "unexpected argument 'extra'");
}

TEST_CASE("--help lists every option, and --version prints the version") {
  const TestFiles files;
  for (const char* flag : {"--help", "-h"}) {
    const std::string help = Loaded(files, {flag}).answer;
    for (const Option& option : MayflyOptions())
      CHECK(help.find("--" + std::string(option.name)) != std::string::npos);
    CHECK(help.find("--appendfsync") == std::string::npos);
  }
  for (const char* flag : {"--version", "-v"})
    CHECK(Loaded(files, {flag}).answer == "Mayfly server v=" MAYFLY_VERSION "\n");
  CHECK(Loaded(files, {"--port", "1", "--version"}).answer != "");
}

}  // namespace mayfly::config
