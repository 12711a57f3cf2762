#include "support/catch.h"
#include "unit/config/load.h"

namespace mayfly::config {
namespace {

// The text of a.conf after these CONFIG SETs and a CONFIG REWRITE, if it was `text` before.
std::string Rewritten(const std::string& text, const std::vector<NameValue>& changes) {
  TestFiles files;
  files.Put("/a.conf", text);
  files.Put("/b.conf", "timeout 7\n");
  Loaded loaded(files, {"/a.conf"});
  REQUIRE(loaded.error == "");
  for (const NameValue& change : changes) REQUIRE(loaded.Set({change}) == "");
  CHECK(loaded.options.Rewrite().value_or("") == "");
  // A start from this file has the values that were in force.
  const Loaded again(files, {"/a.conf"});
  CHECK(again.error == "");
  CHECK(again.options.settings() == loaded.options.settings());
  return files.Text("/a.conf");
}

TEST_CASE("an option that the file names is changed where it stands, and the rest stays") {
  CHECK(Rewritten("# first\n\nmaxclients 5\n  TIMEOUT 3  \n# last\n", {{"timeout", "9"}}) ==
        "# first\n\nmaxclients 5\ntimeout 9\n# last\n");
  CHECK(Rewritten("timeout 3\nmaxclients 5\ntimeout 4\n", {{"timeout", "9"}}) == "maxclients 5\ntimeout 9\n");
}

TEST_CASE("a byte order mark stays before the first line") {
  CHECK(Rewritten("\xEF\xBB\xBFtimeout 3\nmaxclients 5\n", {{"timeout", "9"}}) ==
        "\xEF\xBB\xBFtimeout 9\nmaxclients 5\n");
}

TEST_CASE("an option that the file does not name is added at the end") {
  CHECK(Rewritten("maxclients 5", {{"timeout", "9"}, {"maxkeys", "3"}}) ==
        "maxclients 5\n\n# Written by CONFIG REWRITE\nmaxkeys 3\ntimeout 9\n");
  CHECK(Rewritten("\n# Written by CONFIG REWRITE\nmaxkeys 3\n", {{"timeout", "9"}}) ==
        "\n# Written by CONFIG REWRITE\nmaxkeys 3\ntimeout 9\n");
}

TEST_CASE("an option that a later include would override is added at the end, and no other is moved") {
  CHECK(Rewritten("timeout 3\ninclude /b.conf\n", {{"timeout", "9"}}) ==
        "include /b.conf\n\n# Written by CONFIG REWRITE\ntimeout 9\n");
  CHECK(Rewritten("include /b.conf\ntimeout 3\n", {{"timeout", "9"}}) == "include /b.conf\ntimeout 9\n");
  CHECK(Rewritten("maxkeys 3\ninclude /b.conf\n", {{"maxkeys", "9"}}) == "maxkeys 9\ninclude /b.conf\n");
  CHECK(Rewritten("include /b.conf\nmaxkeys 3\ninclude /b.conf\n", {{"maxkeys", "9"}}) ==
        "include /b.conf\nmaxkeys 9\ninclude /b.conf\n");
}

TEST_CASE("a file that has the values in force already is not written") {
  TestFiles files;
  files.Put("/a.conf", "timeout 3\r\n");
  Loaded loaded(files, {"/a.conf"});
  for (const char* seconds : {"9", "3"}) REQUIRE(loaded.Set({{"timeout", seconds}}) == "");
  REQUIRE(loaded.Set({{"maxkeys", "0"}}) == "");
  CHECK(loaded.options.Rewrite().value_or("") == "");
  CHECK(files.writes() == 0);
  REQUIRE(loaded.Set({{"timeout", "9"}}) == "");
  CHECK(loaded.options.Rewrite().value_or("") == "");
  CHECK(files.writes() == 1);
  CHECK(files.Text("/a.conf") == "timeout 9\n");
}

TEST_CASE("an option that only Redis has is written like others") {
  CHECK(Rewritten("# mine\n", {{"appendfsync", "everysec"}}) == "# mine\n");
  CHECK(Rewritten("appendfsync no\n", {{"appendfsync", "everysec"}}) == "appendfsync everysec\n");
  CHECK(Rewritten("", {{"appendfsync", "always"}}) == "# Written by CONFIG REWRITE\nappendfsync always\n");
}

TEST_CASE("users come in the place of all lines that the file has for users, unless these say the same") {
  const auto rewritten = [](const std::string& text, const std::vector<std::string>& users) {
    TestFiles files;
    files.Put("/a.conf", text);
    Loaded loaded(files, {"/a.conf"});
    REQUIRE(loaded.error == "");
    CHECK(loaded.options.Rewrite(users).value_or("") == "");
    return files.Text("/a.conf") + (files.writes() == 0 ? " (not written)" : "");
  };
  CHECK(rewritten("user a on\nport 1\nuser b off\n# last\n", {"b on \"~x'\"", "c off"}) ==
        "port 1\nuser b on \"~x'\"\nuser c off\n# last\n");
  CHECK(rewritten("port 1\n", {"a on"}) == "port 1\n\n# Written by CONFIG REWRITE\nuser a on\n");
  CHECK(rewritten("user a on\nport 1\n", {}) == "port 1\n");
  CHECK(rewritten("user \"\"\n", {}) == "user \"\"\n (not written)");
  CHECK(rewritten("USER a  on\n", {"a on"}) == "USER a  on\n (not written)");
}

TEST_CASE("a list that an included file begins is emptied before its line") {
  TestFiles files;
  files.Put("/a.conf", "ttl-rule z max 1\ninclude /b.conf\n");
  files.Put("/b.conf", "ttl-rule b max 5\n");
  Loaded loaded(files, {"/a.conf"});
  const auto set = [&](const std::string& rules) {
    REQUIRE(loaded.Set({{"ttl-rule", rules}}) == "");
    REQUIRE(loaded.options.Rewrite().value_or("") == "");
    CHECK(Loaded(files, {"/a.conf"}).Get("ttl-rule") == loaded.Get("ttl-rule"));
    return files.Text("/a.conf");
  };
  const std::string head = "include /b.conf\n\n# Written by CONFIG REWRITE\nttl-rule \"\"\n";
  CHECK(set("c max 9") == head + "ttl-rule c max 9\n");
  CHECK(set("d max 9") == head + "ttl-rule d max 9\n");
  CHECK(set("") == head + "ttl-rule \"\"\n");
}

TEST_CASE("users of included files and of the command line are told apart from those of the conf file") {
  TestFiles files;
  files.Put("/a.conf", "user a on\ninclude /b.conf\nuser c on\n");
  files.Put("/b.conf", "user b on ~x\n");
  files.Put("/d.conf", "user d on\n");
  const Loaded loaded(files, {"/a.conf", "--include", "/d.conf", "--user", "e on"});
  REQUIRE(loaded.error == "");
  std::vector<UserLine> users;
  CHECK(loaded.options.UsersElsewhere(users).value_or("") == "");
  CHECK(users == std::vector<UserLine>{{"b", {"on", "~x"}}, {"d", {"on"}}, {"e", {"on"}}});
  std::vector<std::string> places;
  for (const UserLine& user : users) places.push_back(user.blame);
  CHECK(places == std::vector<std::string>{"/b.conf:1", "/d.conf:1", "--user"});
  CHECK(loaded.options.Rewrite({"c on"}).value_or("") == "");
  CHECK(files.Text("/a.conf") == "include /b.conf\nuser c on\n");
}

TEST_CASE("a user has one line, and its words are kept") {
  TestFiles files;
  files.Put("/a.conf", "user a on >x '~a b'\nuser b\n");
  const Loaded loaded(files, {"/a.conf"});
  const std::vector<UserLine>& users = loaded.options.settings().users;
  REQUIRE(users.size() == 2);
  CHECK(users[0] == UserLine{"a", {"on", ">x", "~a b"}});
  CHECK(users[0].blame == "/a.conf:1: user");
  files.Put("/a.conf", "user a on\nuser a off\n");
  CHECK(Loaded(files, {"/a.conf"}).error ==
        "/a.conf:2: user: Duplicate user found. A user can only be defined once in config files");
  CHECK(Loaded(files, {}, {"MAYFLY_USER=somebody"}).options.settings().users.empty());
}

TEST_CASE("values of any kind are written so that they are read back") {
  CHECK(Rewritten("requirepass x\n", {{"requirepass", "a \"b\"\n\xff"}}) ==
        "requirepass \"a \\\"b\\\"\\x0a\\xff\"\n");
  CHECK(Rewritten("requirepass x\n", {{"requirepass", ""}}) == "requirepass \"\"\n");
  CHECK(Rewritten("maxmemory 1gb\n", {{"maxmemory", "40%"}}) == "maxmemory 40%\n");
  CHECK(Rewritten("maxmemory 1gb\n", {{"maxmemory", "auto"}}) == "maxmemory auto\n");
  CHECK(Rewritten("latency-tracking-info-percentiles 1\n", {{"latency-tracking-info-percentiles", ""}}) ==
        "latency-tracking-info-percentiles \"\"\n");
  CHECK(Rewritten("client-output-buffer-limit normal 1 0 0\nclient-output-buffer-limit pubsub 2 0 0\n",
                  {{"client-output-buffer-limit", "normal 3 0 0"}})
            .starts_with("client-output-buffer-limit normal 3 0 0 slave "));
  CHECK(Rewritten("save 1 2\n", {{"save", ""}}) == "save \"\"\n");
}

TEST_CASE("values from the command line and the environment are not written") {
  TestFiles files;
  files.Put("/a.conf", "maxclients 5\n");
  Loaded loaded(files, {"/a.conf", "--timeout", "3"}, {"MAYFLY_REQUIREPASS=hush"});
  REQUIRE(loaded.error == "");
  CHECK(loaded.Set({{"maxkeys", "1"}}) == "");
  CHECK_FALSE(loaded.options.Rewrite());
  CHECK(files.Text("/a.conf") == "maxclients 5\n\n# Written by CONFIG REWRITE\nmaxkeys 1\n");
}

TEST_CASE("a maxclients that was lowered to what the system allows stays in the file as it was wanted") {
  TestFiles files;
  files.Put("/a.conf", "maxclients 20000\n");
  Loaded loaded(files, {"/a.conf"});
  loaded.options.LowerMaxClients(32);
  CHECK(loaded.Get("maxclients") == "32");
  CHECK(loaded.Set({{"maxkeys", "1"}}) == "");
  CHECK_FALSE(loaded.options.Rewrite());
  CHECK(files.Text("/a.conf") == "maxclients 20000\n\n# Written by CONFIG REWRITE\nmaxkeys 1\n");
  CHECK(loaded.Set({{"maxclients", "16"}}) == "");
  CHECK_FALSE(loaded.options.Rewrite());
  CHECK(files.Text("/a.conf").starts_with("maxclients 16\n"));
}

TEST_CASE("a rewrite fails if there is no conf file or if it cannot be written") {
  TestFiles files;
  files.Put("/a.conf", "");
  files.Put("-", "timeout 3\n");
  const std::string without = "The server is running without a config file";
  CHECK(Loaded(files, {}).options.Rewrite() == without);
  CHECK(Loaded(files, {"-"}).options.Rewrite() == without);
  Loaded loaded(files, {"/a.conf"});
  CHECK(loaded.options.conf_file() == "/a.conf");
  files.RefuseWrites();
  REQUIRE(loaded.Set({{"timeout", "9"}}) == "");
  CHECK(loaded.options.Rewrite() == "Rewriting config file: /a.conf: Permission denied");
}

TEST_CASE("a pipe is not rewritten, nor read again as an included file") {
  TestFiles files;
  files.PutPipe("/pipe", "timeout 3\n");
  files.Put("/a.conf", "include /pipe\n");
  Loaded from_pipe(files, {"/pipe"});
  REQUIRE(from_pipe.Set({{"timeout", "9"}}) == "");
  CHECK(from_pipe.options.Rewrite() == "Rewriting config file: /pipe: is not a regular file");
  Loaded including(files, {"/a.conf"});
  REQUIRE(including.Set({{"timeout", "9"}}) == "");
  CHECK(including.options.Rewrite() ==
        "Rewriting config file: /a.conf:1: include /pipe: is not a regular file");
}

TEST_CASE("rename-command takes pairs, from the file and from the command line") {
  TestFiles files;
  files.Put("/a.conf", "rename-command FLUSHALL \"\"\nrename-command CONFIG secret\n");
  const Loaded loaded(files, {"/a.conf", "--rename-command", "KEYS", ""});
  CHECK(loaded.error == "");
  CHECK(loaded.options.settings().renamings ==
        std::vector<Renaming>{{"FLUSHALL", ""}, {"CONFIG", "secret"}, {"KEYS", ""}});
  CHECK(Loaded(files, {"--rename-command", "KEYS"}).error == "--rename-command: wrong number of arguments");
}

}  // namespace
}  // namespace mayfly::config
