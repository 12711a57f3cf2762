// Crowds: one poll brings more input than a turn takes, so it becomes several turns.
#include <string>
#include <vector>

#include "net/socket/limits.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

std::vector<Peer*> ConnectCrowd(SimulatedServer& server, size_t size) {
  server.world.set_open_files_max(size + 100);
  std::vector<Peer*> crowd;
  for (size_t i = 0; i < size; ++i) crowd.push_back(&server.Connect());
  server.Settle();
  return crowd;
}

void SendAll(const std::vector<Peer*>& crowd, const std::string& request) {
  for (Peer* peer : crowd) peer->Send(request);
}

TEST_CASE(
    "a turn that has read from kDeferredMax clients ends, and the next one begins within the same poll") {
  SimulatedServer server;
  const std::vector<Peer*> crowd = ConnectCrowd(server, 3 * net::kDeferredMax);
  const uint64_t turns = server.stats().loop_turns;
  SendAll(crowd, "PING\r\n");
  REQUIRE(server.Turn(1) == 1);
  CHECK(server.stats().loop_turns == turns + 3);
  for (Peer* peer : crowd) REQUIRE(peer->Take() == "+PONG\r\n");
}

TEST_CASE("clients that fill the shared buffer end the turn, and nobody loses a byte") {
  SimulatedServer server;
  const std::vector<Peer*> crowd = ConnectCrowd(server, 2 * net::kSharedInputBytes / net::kReadBufferBytes);
  const uint64_t turns = server.stats().loop_turns;
  std::string pings;
  while (pings.size() < net::kReadBufferBytes) pings += "PING\r\n";
  SendAll(crowd, pings);
  REQUIRE(server.Turn(1) == 1);
  CHECK(server.stats().loop_turns > turns + 1);
  server.Settle();
  for (Peer* peer : crowd) REQUIRE(peer->Take().size() == pings.size() / 6 * 7);
}

TEST_CASE("a key that becomes due while a crowd is served is freed before all of the crowd is") {
  SimulatedServer server;
  const std::vector<Peer*> crowd = ConnectCrowd(server, 2 * net::kDeferredMax);
  server.Run({"SET", "k", "v", "PX", "1000"});
  server.AdvanceTime(999);
  REQUIRE(server.keys() == 1);
  server.world.set_look_cost_us(100);
  SendAll(crowd, "PING\r\n");
  REQUIRE(server.Turn(1) == 1);
  CHECK(server.keys() == 0);
}

TEST_CASE("clients that are killed by one of their crowd, in the turn that they have filled, are gone") {
  const bool sealed = GENERATE(false, true);
  SimulatedServer server({.sealed = sealed});
  const std::vector<Peer*> crowd = ConnectCrowd(server, 2 * net::kDeferredMax);
  for (Peer* peer : crowd) peer->Send("CLIENT KILL TYPE normal\r\n");
  server.Settle();
  size_t left = 0;
  for (Peer* peer : crowd) left += peer->Take().empty() ? 0 : 1;
  CHECK(left >= 1);
  CHECK(left < crowd.size());
  CHECK(server.Info("connected_clients") <= static_cast<int64_t>(left) + 1);
}

}  // namespace
}  // namespace mayfly::sim
