// Connections to other servers on the simulated network, which has none. Real ones: integration/migrate_test.cc.
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

using testing::Bulk;
using testing::Error;
using testing::Ok;

TEST_CASE("a target that cannot be reached is an error at once, and the client is served on") {
  SimulatedServer server;
  CHECK(server.Run({"SET", "k", "v"}) == Ok());
  CHECK(server.Run({"MIGRATE", "10.0.0.7", "6379", "k", "0", "100"}) ==
        Error("IOERR error or timeout writing to target instance"));
  CHECK(server.Run({"MIGRATE", "fd00::7", "6379", "k", "0", "100"}) ==
        Error("IOERR error or timeout writing to target instance"));
  CHECK(server.Run({"MIGRATE", "there", "6379", "k", "0", "100"}) ==
        Error("IOERR error or timeout connecting to the client"));
  CHECK(server.Run({"MIGRATE", "", "6379", "k", "0", "100"}) ==
        Error("IOERR error or timeout connecting to the client"));
  CHECK(server.Run({"GET", "k"}) == Bulk("v"));
}

}  // namespace
}  // namespace mayfly::sim
