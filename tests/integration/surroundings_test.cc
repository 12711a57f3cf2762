// What the daemon makes of the place where it is started: closed streams, few descriptors, little memory.
#include <signal.h>

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/wire.h"

namespace mayfly {
namespace {

TEST_CASE("a daemon that is started with closed standard streams serves, and ends with exit code 0") {
  for (const std::vector<int>& closed : {std::vector{0}, {1}, {2}, {0, 1, 2}}) {
    INFO("closed: " << closed.size() << " from " << closed.front());
    Daemon daemon({"--pidfile", "mayfly.pid"}, {.closed_streams = closed});
    Client client(daemon);
    CHECK(client.Run({"SET", "k", "v"}) == "OK");
    CHECK(client.Run({"GET", "k"}) == "v");
    daemon.Signal(SIGTERM);
    CHECK(daemon.Wait().exit_code == 0);
  }
}

}  // namespace
}  // namespace mayfly
