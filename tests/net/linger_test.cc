// Connections that the server ends: the last reply arrives, and lingering is bounded.
#include <string>
#include <vector>

#include "net/socket/limits.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

TEST_CASE("the reply to QUIT arrives even if the client has sent more") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  peer.Send("QUIT\r\n" + std::string(300'000, 'x'));
  server.Settle();
  CHECK(peer.Take() == "+OK\r\n");
  CHECK(peer.ended());
}

TEST_CASE("the reply to a protocol error arrives even if the client has sent more") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  peer.Send("PING\r\n*1\r\n$x\r\n" + std::string(300'000, 'x'));
  server.Settle();
  CHECK(peer.Take() == "+PONG\r\n-ERR Protocol error: invalid bulk length\r\n");
  CHECK(peer.ended());
  peer.Send("more");
  server.Settle();
  CHECK_FALSE(peer.was_reset());
}

TEST_CASE("a client above maxclients gets the error, even if it has sent a request") {
  SimulatedServer server;
  server.Set("maxclients", "1");
  REQUIRE(server.Run({"PING"}) == testing::Simple("PONG"));
  Peer& peer = *server.TryConnect();
  peer.Send("PING\r\n");
  server.Settle();
  CHECK(peer.Take() == "-ERR max number of clients reached\r\n");
  CHECK(peer.ended());
  CHECK(server.stats().connections_rejected == 1);
}

TEST_CASE("a client of another machine gets an error while protected-mode is on and there is no password") {
  SimulatedServer server;
  Peer& stranger = server.Connect("192.0.2.7");
  CHECK(stranger.received().starts_with("-DENIED "));
  CHECK(stranger.ended());
  server.Set("requirepass", "secret");
  Peer& guest = server.Connect("192.0.2.7");
  CHECK(server.Ask(guest, {"AUTH", "secret"}) == testing::Ok());
}

TEST_CASE("a connection lingers for kLingerMs at most") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  peer.Send("QUIT\r\n");
  server.Settle();
  CHECK(peer.Take() == "+OK\r\n");
  CHECK(server.world.open_files() == 1);
  server.AdvanceTime(net::kLingerMs - 1);
  CHECK(server.world.open_files() == 1);
  server.AdvanceTime(1);
  CHECK(server.world.open_files() == 0);
}

TEST_CASE("a client that goes on sending does not make its connection linger longer") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  peer.Send("QUIT\r\n");
  for (uint64_t ms = 0; ms < net::kLingerMs; ++ms) {
    server.AdvanceTime(1);
    if (ms % 10 == 0 && !peer.closed()) peer.Send("x");
  }
  server.AdvanceTime(1);
  CHECK(peer.closed());
  CHECK(server.world.open_files() == 0);
}

TEST_CASE("a connection whose client closes it too does not linger any longer") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  peer.Send("QUIT\r\n");
  server.Settle();
  REQUIRE(peer.ended());
  peer.Leave();
  server.Settle();
  CHECK(server.world.open_files() == 0);
}

TEST_CASE("a lingering connection is reset when its client has sent more than kLingerBytes") {
  SimulatedServer server;
  Peer& modest = server.Connect();
  Peer& greedy = server.Connect();
  modest.Send("QUIT\r\n" + std::string(net::kLingerBytes, 'x'));
  greedy.Send("QUIT\r\n" + std::string(net::kLingerBytes + 2 * net::kReadBufferBytes, 'x'));
  server.Settle();
  CHECK(server.world.open_files() == 1);
  CHECK(modest.ended());
  CHECK(greedy.was_reset());
}

TEST_CASE("kLingeringMax connections linger at most, and the clients of the others get their replies too") {
  SimulatedServer server;
  std::vector<Peer*> peers;
  for (size_t i = 0; i < net::kLingeringMax + 10; ++i) peers.push_back(&server.Connect());
  for (Peer* peer : peers) peer->Send("QUIT\r\n");
  server.Settle();
  CHECK(server.world.open_files() == net::kLingeringMax);
  for (Peer* peer : peers) {
    CHECK(peer->Take() == "+OK\r\n");
    CHECK(peer->ended());
  }
  server.AdvanceTime(net::kLingerMs);
  CHECK(server.world.open_files() == 0);

  // Those that have lingered make room for others.
  server.Connect().Send("QUIT\r\n");
  server.Settle();
  CHECK(server.world.open_files() == 1);
}

TEST_CASE("a client that ends its input gets all replies, and then the end") {
  SimulatedServer server;
  REQUIRE(server.Run({"SET", "big", std::string(500'000, 'v')}) == testing::Ok());
  Peer& peer = server.Connect();
  peer.ReadPerMs(1'000);
  peer.Send("GET big\r\nPING\r\n");
  peer.EndInput();
  server.AdvanceTime(1'000);
  CHECK(peer.received().size() == 500'011 + 7);
  CHECK(peer.ended());
  CHECK(server.world.open_files() == 1);  // that of server.Run
}

TEST_CASE(
    "a client that ends its input as its wait ends is not served, whichever of the two the loop sees first") {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SimulatedServer server({.choices = Choices(seed), .sealed = seed % 2 != 0});
    Peer& pusher = server.Connect();
    Peer& waiting = server.Connect();
    waiting.Send("BLPOP list 0\r\nINCR runs\r\nGET runs\r\n");
    server.Settle();
    pusher.Send("RPUSH list a\r\n");
    waiting.EndInput();
    server.Settle();
    CHECK(waiting.ended());
    CHECK(waiting.received().empty());
    CHECK(server.Run({"LLEN", "list"}) == testing::Integer(1));
  }
}

TEST_CASE(
    "the requests of a client that sends them and leaves at once run, over TCP and over a unix socket") {
  const std::string path = "sim-linger.sock";
  SimulatedServer server({.options = {"--unixsocket", path}});
  for (const std::string& to : {std::string(), path}) {
    Peer* const peer = server.TryConnect("127.0.0.1", to);
    REQUIRE(peer != nullptr);
    server.Settle();
    peer->Send("INCR runs\r\nINCR runs\r\n");
    peer->Leave();
    server.Settle();
  }
  CHECK(server.Run({"GET", "runs"}) == testing::Bulk("4"));
  CHECK(server.Info("connected_clients") == 1);
}

TEST_CASE("a client that resets its connection is forgotten at once") {
  SimulatedServer server;
  REQUIRE(server.Run({"SET", "big", std::string(500'000, 'v')}) == testing::Ok());
  Peer& reading = server.Connect();
  Peer& writing = server.Connect();
  writing.ReadNothing();
  writing.Send("GET big\r\nGET big\r\n");
  server.Settle();
  CHECK(writing.unread_replies() > 0);
  reading.Reset();
  writing.Reset();
  server.Settle();
  CHECK(server.world.open_files() == 1);
  CHECK(server.Info("connected_clients") == 1);
}

}  // namespace
}  // namespace mayfly::sim
