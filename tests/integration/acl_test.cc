// Users of a daemon: from its files at the start, back into them, and what becomes of connections.
#include <fstream>
#include <string>

#include "integration/client.h"
#include "integration/daemon.h"
#include "support/catch.h"
#include "support/folder.h"

namespace mayfly {

TEST_CASE("users of the conf file are there at the start, and CONFIG REWRITE keeps what has changed") {
  const Folder folder;
  const std::string file = folder / "my.conf";
  std::ofstream(file) << "user app on >secret ~app:* +@all\nuser old on nopass\n# last\n";
  {
    const Daemon daemon({file});
    Client client(daemon);
    CHECK(client.Run({"AUTH", "app", "secret"}) == "OK");
    CHECK(client.Run({"SET", "app:k", "v"}) == "OK");
    CHECK(client.Run({"GET", "other"}) ==
          "-NOPERM this user has no permissions to access one of the keys used as arguments");
    CHECK(client.Run({"ACL", "SETUSER", "app", ">second", "%R~\"x", "(+get ~y)"}) == "OK");
    CHECK(client.Run({"ACL", "DELUSER", "old"}) == ":1");
    CHECK(client.Run({"CONFIG", "REWRITE"}) == "OK");
  }
  {
    const Daemon daemon({file});
    Client client(daemon);
    CHECK(client.Run({"ACL", "USERS"}) == "[app default]");
    CHECK(client.Run({"ACL", "DRYRUN", "app", "GET", "\"x"}) == "OK");
    CHECK(client.Run({"ACL", "DRYRUN", "app", "GET", "y"}) == "OK");
    CHECK(client.Run({"AUTH", "app", "secret"}) == "OK");
    CHECK(client.Run({"AUTH", "app", "second"}) == "OK");
  }
}

TEST_CASE("a user of any name and with any rules comes back from the line that CONFIG REWRITE writes") {
  const Folder folder;
  const std::string file = folder / "my.conf";
  std::ofstream(file) << "# mine\n";
  std::string users;
  {
    const Daemon daemon({file});
    Client client(daemon);
    for (const char* const name :
         {"", "admin", "a\"b", "it's", "a\\b", "#app", "\xC3\xA4", "\x7F", "user", "~*", "include"})
      REQUIRE(client.Run({"ACL", "SETUSER", name, "on", ">p", "~a'\"\\b*", "%R~#", "&\xC3\xA4", "+get",
                          "(~\xC3\xA4 +set)", "(~x\") +del)"}) == "OK");
    // As a default user that nobody has changed.
    REQUIRE(client.Run({"ACL", "SETUSER", "root", "on", "nopass", "~*", "&*", "+@all"}) == "OK");
    REQUIRE(client.Run({"ACL", "SETUSER", "sleeper", "nopass", "~*", "&*", "+@all"}) == "OK");
    REQUIRE(client.Run({"CONFIG", "REWRITE"}) == "OK");
    users = client.Run({"ACL", "LIST"});
  }
  const Daemon daemon({file});
  Client client(daemon);
  CHECK(client.Run({"ACL", "LIST"}) == users);
  CHECK(client.Run({"AUTH", "root", "any"}) == "OK");
}

TEST_CASE("a file of users is read at the start, saved, and loaded again") {
  const Folder folder;
  const std::string file = folder / "users.acl";
  std::ofstream(file) << "user app on >secret ~app:* +@all\n";
  const Daemon daemon({"--aclfile", file});
  Client client(daemon);
  Client other(daemon);
  CHECK(client.Run({"AUTH", "app", "secret"}) == "OK");
  CHECK(other.Run({"ACL", "SETUSER", "late", "on", "nopass", "+ping"}) == "OK");
  CHECK(other.Run({"ACL", "SAVE"}) == "OK");
  CHECK(other.Run({"ACL", "DELUSER", "late"}) == ":1");
  CHECK(other.Run({"ACL", "LOAD"}) == "OK");
  CHECK(client.Run({"PING"}) == "(gone)");
  CHECK(other.Run({"ACL", "USERS"}) == "[app default late]");
  CHECK(other.Run({"AUTH", "late", "any"}) == "OK");
  CHECK(other.Run({"PING"}) == "PONG");
  CHECK(other.Run({"ACL", "LIST"}) == "-NOPERM this user has no permissions to run the 'acl|list' command");
}

TEST_CASE("a user that is removed loses its connections at once, also one that waits") {
  const Daemon daemon;
  Client admin(daemon);
  CHECK(admin.Run({"ACL", "SETUSER", "app", "on", "nopass", "+@all", "~*", "&*"}) == "OK");
  Client idle(daemon);
  Client waiting(daemon);
  CHECK(idle.Run({"AUTH", "app", "x"}) == "OK");
  CHECK(waiting.Run({"AUTH", "app", "x"}) == "OK");
  waiting.Queue({"BLPOP", "list", "0"});
  waiting.Queue({"PING"});
  CHECK(admin.Run({"ACL", "DELUSER", "app"}) == ":1");
  CHECK(idle.Run({"PING"}) == "(gone)");
  CHECK(waiting.Next() == "(gone)");
}

}  // namespace mayfly
