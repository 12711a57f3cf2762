// Users: who may log in, what becomes of their clients when they change, and what is kept in files and in the log.
// What single rules mean is compared with a redis-server in acl_oracle_test.cc.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "commands/acl/acl_world.h"
#include "exec/acl/user_changes.h"
#include "exec/acl/user_store.h"
#include "server/acl/users.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

const Reply kWrong = Error("WRONGPASS invalid username-password pair or user is disabled.");
const Reply kNoKey = Error("NOPERM this user has no permissions to access one of the keys used as arguments");
const Reply kNoAuth = Error("NOAUTH Authentication required.");

class AclTest : public AclWorld {
 public:
  std::string LineOf(const std::string& name) {
    for (const Reply& line : Run({"ACL", "LIST"}).elements) {
      if (line.text.starts_with("user " + name + " ")) return line.text;
    }
    return {};
  }
  // The field of the newest entry of ACL LOG.
  std::string Newest(const std::string& field) {
    const Reply log = Run({"ACL", "LOG", "1"});
    if (log.elements.empty()) return {};
    const std::vector<Reply>& entry = log.elements[0].elements;
    for (size_t i = 0; i + 1 < entry.size(); i += 2) {
      if (entry[i].text == field)
        return entry[i + 1].kind == Reply::Kind::kInteger ? std::to_string(entry[i + 1].integer)
                                                          : entry[i + 1].text;
    }
    return {};
  }
};

// With a file of users that the test writes.
class AclFileTest : public AclTest {
 public:
  AclFileTest() {
    server().files.read_again = [this](const std::string& path, std::string& read) -> config::Problem {
      if (path != "/users.acl" || !exists) return path + ": No such file or directory";
      read = text;
      return std::nullopt;
    };
    server().files.put = [this](const std::string& path, const std::string& written) -> config::Problem {
      if (!writable) return path + ": Read-only file system";
      text = written;
      return std::nullopt;
    };
    StartWith("aclfile", "/users.acl");
  }

  std::string text;
  bool exists = true;
  bool writable = true;
};

}  // namespace

TEST_CASE_METHOD(AclTest, "a user logs in with its name and one of its passwords, and is known by its name") {
  CHECK(SetUser("app", {"on", ">one", ">two", "+@all", "~*"}) == Ok());
  TestClient& guest = Connect();
  CHECK(guest.Run({"ACL", "WHOAMI"}) == Bulk("default"));
  CHECK(guest.Run({"AUTH", "app", "three"}) == kWrong);
  CHECK(guest.Run({"AUTH", "app", "one"}) == Ok());
  CHECK(guest.Run({"HELLO", "2", "AUTH", "app", "two"}).kind == Reply::Kind::kArray);
  CHECK(guest.Run({"ACL", "WHOAMI"}) == Bulk("app"));
  CHECK(guest.Run({"CLIENT", "INFO"}).text.find(" user=app ") != std::string::npos);
  CHECK(SetUser("app", {"off"}) == Ok());
  CHECK(guest.Run({"PING"}) == Simple("PONG"));
  CHECK(guest.Run({"AUTH", "app", "one"}) == kWrong);
}

TEST_CASE_METHOD(AclTest, "if the default user is disabled or needs a password, everybody has to log in") {
  CHECK(SetUser("admin", {"on", "nopass", "+@all", "~*", "&*"}) == Ok());
  CHECK(SetUser("default", {"off"}) == Ok());
  TestClient& guest = Connect();
  CHECK(guest.Run({"PING"}) == kNoAuth);
  CHECK(guest.Run({"AUTH", "default", "any"}) == kWrong);
  CHECK(guest.Run({"AUTH", "admin", "any"}) == Ok());
  TestClient& other = Connect();
  CHECK(guest.Run({"ACL", "SETUSER", "default", "on"}) == Ok());
  CHECK(other.Run({"PING"}) == Simple("PONG"));
}

TEST_CASE_METHOD(AclTest,
                 "requirepass and the default user's password are one, until ACL SETUSER changes it") {
  SetOption("requirepass", "secret");
  TestClient& guest = Connect();
  CHECK(guest.Run({"AUTH", "secret"}) == Ok());
  CHECK(guest.Run({"ACL", "SETUSER", "default", ">other"}) == Ok());
  CHECK(guest.Run({"AUTH", "other"}) == Ok());
  CHECK(guest.Run({"CONFIG", "GET", "requirepass"}) == Bulks({"requirepass", "secret"}));
  CHECK(guest.Run({"CONFIG", "SET", "requirepass", "third"}) == Ok());
  CHECK(guest.Run({"AUTH", "other"}) == kWrong);
  CHECK(guest.Run({"AUTH", "third"}) == Ok());
  CHECK(guest.Run({"CONFIG", "SET", "requirepass", ""}) == Ok());
  CHECK(Connect().Run({"PING"}) == Simple("PONG"));
}

TEST_CASE_METHOD(AclTest,
                 "a change of rules concerns clients that are logged in, from their next request on") {
  SetUser("app", {"on", "nopass", "+@all", "~*"});
  TestClient& client = As("app");
  CHECK(client.Run({"GET", "k"}) == Null());
  SetUser("app", {"resetkeys", "~app:*"});
  CHECK(client.Run({"GET", "k"}) == kNoKey);
  CHECK(client.Run({"GET", "app:k"}) == Null());
  CHECK(client.Run({"GET", "app:"}) == Null());
  CHECK(client.Run({"GET", "app"}) == kNoKey);
  CHECK(client.Run({"SET", "app:k", "v"}) == Ok());
  CHECK(client.Run({"MGET", "app:k", "app:l"}) == Array({Bulk("v"), Null()}));
  CHECK(client.Run({"MGET", "app:k", "k"}) == kNoKey);
  SetUser("app", {"-get"});
  CHECK(client.Run({"GET", "app:k"}) ==
        Error("NOPERM this user has no permissions to run the 'get' command"));
  SetUser("app", {"+@all", "~*", "&*"});
  CHECK(client.Run({"GET", "k"}) == Null());
}

TEST_CASE_METHOD(AclTest, "reading and writing are allowed by prefixes of their own") {
  SetUser("app", {"on", "nopass", "+@all", "%R~read:*", "%W~write:*"});
  TestClient& client = As("app");
  CHECK(client.Run({"GET", "read:k"}) == Null());
  CHECK(client.Run({"GET", "write:k"}) == kNoKey);
  CHECK(client.Run({"SET", "write:k", "v"}) == Ok());
  CHECK(client.Run({"SET", "write:k", "v", "GET"}) == kNoKey);
  CHECK(client.Run({"SET", "read:k", "v"}) == kNoKey);
  CHECK(client.Run({"INCR", "write:k"}) == kNoKey);
  CHECK(client.Run({"EXISTS", "write:k"}) == Integer(1));
}

TEST_CASE_METHOD(AclTest, "who waits for a key gets it only if the user still may") {
  SetUser("app", {"on", "nopass", "+@all", "~list", "~other"});
  TestClient& client = As("app");
  CHECK(client.Run({"BLPOP", "list", "0"}) == NoReply());
  SetUser("app", {"resetkeys", "~other"});
  Run({"RPUSH", "list", "v"});
  CHECK(client.Received() == std::vector<Reply>{kNoKey});
  CHECK(Run({"LLEN", "list"}) == Integer(1));
}

TEST_CASE_METHOD(AclTest, "the clients of a removed user are closed, and the last one gets its reply") {
  SetUser("app", {"on", "nopass", "+@all", "~*"});
  TestClient& first = As("app");
  TestClient& second = As("app");
  CHECK(first.Run({"ACL", "DELUSER", "app", "nobody"}) == Integer(1));
  CHECK(first.session().Has(Mode::kEnding));
  CHECK(second.session().Has(Mode::kDropped));
  CHECK(Run({"ACL", "DELUSER", "default", "app"}) == Error("ERR The 'default' user cannot be removed"));
}

TEST_CASE_METHOD(AclTest,
                 "a transaction that removes its own user goes on unheard, with the default user's rights") {
  SetUser("app", {"on", "nopass", "+@all", "~*"});
  TestClient& client = As("app");
  client.Run({"MULTI"});
  client.Run({"ACL", "DELUSER", "app"});
  client.Run({"SET", "k", "v"});
  CHECK(client.RunRaw(EncodeRequest({"EXEC"})) == "*2\r\n:1\r\n");
  CHECK(Run({"EXISTS", "k"}) == Integer(1));
}

TEST_CASE_METHOD(AclTest, "subscribers are closed if their channels are no longer allowed, and only then") {
  SetUser("app", {"on", "nopass", "+@all", "&a*", "&b"});
  TestClient& channel = As("app");
  TestClient& pattern = As("app");
  TestClient& shard = As("app");
  TestClient& other = As("app");
  channel.Run({"SUBSCRIBE", "a1"});
  pattern.Run({"PSUBSCRIBE", "a*"});
  shard.Run({"SSUBSCRIBE", "b"});
  SetUser("app", {"&c"});
  CHECK_FALSE(channel.session().closes());
  SetUser("app", {"resetchannels", "&a?", "&b"});
  CHECK_FALSE(channel.session().closes());
  CHECK(pattern.session().closes());
  CHECK_FALSE(shard.session().closes());
  SetUser("app", {"resetchannels"});
  CHECK(channel.session().closes());
  CHECK(shard.session().closes());
  CHECK_FALSE(other.session().closes());
}

TEST_CASE_METHOD(AclTest, "clients are listed and closed by their user's name") {
  SetUser("app", {"on", "nopass"});
  TestClient& client = As("app");
  CHECK(Run({"CLIENT", "LIST", "USER", "app"}).text.find("user=app") != std::string::npos);
  CHECK(Run({"CLIENT", "KILL", "USER", "nobody"}) == Error("ERR No such user 'nobody'"));
  CHECK(Run({"CLIENT", "KILL", "USER", "app"}) == Integer(1));
  CHECK(client.session().closes());
}

TEST_CASE_METHOD(AclTest, "what is refused is logged and counted, once for each kind within a minute") {
  SetUser("app", {"on", "nopass", "+@all", "~a*"});
  TestClient& client = As("app");
  client.Run({"CLIENT", "SETNAME", "worker"});
  client.Run({"GET", "k"});
  AdvanceTime(1500);
  client.Run({"SET", "k", "v"});
  CHECK(Newest("reason") == "key");
  CHECK(Newest("object") == "k");
  CHECK(Newest("count") == "2");
  CHECK(Newest("username") == "app");
  CHECK(Newest("client-info").find("name=worker") != std::string::npos);
  CHECK(Newest("client-info").find("cmd=set") != std::string::npos);
  AdvanceTime(2500);
  CHECK(Newest("age-seconds") == "2.5");
  CHECK(Newest("entry-id") == "0");
  CHECK(Newest("timestamp-created") == std::to_string(WallMs() - 4000));
  CHECK(Newest("timestamp-last-updated") == std::to_string(WallMs() - 2500));
  CHECK(Run({"ACL", "LOG"}).elements[0].elements.size() == 20);
  client.Run({"PUBLISH", "c", "m"});
  CHECK(Newest("reason") == "channel");
  CHECK(Newest("entry-id") == "1");
  CHECK(Newest("timestamp-created") == std::to_string(WallMs()));
  Connect().Run({"AUTH", "app2", "x"});
  CHECK(Newest("reason") == "auth");
  CHECK(Newest("object") == "AUTH");
  CHECK(Newest("username") == "app2");
  const std::string info = Run({"INFO", "stats"}).text;
  CHECK(info.find("acl_access_denied_key:2\r\n") != std::string::npos);
  CHECK(info.find("acl_access_denied_channel:1\r\n") != std::string::npos);
  CHECK(info.find("acl_access_denied_auth:1\r\n") != std::string::npos);
  CHECK(info.find("acl_access_denied_cmd:0\r\n") != std::string::npos);
  // The same refusal of another user is another entry.
  SetUser("other", {"on", "nopass", "+@all", "~none"});
  TestClient& other = Connect();
  other.Run({"AUTH", "other", "x"});
  const size_t entries = Run({"ACL", "LOG"}).elements.size();
  other.Run({"GET", "k"});
  CHECK(Run({"ACL", "LOG"}).elements.size() == entries + 1);
  CHECK(Newest("username") == "other");
  CHECK(Newest("count") == "1");
  SetOption("acllog-max-len", "2");
  client.Run({"GET", "l"});
  CHECK(Run({"ACL", "LOG"}).elements.size() == 2);
  CHECK(Run({"ACL", "LOG", "RESET"}) == Ok());
  CHECK(Run({"ACL", "LOG"}) == Array({}));
}

TEST_CASE_METHOD(AclTest, "the slow log does not show what SETUSER says of a user") {
  Run({"CONFIG", "SET", "slowlog-log-slower-than", "0"});
  SetUser("app", {"on", ">secret"});
  const Reply entry = Run({"SLOWLOG", "GET", "1"}).elements.at(0);
  constexpr size_t kArguments = 3;
  const Reply hidden = Bulk("(redacted)");
  CHECK(entry.elements.at(kArguments) == Array({Bulk("ACL"), Bulk("SETUSER"), hidden, hidden, hidden}));
}

TEST_CASE_METHOD(AclTest, "GENPASS draws as many bits as asked for, and others each time") {
  CHECK(Run({"ACL", "GENPASS"}).text.size() == 64);
  CHECK(Run({"ACL", "GENPASS", "5"}).text.size() == 2);
  CHECK(Run({"ACL", "GENPASS", "4096"}).text.size() == 1024);
  CHECK(Run({"ACL", "GENPASS"}).text != Run({"ACL", "GENPASS"}).text);
  CHECK(Run({"ACL", "HELP"}).elements.size() > 20);
}

TEST_CASE_METHOD(AclTest,
                 "who writes on a condition on the value learns of it, and must be allowed to read the key") {
  const auto tries = [&](const std::vector<std::string>& call) {
    std::vector<std::string> words{"ACL", "DRYRUN", "u"};
    words.insert(words.end(), call.begin(), call.end());
    return Run(words) == Ok();
  };
  SetUser("u", {"on", "nopass", "+@all", "%W~k"});
  CHECK(tries({"SET", "k", "v"}));
  CHECK(tries({"SET", "k", "v", "NX", "EX", "5"}));
  CHECK(tries({"DELEX", "k"}));
  for (const char* condition : {"IFEQ", "ifne", "IFDEQ", "IFDNE"}) {
    INFO(condition);
    CHECK_FALSE(tries({"SET", "k", "v", condition, "old"}));
    CHECK_FALSE(tries({"DELEX", "k", condition, "old"}));
  }
  CHECK_FALSE(tries({"DELIFEQ", "k", "old"}));
  SetUser("u", {"resetkeys", "%R~k"});
  CHECK_FALSE(tries({"SET", "k", "v", "IFEQ", "old"}));
  CHECK_FALSE(tries({"DELEX", "k", "IFEQ", "old"}));
  SetUser("u", {"resetkeys", "~k"});
  CHECK(tries({"SET", "k", "v", "IFEQ", "old"}));
  CHECK(tries({"DELEX", "k", "IFEQ", "old"}));
  SetUser("u", {"resetkeys", "%W~k*"});
  client().session().LogIn(server().server.users.Find("u"));
  CHECK(Run({"SET", "k1", "v"}) == Ok());
  CHECK(Run({"SET", "k1", "v", "IFEQ", "v"}).kind == Reply::Kind::kError);
  CHECK(Run({"DELEX", "k1", "IFEQ", "v"}).kind == Reply::Kind::kError);
  CHECK(Run({"DELEX", "k1"}) == Integer(1));
}

TEST_CASE_METHOD(AclTest,
                 "for CONFIG REWRITE every user is a line, but not a default user as requirepass makes it") {
  const Server& parts = server().server;
  const auto lines = [&] {
    std::vector<std::string> written;
    CHECK(UserLines(parts, written) == std::nullopt);
    return written;
  };
  CHECK(lines().empty());
  SetUser("app", {"on", ">x", "~a\"b", "+get", "(~'c' +set)"});
  SetOption("requirepass", "secret");
  client().session().LogIn(&server().server.users.default_user());
  CHECK(lines() ==
        std::vector<std::string>{"app on #2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881 "
                                 "\"~a\\\"b\" resetchannels -@all +get (~c resetchannels -@all +set)"});
  SetUser("default", {"-flushall"});
  CHECK(lines().size() == 2);
}

TEST_CASE_METHOD(AclTest,
                 "for CONFIG REWRITE a user is a line also if its rules are those of a plain default user") {
  const auto lines = [&] {
    std::vector<std::string> written;
    CHECK(UserLines(server().server, written) == std::nullopt);
    return written;
  };
  const std::string all = " nopass ~* &* +@all";
  SetUser("admin", {"on", "nopass", "+@all", "~*", "&*"});
  CHECK(lines() == std::vector<std::string>{"admin on" + all});
  SetUser("default", {"off"});
  CHECK(lines() == std::vector<std::string>{"admin on" + all, "default off" + all});
  SetUser("default", {"on"});
  CHECK(lines() == std::vector<std::string>{"admin on" + all});
  // What requirepass says is said there, what says otherwise is a line.
  SetOption("requirepass", "secret");
  client().session().LogIn(&server().server.users.default_user());
  SetUser("admin", {">secret"});
  CHECK(lines() == std::vector<std::string>{LineOf("admin").substr(std::string("user ").size())});
  SetUser("default", {"nopass"});
  CHECK(lines().size() == 2);
  SetUser("default", {">secret"});
  CHECK(lines().size() == 1);
  SetUser("default", {">other"});
  CHECK(lines().size() == 2);
}

TEST_CASE_METHOD(AclTest, "the users of the conf file are there from the start, and a wrong line ends it") {
  StartWith("user", "app on nopass ~app:* +@read (%R~b +get)");
  CHECK(LoadUsersAtStart(server().server) == std::nullopt);
  CHECK(LineOf("app") ==
        "user app on nopass ~app:* resetchannels -@all +@read (%R~b resetchannels -@all +get)");
  StartWith("user", "default on nopass ~a* +@all");
  CHECK(LoadUsersAtStart(server().server) == std::nullopt);
  CHECK(LineOf("default") == "user default on nopass sanitize-payload ~a* resetchannels +@all");
  CHECK(Run({"GET", "b"}) == kNoKey);
  StartWith("user", "bad on >hush +nosuch");
  CHECK(LoadUsersAtStart(server().server) ==
        "--user: Error in user declaration '+nosuch': Unknown command or category name in ACL");
  StartWith("user", "bad >hush #hush");
  CHECK(LoadUsersAtStart(server().server)->find("hush") == std::string::npos);
  StartWith("user", "bad (+get");
  CHECK(LoadUsersAtStart(server().server) ==
        "--user: Unmatched parenthesis in acl selector starting at '(+get'.");
}

TEST_CASE_METHOD(AclFileTest, "ACL LOAD replaces all users, and closes the clients of the old ones") {
  SetUser("old", {"on", "nopass", "+@all", "~*"});
  TestClient& client = As("old");
  text = "user new on nopass ~n* +@all\r\n\n  user default on nopass +@all ~d* &*\n";
  CHECK(Run({"ACL", "LOAD"}) == Ok());
  CHECK(client.session().closes());
  CHECK_FALSE(this->client().session().closes());
  CHECK(Run({"ACL", "USERS"}) == Bulks({"default", "new"}));
  CHECK(Run({"GET", "x"}) == kNoKey);
  CHECK(Run({"GET", "d"}) == Null());
  CHECK(As("new").Run({"GET", "n"}) == Null());
  text = "";
  CHECK(Run({"ACL", "LOAD"}) == Ok());
  CHECK(Run({"ACL", "LIST"}) == Bulks({"user default on nopass ~* &* +@all"}));
  CHECK(Run({"GET", "x"}) == Null());
}

TEST_CASE_METHOD(AclFileTest, "a file with errors changes nothing, and all of them are told") {
  SetUser("old", {"on"});
  text =
      "user alice on >p ~a* +@all +foo -bar \nuser bob off\nuser bob on +foo\nuser a\nusr b\n"
      "user c +foo +bar ~*  ~x *b\nuser 'x y' on\n# comment\nuser e (+foo) (+bar)\nuser f (+get\n";
  const std::string unknown = ": Unknown command or category name in ACL. ";
  CHECK(Run({"ACL", "LOAD"}) ==
        Error("ERR /users.acl:1: Error in applying operation '+foo'" + unknown +
              "/users.acl:1: Error in applying operation '-bar'" + unknown +
              "WARNING: Duplicate user 'bob' found on line 3. "
              "/users.acl:5 should start with user keyword followed by the username. "
              "/users.acl:6: Error in applying operation '+foo'" +
              unknown + "/users.acl:6: Error in applying operation '+bar'" + unknown +
              "/users.acl:6: Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and "
              "does not "
              "have any effect. Try 'resetkeys' to start with an empty list of patterns. "
              "/users.acl:7: Syntax error. "
              "/users.acl:8 should start with user keyword followed by the username. "
              "/users.acl:9: Error in applying operation '(+foo)'" +
              unknown + "/users.acl:9: Error in applying operation '(+bar)'" + unknown +
              "/users.acl:10: Unmatched parenthesis in selector definition. "
              "WARNING: ACL errors detected, no change to the previously active ACL rules was performed"));
  CHECK(Run({"ACL", "USERS"}) == Bulks({"default", "old"}));
  exists = false;
  CHECK(Run({"ACL", "LOAD"}) ==
        Error("ERR Error loading ACLs, opening file '/users.acl': No such file or directory"));
}

TEST_CASE_METHOD(AclFileTest, "what ACL SAVE writes, ACL LOAD reads back") {
  SetUser("app", {"on", ">x", "~a*", "%R~b", "&c", "+@read", "(+set ~\"d)\")"});
  SetUser("", {"skip-sanitize-payload"});
  const Reply list = Run({"ACL", "LIST"});
  CHECK(Run({"ACL", "SAVE"}) == Ok());
  CHECK(text.starts_with("user  off skip-sanitize-payload resetchannels -@all\nuser app on #"));
  CHECK(Run({"ACL", "DELUSER", "app", ""}) == Integer(2));
  CHECK(Run({"ACL", "LOAD"}) == Ok());
  CHECK(Run({"ACL", "LIST"}) == list);
  writable = false;
  CHECK(Run({"ACL", "SAVE"}) == Error("ERR There was an error trying to save the ACLs. Please check the "
                                      "server logs for more information"));
}

TEST_CASE_METHOD(AclFileTest, "the file is read at the start, and a wrong one ends it") {
  text = "user default on >x +@all ~*\n";
  CHECK(LoadUsersAtStart(server().server) == std::nullopt);
  CHECK(Connect().Run({"PING"}) == kNoAuth);
  text = "user a +foo\n";
  CHECK(LoadUsersAtStart(server().server) ==
        "Aborting startup because of ACL errors: /users.acl:1: Error in applying operation '+foo': "
        "Unknown "
        "command or category name in ACL. WARNING: ACL errors detected, no change to the previously active "
        "ACL rules "
        "was performed");
}

TEST_CASE_METHOD(
    CommandTest,
    "the application's user of docs/security.md drops by tag, reads INFO and hears of its keys, no more") {
  SetOption("notify-keyspace-events", "KEA");
  CHECK(Run({"ACL", "SETUSER", "web", "on", ">secret", "~app:*", "resetchannels", "&__keyevent@*__:*",
             "&__keyspace@*__:app:*", "+@all", "-@dangerous", "+invalidate", "+info"}) == Ok());
  TestClient& web = Connect();
  CHECK(web.Run({"AUTH", "web", "secret"}) == Ok());
  CHECK(web.Run({"SET", "app:k", "v", "PX", "20", "TAGS", "1", "user:1"}) == Ok());
  CHECK(web.Run({"INFO", "server"}).kind == Reply::Kind::kBulk);
  CHECK(web.Run({"INVALIDATE", "user:1"}) == Integer(1));
  for (const std::vector<std::string>& call :
       std::vector<std::vector<std::string>>{{"GET", "other"},
                                             {"FLUSHALL"},
                                             {"CONFIG", "GET", "*"},
                                             {"KEYS", "*"},
                                             {"SUBSCRIBE", "chat"},
                                             {"SUBSCRIBE", "__keyspace@0__:other"},
                                             {"NSFLUSH", "app"},
                                             {"ACL", "LIST"},
                                             {"SHUTDOWN"}})
    CHECK(web.Run(call).text.starts_with("NOPERM"));

  TestClient& hears = Connect();
  CHECK(hears.Run({"AUTH", "web", "secret"}) == Ok());
  hears.Run({"SUBSCRIBE", "__keyevent@0__:expired"});
  hears.Run({"SUBSCRIBE", "__keyspace@0__:app:k"});
  web.Run({"SET", "app:k", "v", "PX", "20"});
  hears.Received();
  AdvanceTime(20);
  const std::vector<Reply> heard = hears.Received();
  CHECK(std::count(heard.begin(), heard.end(),
                   Array({Bulk("message"), Bulk("__keyevent@0__:expired"), Bulk("app:k")})) == 1);
}

TEST_CASE_METHOD(CommandTest, "a push is not sent to a client whose user may no longer take the key") {
  const std::vector<std::vector<std::string>> changes = {
      {"ACL", "SETUSER", "ann", "resetkeys", "~other"}, {"ACL", "SETUSER", "ann", "-take"}, {}};
  for (const auto& change : changes) {
    CAPTURE(change);
    Run({"ACL", "SETUSER", "ann", "reset", "on", ">p", "+@all", "~k"});
    Run({"ACL", "SETUSER", "bob", "reset", "on", ">p", "+@all", "~other"});
    TestClient& reader = Connect();
    REQUIRE(reader.Run({"HELLO", "3", "AUTH", "ann", "p"}).kind != Reply::Kind::kError);
    Run({"DEL", "k"});
    REQUIRE(Run({"TAKE", "k", "LEASE", "1000"}).elements.at(0) == Bulk("LEASE"));
    CHECK(reader.Run({"TAKE", "k", "LEASE", "1000", "PUSH"}).elements.at(0) == Bulk("BUSY"));
    change.empty() ? reader.Run({"AUTH", "bob", "p"}) : Run(change);
    CHECK(Run({"SET", "k", "secret"}) == Ok());
    TurnWheels();
    CHECK(reader.Received().empty());
    CHECK(reader.session().MayRun());
  }
}

}  // namespace mayfly::testing
