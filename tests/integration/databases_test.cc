// As many databases as there may be, in a real daemon.
#include <string>

#include "integration/client.h"
#include "integration/daemon.h"
#include "support/catch.h"

namespace mayfly {

TEST_CASE("the highest of the most databases is flushed, swapped and moved to as any other") {
  const Daemon daemon({"--databases", "256"});
  Client client(daemon);
  for (int i = 0; i < 256; ++i) {
    REQUIRE(client.Run({"SELECT", std::to_string(i)}) == "OK");
    REQUIRE(client.Run({"SET", "k", std::to_string(i)}) == "OK");
  }
  CHECK(client.Run({"SELECT", "256"}) == "-ERR DB index is out of range");
  CHECK(client.Run({"FLUSHDB"}) == "OK");
  CHECK(client.Run({"DBSIZE"}) == ":0");
  CHECK(client.Run({"SET", "new", "v"}) == "OK");
  CHECK(client.Run({"SWAPDB", "0", "255"}) == "OK");
  CHECK(client.Run({"GET", "k"}) == "0");
  CHECK(client.Run({"SELECT", "254"}) == "OK");
  CHECK(client.Run({"RENAME", "k", "moved"}) == "OK");
  CHECK(client.Run({"MOVE", "moved", "255"}) == ":1");
  CHECK(client.Run({"DBSIZE"}) == ":0");
  CHECK(client.Run({"SELECT", "255"}) == "OK");
  CHECK(client.Run({"GET", "moved"}) == "254");
  CHECK(client.Run({"DBSIZE"}) == ":2");
  CHECK(client.Run({"SELECT", "0"}) == "OK");
  CHECK(client.Run({"GET", "new"}) == "v");
  CHECK(client.Run({"DBSIZE"}) == ":1");
  for (int round = 0; round < 3; ++round) CHECK(client.Run({"FLUSHALL"}) == "OK");
  CHECK(client.Run({"SWAPDB", "256", "0"}) == "-ERR DB index is out of range");
}

TEST_CASE("more databases than an entry can name end the start") {
  const Ended ended = Daemon::RunToEnd({"--databases", "257"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.output == "mayfly: --databases: argument must be between 1 and 256 inclusive\n");
}

}  // namespace mayfly
