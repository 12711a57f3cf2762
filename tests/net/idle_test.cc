// Idle clients: the option timeout, and the kernel's keep-alive.
#include <vector>

#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

using KeepAliveCall = Link::KeepAliveCall;

TEST_CASE("an idle client is closed when `timeout` is over, to the millisecond") {
  SimulatedServer server;
  server.Set("timeout", "10");
  Peer& peer = server.Connect();
  server.AdvanceTime(9'999);
  CHECK(peer.connected());
  server.AdvanceTime(1);
  CHECK(peer.ended());
}

TEST_CASE("each request restarts a client's idle time") {
  SimulatedServer server;
  server.Set("timeout", "10");
  Peer& busy = server.Connect();
  Peer& idle = server.Connect();
  server.AdvanceTime(6'000);
  CHECK(server.Ask(busy, {"PING"}) == testing::Simple("PONG"));
  server.AdvanceTime(4'000);
  CHECK(idle.ended());
  CHECK(busy.connected());
  server.AdvanceTime(5'999);
  CHECK(busy.connected());
  server.AdvanceTime(1);
  CHECK(busy.ended());
}

TEST_CASE("a monitor only listens, and is never idle") {
  SimulatedServer server;
  server.Set("timeout", "10");
  Peer& peer = server.Connect();
  CHECK(server.Ask(peer, {"MONITOR"}) == testing::Ok());
  server.AdvanceTime(60'000);
  CHECK(peer.connected());
}

TEST_CASE("a change of `timeout` applies to clients that are connected already") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  server.AdvanceTime(5'000);
  REQUIRE(server.Run({"CONFIG", "SET", "timeout", "10"}) == testing::Ok());
  server.AdvanceTime(4'999);
  CHECK(peer.connected());
  server.AdvanceTime(1);
  CHECK(peer.ended());
}

TEST_CASE("a shorter `timeout` moves the deadline of clients that had one already") {
  SimulatedServer server;
  server.Set("timeout", "1000");
  Peer& peer = server.Connect();
  server.AdvanceTime(5'000);
  REQUIRE(server.Run({"CONFIG", "SET", "timeout", "10"}) == testing::Ok());
  server.AdvanceTime(4'999);
  CHECK(peer.connected());
  server.AdvanceTime(1);
  CHECK(peer.ended());
}

TEST_CASE("without a timeout the loop never wakes for an idle client") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  const uint64_t turns = server.world.turns();
  server.AdvanceTime(86'400'000);
  CHECK(server.world.turns() == turns);
  CHECK(peer.connected());
}

TEST_CASE("ten thousand idle clients cost hardly a turn until they are closed, each at its own time") {
  SimulatedServer server;
  server.Set("timeout", "100");
  server.Set("maxclients", "10100");
  constexpr size_t kClients = 10'000;
  constexpr size_t kAtOnce = 1'000;
  constexpr uint64_t kApartMs = 1'000;
  std::vector<Peer*> peers;
  while (peers.size() < kClients) {
    for (size_t i = 0; i < kAtOnce; ++i) {
      peers.push_back(server.TryConnect());
      REQUIRE(peers.back() != nullptr);
    }
    server.Settle();
    server.AdvanceTime(kApartMs);
  }
  const uint64_t turns = server.world.turns();
  server.AdvanceTime(100'000 - (kClients / kAtOnce) * kApartMs - 1);
  // The wheel files them anew now and then, many at a time.
  CHECK(server.world.turns() - turns <= kClients / 100);
  CHECK(peers.front()->connected());
  for (size_t first = 0; first < kClients; first += kAtOnce) {
    server.AdvanceTime(1);
    CHECK(peers[first]->ended());
    CHECK(peers[first + kAtOnce - 1]->ended());
    server.AdvanceTime(kApartMs - 1);
    if (first + kAtOnce < kClients) CHECK(peers[first + kAtOnce]->connected());
  }
}

TEST_CASE("a client that is still reading its reply is not idle") {
  SimulatedServer server;
  server.Set("timeout", "10");
  REQUIRE(server.Run({"SET", "big", std::string(1'000'000, 'v')}) == testing::Ok());
  Peer& slow = server.Connect();
  slow.link().send_capacity = 64 * 1024;
  slow.ReadPerMs(20);
  slow.Request({"GET", "big"});
  server.AdvanceTime(45'000);  // 900,000 bytes
  CHECK(slow.connected());
  server.AdvanceTime(20'000);
  CHECK(slow.ended());
  CHECK(slow.received().size() == 1'000'012);
}

TEST_CASE("a client that sends without being answered is not idle") {
  SimulatedServer server;
  server.Set("timeout", "10");
  Peer& silent = server.Connect();
  Peer& slow = server.Connect();
  silent.Request({"CLIENT", "REPLY", "OFF"});
  slow.Send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$500000\r\n");
  for (int i = 0; i < 5; ++i) {
    silent.Request({"INCR", "n"});
    slow.Send(std::string(100'000, 'v'));
    server.AdvanceTime(9'000);
  }
  CHECK(silent.connected());
  slow.Send("\r\n");
  server.Settle();
  CHECK(slow.Take() == "+OK\r\n");
}

TEST_CASE("a client that CLIENT PAUSE holds back is not closed as idle") {
  SimulatedServer server;
  server.Set("timeout", "10");
  Peer& peer = server.Connect();
  REQUIRE(server.Run({"CLIENT", "PAUSE", "60000"}) == testing::Ok());
  peer.Request({"PING"});
  server.AdvanceTime(59'999);
  CHECK(peer.connected());
  CHECK(peer.received().empty());
  server.AdvanceTime(1);
  CHECK(peer.Take() == "+PONG\r\n");
}

TEST_CASE("who waits for messages or for elements is never idle, and is like others afterwards") {
  for (const bool subscribes : {true, false}) {
    CAPTURE(subscribes);
    SimulatedServer server;
    server.Set("timeout", "10");
    Peer& peer = server.Connect();
    peer.Request(subscribes ? std::vector<std::string>{"SUBSCRIBE", "news"}
                            : std::vector<std::string>{"BLPOP", "list", "0"});
    server.AdvanceTime(100'000);
    REQUIRE(peer.connected());
    peer.Take();
    if (subscribes)
      peer.Request({"UNSUBSCRIBE"});
    else
      server.Ask(server.Connect(), {"RPUSH", "list", "v"});
    server.AdvanceTime(9'999);
    CHECK(peer.connected());
    CHECK_FALSE(peer.Take().empty());
    server.AdvanceTime(1);
    CHECK(peer.ended());
  }
}

TEST_CASE("keep-alive is set to the value of tcp-keepalive, for TCP only") {
  SimulatedServer server({.options = {"--unixsocket", "sim-idle.sock"}});
  CHECK(server.Connect().link().keep_alive == KeepAliveCall{300, 100, 3});
  server.Set("tcp-keepalive", "60");
  CHECK(server.Connect().link().keep_alive == KeepAliveCall{60, 20, 3});
  server.Set("tcp-keepalive", "1");
  CHECK(server.Connect().link().keep_alive == KeepAliveCall{1, 1, 3});
  server.Set("tcp-keepalive", "0");
  CHECK_FALSE(server.Connect().link().keep_alive);
  server.Set("tcp-keepalive", "300");
  Peer* const local = server.TryConnect("", "sim-idle.sock");
  REQUIRE(local != nullptr);
  server.Settle();
  CHECK_FALSE(local->link().keep_alive);
  CHECK(server.Ask(*local, {"PING"}) == testing::Simple("PONG"));
}

TEST_CASE("TCP_NODELAY is set") {
  SimulatedServer server;
  CHECK(server.Connect().link().no_delay);
}

}  // namespace
}  // namespace mayfly::sim
