// What CONFIG REWRITE writes is what the next start reads.
#include <fstream>
#include <string>

#include <catch2/catch.hpp>

#include "integration/client.h"
#include "integration/daemon.h"
#include "support/folder.h"

namespace mayfly {

TEST_CASE("a daemon starts again from a conf file that was rewritten with hostile and long values") {
  const Folder folder;
  const std::string file = folder / "my.conf";
  std::ofstream(file) << "# mine\n";
  const std::string hostile("a \"b\"\r\nmaxkeys 7\n#'\\\0\xff ", 23);
  const std::string huge(100'000, '\n');
  {
    const Daemon daemon({file});
    Client client(daemon);
    for (const char* name : {"ignore-warnings", "tls-protocols", "masterauth"})
      CHECK(client.Run({"CONFIG", "SET", name, hostile}) == "OK");
    CHECK(client.Run({"CONFIG", "SET", "masteruser", huge}) == "OK");
    for (const char* name : {"oom-score-adj-values", "shutdown-on-sigint", "shutdown-on-sigterm"})
      CHECK(client.Run({"CONFIG", "SET", name, "default\nmaxkeys 7"}).starts_with("-ERR"));
    CHECK(client.Run({"CONFIG", "REWRITE"}) == "OK");
  }
  {
    const Daemon daemon({file});
    Client client(daemon);
    for (const std::string name : {"ignore-warnings", "tls-protocols", "masterauth"})
      CHECK(client.Run({"CONFIG", "GET", name}) == "[" + name + " " + hostile + "]");
    CHECK((client.Run({"CONFIG", "GET", "masteruser"}) == "[masteruser " + huge + "]"));
    CHECK(client.Run({"CONFIG", "GET", "maxkeys"}) == "[maxkeys 0]");
  }
}

}  // namespace mayfly
