// Shutdown: which requests are still answered, how long slow readers get, and that nothing is left open.
#include <csignal>
#include <string>
#include <vector>

#include "net/socket/limits.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

using testing::EncodeRequest;

// Clients close their sockets when they have read the end; the server may wait for that.
void LeaveAtTheEnd(const std::vector<Peer*>& peers) {
  for (Peer* peer : peers) {
    if (peer->ended()) peer->Leave();
  }
}

// Time passes, and clients close when they have read the end.
void Continue(SimulatedServer& server, const std::vector<Peer*>& peers, uint64_t ms) {
  for (uint64_t i = 0; i < ms; ++i) {
    server.AdvanceTime(1);
    LeaveAtTheEnd(peers);
  }
}

void End(SimulatedServer& server, const std::vector<Peer*>& peers, int signal = SIGTERM) {
  server.Raise(signal);
  LeaveAtTheEnd(peers);
  server.Settle();
}

TEST_CASE("requests that had arrived before SIGTERM are answered, and then everything ends at once") {
  SimulatedServer server;
  std::vector<Peer*> peers;
  for (int i = 0; i < 50; ++i) peers.push_back(&server.Connect());
  std::string pings;
  for (int i = 0; i < 30'000; ++i) pings += "PING\r\n";  // more than one turn reads
  for (Peer* peer : peers) peer->Send(pings);
  End(server, peers);
  CHECK(server.ended());
  CHECK(server.elapsed_ms() == 0);
  for (Peer* peer : peers) {
    CHECK(peer->received().size() == size_t{30'000} * 7);
    CHECK(peer->ended());
  }
  CHECK(server.world.open_files() == 0);
}

TEST_CASE("clients that were connected but not yet accepted when SIGTERM came are answered") {
  SimulatedServer server;
  std::vector<Peer*> peers;
  for (size_t i = 0; i < 2 * net::kAcceptsPerTurn - 2; ++i) {  // more than one turn accepts
    peers.push_back(server.TryConnect());
    REQUIRE(peers.back() != nullptr);
    peers.back()->Send("PING\r\n");
  }
  End(server, peers);
  CHECK(server.ended());
  for (Peer* peer : peers) {
    CHECK(peer->Take() == "+PONG\r\n");
    CHECK(peer->ended());
  }
}

TEST_CASE("connections that end in the turn of SIGTERM are not asked for input any more") {
  SimulatedServer server;
  Peer& gone = server.Connect();
  Peer& there = server.Connect();
  gone.Reset();
  there.Send("PING\r\n");
  End(server, {&there});
  CHECK(server.ended());
  CHECK(there.Take() == "+PONG\r\n");
}

TEST_CASE("SIGINT ends the server as SIGTERM does") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  peer.Send("PING\r\n");
  End(server, {&peer}, SIGINT);
  CHECK(server.ended());
  CHECK(peer.Take() == "+PONG\r\n");
}

TEST_CASE("SHUTDOWN ends the server; others that sent something in the same turn are answered") {
  SimulatedServer server;
  Peer& first = server.Connect();
  Peer& second = server.Connect();
  first.Send("PING\r\n");
  second.Send("SHUTDOWN NOSAVE\r\n");
  server.Settle();
  LeaveAtTheEnd({&first});
  server.Settle();
  CHECK(server.ended());
  CHECK(first.Take() == "+PONG\r\n");
  CHECK(first.ended());
  CHECK(second.Take().empty());
}

// A server that gets SIGTERM while a client still has that many bytes to read, at that rate.
struct SlowReader {
  SlowReader(size_t bytes, size_t bytes_per_ms) : peer(server.Connect()) {
    Peer& writer = server.Connect();
    REQUIRE(server.Ask(writer, {"SET", "big", std::string(bytes, 'v')}) == testing::Ok());
    writer.Leave();
    peer.ReadPerMs(bytes_per_ms);
    peer.Send("GET big\r\n");
    server.Settle();
    server.Raise(SIGTERM);
  }

  SimulatedServer server{{.logs = true}};
  Peer& peer;
};

TEST_CASE("a server that shuts down accepts nobody") {
  SlowReader slow(1'000'000, 1'000);
  CHECK_FALSE(slow.server.ended());
  CHECK(slow.server.TryConnect() == nullptr);
}

TEST_CASE("a slow reader that needs less than kStopMs gets its whole reply, and the server ends then") {
  SlowReader slow(1'000'000, 1'000);
  CHECK_FALSE(slow.server.ended());
  Continue(slow.server, {&slow.peer}, 1'010);
  CHECK(slow.server.ended());
  CHECK(slow.peer.received().size() == 1'000'012);
  CHECK(slow.peer.ended());
  CHECK(slow.server.Log().find("did not read") == std::string::npos);
}

TEST_CASE("a slow reader that needs longer is dropped after kStopMs, and the log says so") {
  SlowReader slow(10'000'000, 1'000);
  Continue(slow.server, {&slow.peer}, net::kStopMs - 1);
  CHECK_FALSE(slow.server.ended());
  Continue(slow.server, {&slow.peer}, 1);
  CHECK(slow.server.ended());
  CHECK(slow.server.Log().find("did not read their replies in time") != std::string::npos);
}

TEST_CASE("a second SIGTERM changes nothing") {
  SlowReader slow(1'000'000, 1'000);
  Continue(slow.server, {&slow.peer}, 500);
  slow.server.Raise(SIGTERM);
  CHECK_FALSE(slow.server.ended());
  Continue(slow.server, {&slow.peer}, 510);
  CHECK(slow.server.ended());
  CHECK(slow.peer.received().size() == 1'000'012);
}

TEST_CASE("a slow reader that sends more during the shutdown gets its whole reply all the same") {
  SlowReader slow(1'000'000, 1'000);
  Continue(slow.server, {&slow.peer}, 100);
  slow.peer.Send("PING\r\n");
  Continue(slow.server, {&slow.peer}, 1'000);
  CHECK(slow.server.ended());
  CHECK(slow.peer.received().size() == 1'000'012);
  CHECK_FALSE(slow.peer.was_reset());
}

TEST_CASE("clients that do not notice the end delay it by kStopSilenceMs only") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  REQUIRE(server.Ask(peer, {"PING"}) == testing::Simple("PONG"));
  server.Raise(SIGTERM);
  CHECK(peer.ended());
  server.AdvanceTime(net::kStopSilenceMs - 1);
  CHECK_FALSE(server.ended());
  server.AdvanceTime(1);
  CHECK(server.ended());
}

TEST_CASE("a client that never stops sending delays the end by kLastReadsMs and kStopMs at most") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  const std::string request = EncodeRequest({"SET", "k", std::string(5'000, 'v')});
  for (int i = 0; i < 100'000; ++i) peer.Send(request);
  server.world.set_look_cost_us(1'000);
  server.Raise(SIGTERM);
  server.AdvanceTime(net::kLastReadsMs + net::kStopMs);
  CHECK(server.ended());
  CHECK(peer.received().size() > 500);
}

TEST_CASE("unfinished requests and held-back clients do not delay the end") {
  SimulatedServer server;
  Peer& half = server.Connect();
  Peer& held = server.Connect();
  Peer& chief = server.Connect();
  half.Send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000\r\nxyz");
  REQUIRE(server.Ask(chief, {"CLIENT", "PAUSE", "100000"}) == testing::Ok());
  held.Send("PING\r\n");
  server.Settle();
  End(server, {&half, &held, &chief});
  CHECK(server.ended());
  CHECK(server.elapsed_ms() == 0);
}

TEST_CASE("due keys and flushed keys that are not freed yet do not delay the end") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  std::string requests;
  for (int i = 0; i < 30'000; ++i) requests += EncodeRequest({"SET", std::to_string(i), "v", "PX", "50"});
  peer.Send(requests + "FLUSHALL\r\n" + requests);
  server.Settle();
  server.world.SetTime(server.world.now_ns() + 60 * World::kNsPerMs);
  server.world.set_look_cost_us(100);
  server.Turn();
  REQUIRE(server.keys() > 0);
  End(server, {&peer});
  CHECK(server.ended());
}

// A server that has to save before it ends.
struct SavingServer {
  bool succeeds = true;
  int saves = 0;
  SimulatedServer server{{.last_work = {.is_due = [] { return true; },
                                        .run =
                                            [this] {
                                              ++saves;
                                              return succeeds;
                                            }}}};
};

TEST_CASE("what is to be saved at the end is saved once, after the requests that had arrived") {
  SavingServer saving;
  Peer& peer = saving.server.Connect();
  peer.Send("SET k v\r\n");
  saving.server.Raise(SIGTERM);
  CHECK(saving.saves == 1);
  CHECK(peer.Take() == "+OK\r\n");
  CHECK(peer.ended());
  CHECK(saving.server.TryConnect() == nullptr);
  peer.Leave();
  saving.server.Settle();
  CHECK(saving.server.ended());
}

TEST_CASE("a server whose last save fails takes clients again") {
  SavingServer saving;
  saving.succeeds = false;
  for (const int signal : {SIGTERM, SIGINT}) {
    Peer& early = saving.server.Connect();
    saving.server.Raise(signal);
    REQUIRE_FALSE(saving.server.ended());
    CHECK(early.ended());
    Peer& later = saving.server.Connect();
    later.Send("PING\r\n");
    saving.server.Settle();
    CHECK(later.Take() == "+PONG\r\n");
    CHECK_FALSE(later.ended());
  }
  CHECK(saving.saves == 2);
  saving.succeeds = true;
  saving.server.Raise(SIGTERM);
  CHECK(saving.saves == 3);
}

}  // namespace
}  // namespace mayfly::sim
