// Accepting connections, and what happens when accept fails.
#include <cerrno>
#include <string>
#include <vector>

#include "net/socket/limits.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_CASE("if no descriptor is free, new connections wait, one log line says so, and the server goes on") {
  SimulatedServer server({.logs = true});
  Peer& there = server.Connect();
  server.world.set_open_files_max(1);
  Peer& late = server.Connect();
  late.Send("PING\r\n");
  server.AdvanceTime(10 * net::kPauseMs);
  CHECK(late.received().empty());
  CHECK(server.Ask(there, {"PING"}) == testing::Simple("PONG"));
  const std::string line = "# cannot accept connections: too many open files";
  CHECK(Count(server.Log(), line) == 1);

  server.world.set_open_files_max(2);
  server.AdvanceTime(net::kPauseMs);
  CHECK(late.Take() == "+PONG\r\n");
  CHECK(server.stats().connections_received == 2);
}

// CVE-2025-48367.
TEST_CASE("a server without free descriptors does not spin, and logs it again every kPauseLogMs") {
  SimulatedServer server({.logs = true});
  server.world.set_open_files_max(0);
  REQUIRE(server.TryConnect() != nullptr);
  const uint64_t turns = server.world.turns();
  server.AdvanceTime(3 * net::kPauseLogMs + 1);
  CHECK(server.world.turns() - turns <= 2 * (3 * net::kPauseLogMs / net::kPauseMs + 2));
  CHECK(Count(server.Log(), "# cannot accept connections") == 4);
}

TEST_CASE("when there are descriptors again, every listening socket accepts again") {
  const std::string path = "sim-accept.sock";
  SimulatedServer server({.options = {"--unixsocket", path, "--bind", "127.0.0.1"}});
  server.world.set_open_files_max(0);
  for (const std::string& to : {std::string(), path}) REQUIRE(server.TryConnect("127.0.0.1", to) != nullptr);
  server.AdvanceTime(10 * net::kPauseMs);
  server.world.set_open_files_max(100);
  server.AdvanceTime(net::kPauseMs);
  CHECK(server.stats().connections_received == 2);
  for (const std::string& to : {std::string(), path}) REQUIRE(server.TryConnect("127.0.0.1", to) != nullptr);
  server.Settle();
  CHECK(server.stats().connections_received == 4);
}

TEST_CASE("an error of accept that concerns one connection does not delay the next one") {
  SimulatedServer server;
  server.world.FailAccepts({ECONNABORTED, EPERM, EPROTO});
  REQUIRE(server.TryConnect() != nullptr);
  Peer& next = server.Connect();
  CHECK(server.Ask(next, {"PING"}) == testing::Simple("PONG"));
  CHECK(server.elapsed_ms() == 0);
}

TEST_CASE("if the kernel has no memory for a connection, it is accepted kPauseMs later") {
  SimulatedServer server;
  server.world.FailAccepts({ENOBUFS});
  Peer& peer = server.Connect();
  peer.Send("PING\r\n");
  server.AdvanceTime(net::kPauseMs - 1);
  CHECK(peer.received().empty());
  server.AdvanceTime(1);
  CHECK(peer.Take() == "+PONG\r\n");
}

TEST_CASE(
    "of many new connections one turn accepts kAcceptsPerTurn, and other clients are served in between") {
  SimulatedServer server;
  Peer& there = server.Connect();
  std::vector<Peer*> crowd;
  constexpr size_t kTurns = 2;
  for (size_t i = 0; i < kTurns * net::kAcceptsPerTurn; ++i) {
    crowd.push_back(server.TryConnect());
    REQUIRE(crowd.back() != nullptr);
  }
  for (size_t turn = 1; turn <= kTurns; ++turn) {
    there.Send("PING\r\n");
    server.Turn();
    CHECK(there.Writes().size() == turn);
    CHECK(server.world.open_files() == 1 + turn * net::kAcceptsPerTurn);
  }
  for (Peer* peer : crowd) peer->Send("PING\r\n");
  server.Settle();
  for (Peer* peer : crowd) CHECK(peer->Take() == "+PONG\r\n");
}

TEST_CASE("a client of the unix socket is known by its flag and the socket's path, others by their address") {
  const std::string path = "sim-known.sock";
  SimulatedServer server({.options = {"--unixsocket", path, "--bind", "127.0.0.1"}});
  Peer* const local = server.TryConnect("127.0.0.1", path);
  REQUIRE(local != nullptr);
  const std::string here = server.Ask(*local, {"CLIENT", "INFO"}).text;
  CHECK(here.find(" flags=U ") != std::string::npos);
  CHECK(here.find(" addr=" + path + ":0 ") != std::string::npos);
  CHECK(here.find(" laddr=" + path + ":0 ") != std::string::npos);
  const std::string there = server.Ask(server.Connect(), {"CLIENT", "INFO"}).text;
  CHECK(there.find(" flags=N ") != std::string::npos);
  CHECK(there.find(" addr=127.0.0.1:") != std::string::npos);
  CHECK(there.find(" laddr=127.0.0.1:6379 ") != std::string::npos);
}

}  // namespace
}  // namespace mayfly::sim
