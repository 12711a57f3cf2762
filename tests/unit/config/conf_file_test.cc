#include "config/sources/conf_file.h"

#include <algorithm>
#include <random>

#include "support/catch.h"
#include "unit/config/load.h"

namespace mayfly::config {
namespace {

// The error of starting with this text as the conf file "a.conf".
std::string ErrorOf(const std::string& text) {
  TestFiles files;
  files.Put("a.conf", text);
  return Loaded(files, {"a.conf"}).error;
}

int64_t PortOf(const std::string& text) {
  TestFiles files;
  files.Put("a.conf", text);
  const Loaded loaded(files, {"a.conf"});
  CHECK(loaded.error == "");
  return loaded.options.settings().port;
}

}  // namespace

TEST_CASE("a conf file sets options line by line, and the last line wins") {
  TestFiles files;
  files.Put("a.conf",
            "# a comment\n\n  PORT 7000  \nport 7001\nrequirepass \"two words\"\n"
            "maxmemory 100mb\nmaxmemory-policy allkeys-lru\nbind 127.0.0.1 -::1");
  const Loaded loaded(files, {"a.conf"});
  CHECK(loaded.error == "");
  const Settings& settings = loaded.options.settings();
  CHECK(settings.port == 7001);
  CHECK(settings.requirepass == "two words");
  CHECK(settings.maxmemory.bytes == 100 << 20);
  CHECK(settings.maxmemory_policy == EvictionPolicy::kAllKeysLru);
  CHECK(settings.bind == std::vector<BindAddress>{{"127.0.0.1", false}, {"::1", true}});
}

TEST_CASE("CRLF line ends, a byte order mark and a missing last line end are accepted") {
  CHECK(PortOf("port 7000\r\n\r\n# x\r\nport 7001\r\n") == 7001);
  CHECK(PortOf("\xEF\xBB\xBFport 7000\n") == 7000);
  CHECK(PortOf("port 7000") == 7000);
  CHECK(PortOf("") == 6379);
  CHECK(PortOf("\xEF\xBB\xBF") == 6379);
}

TEST_CASE("a wrong line is reported with its file and line number, in one line of text") {
  CHECK(ErrorOf("port 1\nfoo bar\n") == "a.conf:2: unknown option 'foo'");
  CHECK(ErrorOf("port 70000") == "a.conf:1: port: argument must be between 0 and 65535 inclusive");
  CHECK(ErrorOf("port abc") == "a.conf:1: port: argument couldn't be parsed into an integer");
  CHECK(ErrorOf("port") == "a.conf:1: port: wrong number of arguments");
  CHECK(ErrorOf("port 1 2") == "a.conf:1: port: wrong number of arguments");
  CHECK(ErrorOf("port 7000 # here") == "a.conf:1: port: wrong number of arguments");
  CHECK(ErrorOf("port \"7000") == "a.conf:1: unbalanced quotes");
  CHECK(ErrorOf("\n\nprotected-mode maybe") == "a.conf:3: protected-mode: argument must be 'yes' or 'no'");
  CHECK(ErrorOf("\"\" x") == "a.conf:1: unknown option ''");
  CHECK(ErrorOf("f\x01o x") == "a.conf:1: unknown option 'f\\x01o'");
  CHECK(ErrorOf("include") == "a.conf:1: include: wrong number of arguments");
  CHECK(ErrorOf("hz abc") == "a.conf:1: hz: argument couldn't be parsed into an integer");
}

TEST_CASE("a zero byte is reported and not read as part of an option") {
  CHECK(ErrorOf(std::string("port 1\nport\0 2\n", 15)) == "a.conf:2: a zero byte; is this a text file?");
  CHECK(ErrorOf(std::string("\xFF\xFEp\0o\0", 6)).find("zero byte") != std::string::npos);
}

TEST_CASE("a line may be as long as its file") {
  const std::string secret(1'000'000, 'x');
  TestFiles files;
  files.Put("a.conf", "# " + secret + "\nrequirepass " + secret + "\nport 1\n");
  const Loaded loaded(files, {"a.conf"});
  CHECK(loaded.error == "");
  CHECK((loaded.options.settings().requirepass == secret));
  CHECK(loaded.options.settings().port == 1);
}

TEST_CASE("an error in the line of a secret does not show the secret") {
  CHECK(ErrorOf("requirepass hush hush") == "a.conf:1: requirepass: wrong number of arguments");
}

TEST_CASE("include reads another file in its place, and a pattern reads every matching file in order") {
  TestFiles files;
  files.Put("a.conf", "port 1\ninclude b.conf\ninclude conf.d/*.conf\ninclude none/*\n");
  files.Put("b.conf", "port 2\ntimeout 5\n");
  files.Put("conf.d/1.conf", "port 3\n");
  files.Put("conf.d/2.conf", "port 4\n");
  const Loaded loaded(files, {"a.conf"});
  CHECK(loaded.error == "");
  CHECK(loaded.options.settings().port == 4);
  CHECK(loaded.options.settings().timeout_seconds == 5);
}

TEST_CASE(
    "an error in an included file names that file, and a missing file is reported with the include line") {
  TestFiles files;
  files.Put("a.conf", "port 1\ninclude b.conf\n");
  CHECK(Loaded(files, {"a.conf"}).error == "a.conf:2: include b.conf: No such file or directory");
  files.Put("b.conf", "\nport x\n");
  CHECK(Loaded(files, {"a.conf"}).error == "b.conf:2: port: argument couldn't be parsed into an integer");
  CHECK(Loaded(files, {"z.conf"}).error == "z.conf: No such file or directory");
}

TEST_CASE("files that include themselves or each other are reported in one clear line") {
  TestFiles files;
  files.Put("a.conf", "include a.conf\n");
  CHECK(Loaded(files, {"a.conf"}).error ==
        "a.conf:1: include a.conf: too many includes; does a file include itself?");
  files.Put("b.conf", "include c.conf\n");
  files.Put("c.conf", "include b.conf\n");
  CHECK(Loaded(files, {"b.conf"}).error.ends_with("does a file include itself?"));
  files.Put("d/1.conf", "include d/*.conf\n");
  files.Put("d/2.conf", "include d/*.conf\n");
  CHECK(Loaded(files, {"d/1.conf"}).error.ends_with("does a file include itself?"));
}

TEST_CASE("256 files may be included, one more may not") {
  TestFiles files;
  for (size_t i = 0; i < kIncludedFilesMax - 1; ++i) files.Put("d/" + std::to_string(i), "timeout 1\n");
  files.Put("a.conf", "include d/*\n");
  CHECK(Loaded(files, {"a.conf"}).error == "");
  files.Put("d/more", "timeout 1\n");
  CHECK(Loaded(files, {"a.conf"}).error.ends_with("does a file include itself?"));
}

TEST_CASE("random bytes as a conf file are read or fail with one printable line") {
  constexpr unsigned kSeed = 20240601;
  CAPTURE(kSeed);
  std::mt19937 random(kSeed);
  const std::string pieces[] = {"port ",
                                "bind ",
                                "\"",
                                "'",
                                "\\x",
                                "\n",
                                "\r\n",
                                "include ",
                                "*",
                                "#",
                                "save ",
                                "yes",
                                "1",
                                "100mb",
                                "-",
                                "%",
                                "auto",
                                " ",
                                "user ",
                                "dir ./",
                                "maxmemory ",
                                "a.conf",
                                "tls-port ",
                                "normal 0 0 0 ",
                                "client-output-buffer-limit "};
  const auto make_text = [&](size_t pieces_max) {
    std::string text;
    for (size_t left = random() % pieces_max; left > 0; --left) {
      if (random() % 4 == 0) {
        text += static_cast<char>(random());
      } else {
        text += pieces[random() % std::size(pieces)];
      }
    }
    return text;
  };
  const auto is_printable = [](const std::string& line) {
    return std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; });
  };
  for (int round = 0; round < 5000; ++round) {
    TestFiles files;
    files.Put("a.conf", make_text(40));
    std::vector<Directive> directives;
    CHECK(is_printable(ConfFileReader(files.files()).Read("a.conf", directives).value_or("")));
  }
  for (int round = 0; round < 50; ++round) {
    const std::string text = make_text(8);
    CAPTURE(text);
    CHECK(is_printable(ErrorOf(text)));
  }
}

}  // namespace mayfly::config
