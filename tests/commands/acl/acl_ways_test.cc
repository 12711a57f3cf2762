// What users get by other ways than ACL SETUSER: options, files and requirepass; who has to log in again; and what the log tells of
// a script.
#include <string>
#include <vector>

#include "commands/acl/acl_world.h"
#include "exec/acl/user_store.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

const Reply kLoginFirst = Error("NOAUTH Authentication required.");

class AclWaysTest : public AclWorld {
 public:
  AclWaysTest() {
    server().files.read_again = [this](const std::string&, std::string& read) -> config::Problem {
      read = text;
      return std::nullopt;
    };
    server().files.directory = [](const std::string& path, std::string& absolute) {
      absolute = path;
      return config::Problem();
    };
  }
  void StartWithWords(const std::vector<std::string>& words) {
    REQUIRE_FALSE(server().options.Load(words, {}).error);
    REQUIRE(LoadUsersAtStart(server().server) == std::nullopt);
  }
  bool Publishes(const std::string& user) {
    return Run({"ACL", "DRYRUN", user, "PUBLISH", "news", "m"}) == Ok();
  }
  // Of the newest entry of ACL LOG.
  std::string NewestField(const std::string& field) {
    const std::vector<Reply> entry = Run({"ACL", "LOG", "1"}).elements.at(0).elements;
    for (size_t i = 0; i + 1 < entry.size(); i += 2) {
      if (entry[i] == Bulk(field)) return entry[i + 1].text;
    }
    return "(none)";
  }

  std::string text;  // of the file of users
};

}  // namespace

// ---- options and files

TEST_CASE_METHOD(AclWaysTest, "acl-pubsub-default is for the users of the options, and for their selectors") {
  StartWithWords({"--acl-pubsub-default", "allchannels", "--user", "app on nopass +@all", "--user",
                  "selects on nopass (+publish)", "--user", "again on nopass resetchannels +@all reset +@all",
                  "--user", "few on nopass +@all resetchannels &other"});
  CHECK(Publishes("app"));
  CHECK(Publishes("selects"));
  CHECK(Publishes("again"));
  CHECK_FALSE(Publishes("few"));
  StartWithWords({"--acl-pubsub-default", "resetchannels", "--user", "late on nopass +@all (+publish)"});
  CHECK_FALSE(Publishes("late"));
}

TEST_CASE_METHOD(AclWaysTest, "acl-pubsub-default is for the users of a file, and for their selectors") {
  text =
      "user app on nopass +@all\nuser selects on nopass (+publish)\n"
      "user again on nopass resetchannels +@all reset +@all\nuser few on nopass +@all resetchannels &other\n";
  StartWithWords({"--acl-pubsub-default", "allchannels", "--aclfile", "/users.acl"});
  CHECK(Publishes("app"));
  CHECK(Publishes("selects"));
  CHECK(Publishes("again"));
  CHECK_FALSE(Publishes("few"));
  REQUIRE(Run({"CONFIG", "SET", "acl-pubsub-default", "resetchannels"}) == Ok());
  REQUIRE(Run({"ACL", "LOAD"}) == Ok());
  for (const char* user : {"app", "selects", "again", "few"}) CHECK_FALSE(Publishes(user));
}

// ---- requirepass

TEST_CASE_METHOD(AclWaysTest, "requirepass changes the default user's password, and none of its rules") {
  REQUIRE(SetUser("default", {"resetkeys", "~a*", "-flushall"}) == Ok());
  REQUIRE(Run({"CONFIG", "SET", "requirepass", "secret"}) == Ok());
  TestClient& guest = Connect();
  CHECK(guest.Run({"AUTH", "secret"}) == Ok());
  CHECK(guest.Run({"GET", "a1"}) == Null());
  CHECK(guest.Run({"GET", "b"}).text.starts_with("NOPERM "));
  CHECK(guest.Run({"FLUSHALL"}).text.starts_with("NOPERM "));
  REQUIRE(Run({"CONFIG", "SET", "requirepass", ""}) == Ok());
  CHECK(Connect().Run({"GET", "b"}).text.starts_with("NOPERM "));
  REQUIRE(SetUser("default", {"off"}) == Ok());
  REQUIRE(Run({"CONFIG", "SET", "requirepass", "other"}) == Ok());
  CHECK(Connect().Run({"AUTH", "other"}).text.starts_with("WRONGPASS "));
  REQUIRE(Run({"CONFIG", "SET", "requirepass", ""}) == Ok());
  CHECK(Connect().Run({"PING"}) == kLoginFirst);
}

TEST_CASE_METHOD(AclWaysTest, "who is there without a login may go on when requirepass becomes empty") {
  REQUIRE(Run({"CONFIG", "SET", "requirepass", "secret"}) == Ok());
  TestClient& guest = Connect();
  CHECK(guest.Run({"PING"}) == kLoginFirst);
  REQUIRE(Run({"CONFIG", "SET", "requirepass", ""}) == Ok());
  CHECK(guest.Run({"PING"}) == Simple("PONG"));
  CHECK(guest.Run({"ACL", "WHOAMI"}) == Bulk("default"));
}

TEST_CASE_METHOD(AclWaysTest, "after RESET a client has to log in again if newcomers have to") {
  REQUIRE(SetUser("app", {"on", "nopass", "+@all", "~a*"}) == Ok());
  TestClient& app = As("app");
  CHECK(app.Run({"RESET"}) == Simple("RESET"));
  CHECK(app.Run({"GET", "b"}) == Null());
  CHECK(app.Run({"AUTH", "app", "any"}) == Ok());
  REQUIRE(SetUser("default", {">secret"}) == Ok());
  CHECK(app.Run({"RESET"}) == Simple("RESET"));
  CHECK(app.Run({"GET", "b"}) == kLoginFirst);
  CHECK(app.Run({"AUTH", "secret"}) == Ok());
  CHECK(app.Run({"GET", "b"}) == Null());
}

// ---- the log

TEST_CASE_METHOD(AclWaysTest, "a refusal within a script names the client that has sent the script") {
  REQUIRE(SetUser("app", {"on", "nopass", "+@all", "~a*"}) == Ok());
  TestClient& app = As("app");
  REQUIRE(app.Run({"CLIENT", "SETNAME", "worker"}) == Ok());
  app.Run({"EVAL", "return redis.pcall('get', 'b')", "0"});
  CHECK(NewestField("context") == "lua");
  CHECK(NewestField("client-info").find(" name=worker ") != std::string::npos);
  CHECK(NewestField("client-info").find(" cmd=eval ") != std::string::npos);
  REQUIRE(app.Run({"FUNCTION", "LOAD",
                   "#!lua name=l\nredis.register_function('f', function() return redis.pcall('get', 'c') "
                   "end)"}) == Bulk("l"));
  app.Run({"MULTI"});
  app.Run({"FCALL", "f", "0"});
  app.Run({"EXEC"});
  CHECK(NewestField("object") == "c");
  CHECK(NewestField("client-info").find(" name=worker ") != std::string::npos);
}

}  // namespace mayfly::testing
