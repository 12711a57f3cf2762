// What rules mean for calls that really run, for clients that are there, and for files that are wrong.
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/log/log.h"
#include "base/text/glob.h"
#include "commands/acl/acl_world.h"
#include "exec/acl/user_store.h"
#include "server/acl/users.h"
#include "support/command_test.h"
#include "support/folder.h"

namespace mayfly::testing {
namespace {

class RulesTest : public AclWorld {
 public:
  std::string KeysOf(const std::string& name) { return Run({"ACL", "GETUSER", name}).elements.at(7).text; }
  std::string Figure(const std::string& name) {
    const std::string info = Run({"INFO", "stats"}).text;
    const size_t begin = info.find("\n" + name + ":") + name.size() + 2;
    return info.substr(begin, info.find('\r', begin) - begin);
  }
  // The lines of the log that say this.
  size_t Logged(const std::string& text) {
    std::ifstream file(folder_ / "log");
    size_t count = 0;
    for (std::string line; std::getline(file, line);) count += line.find(text) != std::string::npos ? 1 : 0;
    return count;
  }
  void WriteLog() { server().server.log = &log_; }
  ~RulesTest() { server().server.log = nullptr; }

 private:
  Folder folder_;
  Log log_{server().clock, Log::Level::kNotice, folder_ / "log"};
};

class RulesFileTest : public RulesTest {
 public:
  RulesFileTest() {
    server().files.read_again = [this](const std::string&, std::string& read) -> config::Problem {
      read = text;
      return std::nullopt;
    };
    StartWith("aclfile", "/users.acl");
  }
  std::string text;
};

// The fields of an entry of ACL LOG.
std::string FieldOf(const Reply& entry, const std::string& field) {
  for (size_t i = 0; i + 1 < entry.elements.size(); i += 2) {
    const Reply& value = entry.elements[i + 1];
    if (entry.elements[i].text == field)
      return value.kind == Reply::Kind::kInteger ? std::to_string(value.integer) : value.text;
  }
  return "(none)";
}

}  // namespace

// ---- keys

TEST_CASE_METHOD(RulesTest, "a key may be used if a pattern matches it, whichever way the request takes") {
  const std::vector<std::string> patterns = {"a*", "a",    "*a", "a?*", "[ab]*", "a\\*", "a\\**", "**",
                                             "?*", "a*b*", "",   "*",   "a\\",   "A*",   "a[*",   "\\a*"};
  const std::vector<std::string> keys = {"",   "a",  "b",   "ab",  "a*",  "a*b", "ba", "A",
                                         "AB", "[a", "a[b", "abc", "a\\", "aXb", "*",  "\\a"};
  const std::string access = GENERATE("~", "%R~", "%W~", "%RW~");
  for (const std::string& pattern : patterns) {
    if (pattern == "*" && access == "~") continue;  // all keys
    REQUIRE(SetUser("app", {"reset", "on", "nopass", "+@all", access + pattern}) == Ok());
    TestClient& app = As("app");
    for (const std::string& key : keys) {
      CAPTURE(access, pattern, key);
      const bool matches = GlobMatch(pattern, key);
      const bool reads = matches && access != "%W~";
      const bool writes = matches && access != "%R~";
      const auto runs = [&](const std::vector<std::string>& call) {
        std::vector<std::string> dry = {"ACL", "DRYRUN", "app"};
        dry.insert(dry.end(), call.begin(), call.end());
        const bool ran = !app.Run(call).text.starts_with("NOPERM");
        CHECK((Run(dry) == Ok()) == ran);
        return ran;
      };
      CHECK(runs({"GET", key}) == reads);
      CHECK(runs({"SET", key, "v"}) == writes);
      CHECK(runs({"SET", key, "v", "GET"}) == (reads && writes));
      CHECK(runs({"INCR", key}) == (reads && writes));
      CHECK(runs({"DEL", key}) == writes);
      CHECK(runs({"EXISTS", key}) == matches);
      CHECK(runs({"MGET", key, key}) == reads);
      CHECK(runs({"COPY", key, key}) == (reads && writes));
    }
  }
}

TEST_CASE_METHOD(RulesTest, "rules of several selectors do not add up to more than each of them") {
  SetUser("app", {"on", "nopass", "+get", "~a*", "(+set ~b*)", "(+@all %R~c*)", "(+publish &n* ~d)"});
  TestClient& app = As("app");
  const auto runs = [&](const std::vector<std::string>& call) {
    return !app.Run(call).text.starts_with("NOPERM");
  };
  CHECK(runs({"GET", "a1"}));
  CHECK_FALSE(runs({"SET", "a1", "v"}));
  CHECK(runs({"SET", "b1", "v"}));
  CHECK_FALSE(runs({"GET", "b1"}));
  CHECK(runs({"GET", "c1"}));
  CHECK_FALSE(runs({"SET", "c1", "v"}));
  CHECK(runs({"MGET", "c1", "c2"}));
  CHECK_FALSE(runs({"MGET", "c1", "a1"}));
  CHECK(runs({"SET", "b1", "v", "GET"}));
  CHECK(runs({"PUBLISH", "n1", "m"}));
  CHECK_FALSE(runs({"PUBLISH", "m1", "m"}));
  CHECK_FALSE(runs({"GET", "d"}));
  SetUser("app", {"clearselectors"});
  CHECK(runs({"GET", "a1"}));
  CHECK_FALSE(runs({"SET", "b1", "v"}));
}

TEST_CASE_METHOD(RulesTest, "all keys for both uses are described so that the description can be read back") {
  SetUser("app", {"%RW~*"});
  CHECK(KeysOf("app") == "~*");
  SetUser("app", {"~x"});
  CHECK(KeysOf("app") == "%RW~* ~x");
  SetUser("app", {"resetkeys", "~x", "%R~*", "%W~*"});
  CHECK(KeysOf("app") == "~x %RW~*");
  SetUser("app", {"resetkeys", "%R~*"});
  CHECK(KeysOf("app") == "%R~*");
  SetUser("app", {"resetkeys", "%W~*", "%W~k"});
  CHECK(KeysOf("app") == "%W~* %W~k");
  SetUser("app", {"allkeys"});
  CHECK(KeysOf("app") == "~*");
  CHECK(SetUser("app", {"~x"}).kind == Reply::Kind::kError);
  SetUser("app", {"resetkeys"});
  CHECK(KeysOf("app").empty());
}

TEST_CASE_METHOD(RulesTest, "a SETUSER with a wrong rule makes no user, and changes none") {
  CHECK(SetUser("new", {"on", "+get", "+nosuch"}) ==
        Error("ERR Error in ACL SETUSER modifier '+nosuch': Unknown command or category name in ACL"));
  CHECK(Run({"ACL", "USERS"}) == Bulks({"default"}));
  SetUser("app", {"on", ">p", "+get", "~a"});
  const Reply before = Run({"ACL", "LIST"});
  for (const std::string wrong : {"<other", "#12", "!12", "~b c", "&b c", "+config|get|x", "(+nosuch)",
                                  "(on)", "nosuch", "%~a", "-nosuch", "+@nosuch", "+select|"}) {
    CAPTURE(wrong);
    CHECK(SetUser("app", {"off", "resetpass", "resetkeys", "+@all", "(+set ~b)", wrong})
              .text.starts_with("ERR Error in ACL SETUSER modifier '" + wrong + "': "));
    CHECK(Run({"ACL", "LIST"}) == before);
  }
  CHECK(SetUser("app", {"off", "(+get"}) ==
        Error("ERR Unmatched parenthesis in acl selector starting at '(+get'."));
  CHECK(Run({"ACL", "LIST"}) == before);
  for (const std::string name : {"a b", "a\tb", "a\nb", "a\rb", "a\vb", "a\fb"})
    CHECK(SetUser(name, {"on"}) == Error("ERR Usernames can't contain spaces or null characters"));
  CHECK(SetUser(std::string("a\0b", 3), {"on"}) ==
        Error("ERR Usernames can't contain spaces or null characters"));
}

TEST_CASE_METHOD(RulesTest,
                 "passwords come and go one by one, nopass forgets them, and a further one ends nopass") {
  SetUser("app", {"on", ">one", ">two"});
  const auto logs_in = [&](const std::string& password) {
    return server().server.users.Check("app", password) != nullptr;
  };
  SetUser("app", {"<one"});
  CHECK_FALSE(logs_in("one"));
  CHECK(logs_in("two"));
  SetUser("app", {"nopass"});
  CHECK(logs_in("anything"));
  CHECK(Run({"ACL", "GETUSER", "app"}).elements.at(3) == Array({}));
  SetUser("app", {">three"});
  CHECK(logs_in("three"));
  CHECK_FALSE(logs_in("two"));
  CHECK_FALSE(logs_in("anything"));
  SetUser("app", {"nopass", "resetpass"});
  CHECK_FALSE(logs_in("three"));
  CHECK_FALSE(logs_in(""));
  SetUser("app", {">", "off"});
  CHECK_FALSE(logs_in(""));
  SetUser("app", {"on"});
  CHECK(logs_in(""));
}

// ---- clients that are there

TEST_CASE_METHOD(RulesTest, "who takes channels from its own user gets the answer, and is closed then") {
  SetUser("app", {"on", "nopass", "+@all", "allchannels"});
  TestClient& self = As("app");
  TestClient& other = As("app");
  self.UseResp3();
  self.Run({"SUBSCRIBE", "c"});
  other.Run({"SUBSCRIBE", "c"});
  CHECK(self.Run({"ACL", "SETUSER", "app", "resetchannels", "&d"}) == Ok());
  CHECK(self.session().Has(Mode::kEnding));
  CHECK_FALSE(self.session().Has(Mode::kDropped));
  CHECK(other.session().Has(Mode::kDropped));
  CHECK(other.session().dirty);
}

TEST_CASE_METHOD(RulesTest, "subscribers stay if another selector has their channels, or all of them") {
  SetUser("app", {"on", "nopass", "+@all", "&a*"});
  TestClient& channel = As("app");
  TestClient& pattern = As("app");
  channel.Run({"SUBSCRIBE", "a1"});
  pattern.Run({"PSUBSCRIBE", "a*"});
  SetUser("app", {"resetchannels", "(+get &a*)"});
  CHECK_FALSE(channel.session().closes());
  CHECK_FALSE(pattern.session().closes());
  SetUser("app", {"clearselectors", "(+get allchannels)"});
  CHECK_FALSE(channel.session().closes());
  CHECK_FALSE(pattern.session().closes());
  SetUser("app", {"clearselectors", "(+get &a1)"});
  CHECK_FALSE(channel.session().closes());
  CHECK(pattern.session().closes());
}

TEST_CASE_METHOD(
    RulesTest,
    "a new password of the default user logs nobody out, and who is to be closed is not logged in") {
  TestClient& logged_in = Connect();
  logged_in.Run({"PING"});
  SetUser("default", {">secret", "resetpass", ">secret"});
  CHECK(logged_in.Run({"PING"}) == Simple("PONG"));
  TestClient& guest = Connect();
  TestClient& leaving = Connect();
  CHECK(guest.Run({"PING"}) == Error("NOAUTH Authentication required."));
  leaving.session().Set(Mode::kDropped);
  SetUser("default", {"nopass"});
  CHECK(guest.Run({"PING"}) == Simple("PONG"));
  CHECK(leaving.session().user() == nullptr);
}

TEST_CASE_METHOD(RulesTest,
                 "DELUSER counts each user once, and takes none if the default user is among them") {
  for (const char* name : {"a", "b", "c"}) SetUser(name, {"on", "nopass"});
  CHECK(Run({"ACL", "DELUSER", "a", "a", "nobody", "b"}) == Integer(2));
  CHECK(Run({"ACL", "USERS"}) == Bulks({"c", "default"}));
  CHECK(Run({"ACL", "DELUSER", "c", "default"}) == Error("ERR The 'default' user cannot be removed"));
  CHECK(Run({"ACL", "USERS"}) == Bulks({"c", "default"}));
  CHECK(Run({"ACL", "DELUSER", "C"}) == Integer(0));
}

// ---- the log, dry runs, passwords

TEST_CASE_METHOD(RulesTest, "refusals of different kinds, places and users are entries of their own") {
  SetUser("app", {"on", "nopass", "+@all", "-mget", "~a*"});
  SetUser("ann", {"on", "nopass", "+@all", "~a*"});
  TestClient& app = As("app");
  TestClient& ann = As("ann");
  const auto log = [&](const std::string& count) { return Run({"ACL", "LOG", count}); };
  app.Run({"GET", "k"});
  ann.Run({"GET", "k"});
  app.Run({"MGET", "k"});
  app.Run({"MULTI"});
  app.Run({"GET", "k"});
  app.Run({"DISCARD"});
  app.Run({"EVAL", "return redis.pcall('get', 'k')", "0"});
  app.Run({"PUBLISH", "k", "m"});
  REQUIRE(log("99").elements.size() == 6);
  const std::vector<std::vector<std::string>> expected = {
      {"channel", "toplevel", "k", "app"}, {"key", "lua", "k", "app"},
      {"key", "multi", "k", "app"},        {"command", "toplevel", "mget", "app"},
      {"key", "toplevel", "k", "ann"},     {"key", "toplevel", "k", "app"}};
  const Reply all = log("99");
  for (size_t i = 0; i < expected.size(); ++i) {
    const Reply& entry = all.elements[i];
    CHECK(std::vector<std::string>{FieldOf(entry, "reason"), FieldOf(entry, "context"),
                                   FieldOf(entry, "object"), FieldOf(entry, "username")} == expected[i]);
    CHECK(FieldOf(entry, "count") == "1");
    CHECK(FieldOf(entry, "entry-id") == std::to_string(expected.size() - 1 - i));
  }
  app.Run({"GET", "k"});  // the oldest becomes the newest
  CHECK(log("99").elements.size() == 6);
  CHECK(FieldOf(log("1").elements.at(0), "count") == "2");
  CHECK(FieldOf(log("1").elements.at(0), "entry-id") == "0");
  CHECK(log("0") == Array({}));
  CHECK(log("-5") == Array({}));
  CHECK(log("2").elements.size() == 2);
  CHECK(Run({"ACL", "LOG"}).elements.size() == 6);
  for (int i = 0; i < 9; ++i) app.Run({"GET", "k" + std::to_string(i)});
  CHECK(Run({"ACL", "LOG"}).elements.size() == 10);
  CHECK(log("15").elements.size() == 15);
  CHECK(log("16").elements.size() == 15);
  CHECK(Run({"ACL", "LOG", "reset"}) == Ok());
  CHECK(log("99") == Array({}));
  CHECK(Figure("acl_access_denied_cmd") == "1");
}

TEST_CASE_METHOD(RulesTest, "a minute later the same refusal is another entry") {
  SetUser("app", {"on", "nopass", "+@all", "~a*"});
  TestClient& app = As("app");
  app.Run({"GET", "k"});
  AdvanceTime(60'000);
  app.Run({"GET", "k"});
  CHECK(Run({"ACL", "LOG"}).elements.size() == 1);
  AdvanceTime(60'001);
  app.Run({"GET", "k"});
  const Reply log = Run({"ACL", "LOG"});
  REQUIRE(log.elements.size() == 2);
  CHECK(FieldOf(log.elements[0], "count") == "1");
  CHECK(FieldOf(log.elements[1], "count") == "2");
  CHECK(FieldOf(log.elements[1], "age-seconds") == "60.001");
}

TEST_CASE_METHOD(RulesTest, "a password has a digit for each four bits or part of them") {
  const auto drawn = [&](const std::string& bits) { return Run({"ACL", "GENPASS", bits}).text; };
  for (const auto& [bits, digits] : std::vector<std::pair<int, size_t>>{
           {1, 1}, {3, 1}, {4, 1}, {5, 2}, {8, 2}, {9, 3}, {128, 32}, {4095, 1024}, {4096, 1024}})
    CHECK(drawn(std::to_string(bits)).size() == digits);
  const std::string longest = drawn("4096");
  CHECK(longest.find_first_not_of("0123456789abcdef") == std::string::npos);
  for (const char digit : std::string("0123456789abcdef")) CHECK(longest.find(digit) != std::string::npos);
  const Reply wrong = Error(
      "ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to "
      "4096");
  for (const char* bits : {"0", "-1", "4097", "9223372036854775807"})
    CHECK(Run({"ACL", "GENPASS", bits}) == wrong);
  CHECK(Run({"ACL", "GENPASS", "9223372036854775808"}) ==
        Error("ERR value is not an integer or out of range"));
}

TEST_CASE_METHOD(RulesTest,
                 "a dry run counts in no figure, and neither runs the call nor writes to the log") {
  SetUser("app", {"on", "nopass", "+@all", "-mget", "~a*"});
  CHECK(Run({"ACL", "DRYRUN", "app", "SET", "a", "v"}) == Ok());
  CHECK(Run({"ACL", "DRYRUN", "app", "SET", "b", "v"}) ==
        Bulk("This user has no permissions to access the 'b' key"));
  CHECK(Run({"ACL", "DRYRUN", "app", "MGET", "a"}) ==
        Bulk("This user has no permissions to run the 'mget' command"));
  CHECK(Run({"ACL", "DRYRUN", "app", "PUBLISH", "c", "m"}) ==
        Bulk("This user has no permissions to access the 'c' channel"));
  CHECK(Run({"ACL", "DRYRUN", "app", "SET"}) == Error("ERR wrong number of arguments for 'set' command"));
  CHECK(Run({"ACL", "DRYRUN", "app", "NOSUCH", "a"}) == Error("ERR Command 'NOSUCH' not found"));
  CHECK(Run({"ACL", "DRYRUN", "App", "GET", "a"}) == Error("ERR User 'App' not found"));
  CHECK(Run({"EXISTS", "a"}) == Integer(0));
  CHECK(Run({"ACL", "LOG"}) == Array({}));
  CHECK(Figure("acl_access_denied_key") == "0");
  CHECK(Figure("acl_access_denied_cmd") == "0");
}

// ---- files and options

TEST_CASE_METHOD(RulesFileTest, "a name with a tab in the file is refused, and a name of one letter is one") {
  text = "user a\tb on\nuser c off\n";
  CHECK(Run({"ACL", "LOAD"}) == Error("ERR /users.acl:1: username 'a\tb' contains invalid characters. "
                                      "WARNING: ACL errors detected, no change to "
                                      "the previously active ACL rules was performed"));
  CHECK(Run({"ACL", "USERS"}) == Bulks({"default"}));
  text = "\tuser c on nopass +@all \t\r\n";
  CHECK(Run({"ACL", "LOAD"}) == Ok());
  CHECK(Run({"ACL", "LIST"}) ==
        Bulks({"user c on nopass resetchannels +@all", "user default on nopass ~* &* +@all"}));
}

TEST_CASE_METHOD(
    RulesFileTest,
    "ACL LOAD closes the clients of every user but the default one, the last one after its answer") {
  text = "user app on nopass +@all ~*\nuser ann on nopass +@all ~*\n";
  REQUIRE(Run({"ACL", "LOAD"}) == Ok());
  TestClient& app = As("app");
  TestClient& ann = As("ann");
  TestClient& guest = Connect();
  CHECK(app.Run({"ACL", "LOAD"}) == Ok());
  CHECK(app.session().Has(Mode::kEnding));
  CHECK_FALSE(app.session().Has(Mode::kDropped));
  CHECK(ann.session().Has(Mode::kDropped));
  CHECK_FALSE(guest.session().closes());
  text = "user default off\n";
  CHECK(Run({"ACL", "LOAD"}) == Ok());
  CHECK(guest.Run({"PING"}).text.starts_with("NOPERM "));
  CHECK(Connect().Run({"PING"}) == Error("NOAUTH Authentication required."));
  CHECK(Run({"ACL", "WHOAMI"}).text.starts_with("NOPERM "));
}

TEST_CASE_METHOD(RulesFileTest, "beside a file of users requirepass has no effect, and the log says so") {
  const std::vector<std::string> words = {"--aclfile", "/users.acl", "--requirepass", "secret"};
  REQUIRE_FALSE(server().options.Load(words, {}).error);
  const std::string line =
      "requirepass has no effect beside an aclfile, which says what the default user's password is";
  CHECK(LoadUsersAtStart(server().server) == std::nullopt);  // without a log
  WriteLog();
  CHECK(LoadUsersAtStart(server().server) == std::nullopt);
  CHECK(Logged(line) == 1);
  CHECK(Connect().Run({"PING"}) == Simple("PONG"));
  REQUIRE_FALSE(server().options.Load(std::vector<std::string>{"--aclfile", "/users.acl"}, {}).error);
  CHECK(LoadUsersAtStart(server().server) == std::nullopt);
  CHECK(Logged(line) == 1);
}

TEST_CASE_METHOD(RulesTest, "users are in the options or in a file, and not in both") {
  const std::vector<std::string> words = {"--aclfile", "/users.acl", "--user", "app on nopass"};
  server().files.directory = [](const std::string& path, std::string& absolute) {
    absolute = path;
    return config::Problem();
  };
  REQUIRE_FALSE(server().options.Load(words, {}).error);
  CHECK(
      LoadUsersAtStart(server().server)
          .value_or("")
          .starts_with(
              "Configuring Mayfly with users defined in its options and at the same setting an ACL file path "
              "is invalid."));
  CHECK(Run({"ACL", "USERS"}) == Bulks({"default"}));
  const Reply no_file = Error(
      "ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the "
      "ACL SETUSER "
      "command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in order "
      "to store users "
      "in the Redis configuration.");
  StartWith("port", "7000");
  CHECK(Run({"ACL", "LOAD"}) == no_file);
  CHECK(Run({"ACL", "SAVE"}) == no_file);
}

TEST_CASE_METHOD(RulesTest,
                 "each wrong user of the options is told, and a disabled one is a line of the log") {
  const std::vector<std::string> words = {
      "--user", "a\tb on",           "--user", "bad +nosuch", "--user", "sleeper nopass +get",
      "--user", "app on nopass +get"};
  StartWith("port", "7000");
  REQUIRE_FALSE(server().options.Load(words, {}).error);
  WriteLog();
  CHECK(LoadUsersAtStart(server().server).value_or("") ==
        "--user: Spaces not allowed in ACL usernames\n--user: Error in user declaration '+nosuch': Unknown "
        "command or "
        "category name in ACL");
  CHECK(Logged("the user 'sleeper' is disabled: its line has no 'on'") == 1);
  CHECK(Logged("is disabled") == 1);
  server().server.log = nullptr;
  StartWith("user", "sleeper nopass");
  CHECK(LoadUsersAtStart(server().server) == std::nullopt);
  CHECK(Run({"ACL", "GETUSER", "sleeper"}).elements.at(1).elements.at(0) == Bulk("off"));
}

}  // namespace mayfly::testing
