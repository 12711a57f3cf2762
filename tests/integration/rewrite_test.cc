// What CONFIG REWRITE writes is what the next start reads.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "support/catch.h"
#include "support/folder.h"

namespace mayfly {
namespace {

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a daemon starts again from a conf file that was rewritten with hostile and long values") {
  const Folder folder;
  const std::string file = folder / "my.conf";
  std::ofstream(file) << "# mine\n";
  const std::string hostile("a \"b\"\r\nmaxkeys 7\n#'\\\0\xff ", 23);
  const std::string huge(100'000, '\n');
  {
    const Daemon daemon({file});
    Client client(daemon);
    for (const char* name : {"ignore-warnings", "masterauth"})
      CHECK(client.Run({"CONFIG", "SET", name, hostile}) == "OK");
    CHECK(client.Run({"CONFIG", "SET", "bind-source-addr", huge}) == "OK");
    for (const char* name :
         {"tls-protocols", "oom-score-adj-values", "shutdown-on-sigint", "shutdown-on-sigterm"})
      CHECK(client.Run({"CONFIG", "SET", name, "default\nmaxkeys 7"}).starts_with("-ERR"));
    CHECK(client.Run({"CONFIG", "REWRITE"}) == "OK");
  }
  {
    const Daemon daemon({file});
    Client client(daemon);
    for (const std::string name : {"ignore-warnings", "masterauth"})
      CHECK(client.Run({"CONFIG", "GET", name}) == "[" + name + " " + hostile + "]");
    CHECK((client.Run({"CONFIG", "GET", "bind-source-addr"}) == "[bind-source-addr " + huge + "]"));
    CHECK(client.Run({"CONFIG", "GET", "maxkeys"}) == "[maxkeys 0]");
  }
}

TEST_CASE(
    "users of an included file and of the command line stay there, and CONFIG REWRITE writes the others") {
  const Folder folder;
  const std::string file = folder / "my.conf";
  std::ofstream(folder / "users.conf")
      << "user app on >secret ~app:* +@all\nuser default on nopass ~* +@all\n";
  const std::string text = "include " + (folder / "users.conf") + "\n";
  std::ofstream(file) << text;
  const std::vector<std::string> words{file, "--user", "job on nopass ~job:* +get"};
  std::string users;
  {
    const Daemon daemon(words);
    Client client(daemon);
    CHECK(client.Run({"CONFIG", "REWRITE"}) == "OK");
    CHECK(TextOf(file) == text);
    CHECK(client.Run({"ACL", "SETUSER", "late", "on", "nopass", "+ping"}) == "OK");
    CHECK(client.Run({"CONFIG", "REWRITE"}) == "OK");
    users = client.Run({"ACL", "LIST"});
  }
  {
    const Daemon daemon(words);
    Client client(daemon);
    CHECK(client.Run({"ACL", "LIST"}) == users);
    CHECK(client.Run({"ACL", "USERS"}) == "[app default job late]");
    const std::string written = TextOf(file);
    CHECK(client.Run({"ACL", "SETUSER", "job", "+set"}) == "OK");
    CHECK(client.Run({"CONFIG", "REWRITE"}) ==
          "-ERR Rewriting config file: the user 'job' comes from --user and has changed: change it there, or "
          "move it to the conf file");
    CHECK(client.Run({"ACL", "SETUSER", "job", "-set"}) == "OK");
    CHECK(client.Run({"ACL", "DELUSER", "app"}) == ":1");
    CHECK(client.Run({"CONFIG", "REWRITE"})
              .starts_with("-ERR Rewriting config file: the user 'app' comes from " +
                           (folder / "users.conf") + ":1 and has changed"));
    CHECK(TextOf(file) == written);
  }
}

TEST_CASE("users that an included file got or lost since the start are no obstacle to CONFIG REWRITE") {
  const Folder folder;
  const std::string file = folder / "my.conf";
  const std::string app = "user app on nopass ~app:* +@all\n";
  std::ofstream(folder / "users.conf") << app;
  std::ofstream(file) << "include " + (folder / "users.conf") + "\n";
  const Daemon daemon({file});
  Client client(daemon);
  std::ofstream(folder / "users.conf") << app << "user later on nopass +ping\n";
  CHECK(client.Run({"CONFIG", "SET", "timeout", "77"}) == "OK");
  CHECK(client.Run({"CONFIG", "REWRITE"}) == "OK");
  CHECK(TextOf(file).ends_with("\ntimeout 77\n"));
  // What is in force and stands nowhere else is written.
  std::ofstream(folder / "users.conf") << "user later on nopass +ping\n";
  CHECK(client.Run({"CONFIG", "REWRITE"}) == "OK");
  CHECK(TextOf(file).find("user app on nopass ~app:* resetchannels +@all\n") != std::string::npos);
  // A user of that name has come by ACL SETUSER, with other rules.
  CHECK(client.Run({"ACL", "SETUSER", "later", "on", "nopass", "+get"}) == "OK");
  CHECK(client.Run({"CONFIG", "REWRITE"})
            .starts_with("-ERR Rewriting config file: the user 'later' comes from " +
                         (folder / "users.conf") + ":1 and has changed"));
}

TEST_CASE("CONFIG REWRITE finds an included file whose path begins where the daemon was started") {
  const Folder folder;
  const Folder elsewhere;
  const std::string file = folder / "my.conf";
  std::ofstream(folder / "more.conf") << "timeout 300\n";
  const std::string relative =
      std::filesystem::relative(folder.path(), std::filesystem::current_path()).string();
  std::ofstream(file) << "include " << relative << "/more.conf\ninclude " << relative << "/none*.conf\n";
  const Daemon daemon({file, "--dir", elsewhere.path()});
  Client client(daemon);
  CHECK(client.Run({"CONFIG", "SET", "timeout", "77"}) == "OK");
  CHECK(client.Run({"CONFIG", "REWRITE"}) == "OK");
  CHECK(TextOf(file).ends_with("\ntimeout 77\n"));
}

TEST_CASE("rules of an included file that CONFIG SET has replaced do not come back after CONFIG REWRITE") {
  const Folder folder;
  const std::string file = folder / "my.conf";
  std::ofstream(folder / "more.conf")
      << "ttl-rule a:* max 5m\nnamespace web maxkeys 5\nnamespace app maxkeys 7\n";
  std::ofstream(file) << "include " + (folder / "more.conf") + "\n";
  {
    const Daemon daemon({file});
    Client client(daemon);
    CHECK(client.Run({"CONFIG", "SET", "ttl-rule", "b:* max 1m", "namespace", "app prefix app:"}) == "OK");
    CHECK(client.Run({"CONFIG", "REWRITE"}) == "OK");
  }
  const Daemon daemon({file});
  Client client(daemon);
  CHECK(client.Run({"CONFIG", "GET", "ttl-rule"}) == "[ttl-rule b:* max 60]");
  CHECK(client.Run({"CONFIG", "GET", "namespace"}) == "[namespace app prefix app:]");
  CHECK(client.Run({"CONFIG", "SET", "ttl-rule", ""}) == "OK");
  CHECK(client.Run({"CONFIG", "REWRITE"}) == "OK");
  CHECK(TextOf(file).find("b:*") == std::string::npos);
}

}  // namespace mayfly
