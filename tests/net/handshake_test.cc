// Crowds whose handshakes take longer than one turn has for them, and what waits meanwhile.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "net/socket/limits.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

using testing::Ok;
using testing::Simple;

struct Crowd {
  explicit Crowd(size_t size, bool logs = false) : server({.logs = logs, .sealed = true}) {
    for (size_t i = 0; i < size; ++i) peers.push_back(&ConnectRaw());
  }
  // A connection on which the test writes the ciphertext itself.
  Peer& ConnectRaw() {
    Peer* const peer = server.TryConnect("127.0.0.1", SimulatedServer::kSealedAddress);
    REQUIRE(peer != nullptr);
    server.Settle();
    return *peer;
  }
  void SendHellos() const {
    for (Peer* peer : peers) peer->Send(hello);
  }
  int64_t Welcomed() const {
    return std::count_if(peers.begin(), peers.end(), [](Peer* peer) { return !peer->received().empty(); });
  }

  const std::string hello = ToyTransport::Record(ToyTransport::kHandshakeKind, ToyTransport::kHello);
  SimulatedServer server;
  std::vector<Peer*> peers;
};

TEST_CASE("a handshake that waits is not polled, and goes on after those that waited before") {
  Crowd crowd(30);
  std::vector<Peer*> late;
  for (int i = 0; i < 8; ++i) late.push_back(&crowd.ConnectRaw());
  crowd.server.world.set_look_cost_us(1'000);  // so a turn has time for two handshakes
  crowd.SendHellos();
  crowd.server.Turn();
  REQUIRE(crowd.Welcomed() == 2);
  for (Peer* peer : late) {
    peer->Send(crowd.hello);
    crowd.server.Turn();
  }
  size_t done = 0;
  for (int turn = 0; turn < 20; ++turn) {
    while (done < late.size() && !late[done]->received().empty()) ++done;
    for (size_t i = done; i < late.size(); ++i) CHECK(late[i]->received().empty());
    if (done != 0) CHECK(crowd.Welcomed() == 30);
    crowd.server.Turn();
  }
  CHECK(done == late.size());
  for (Peer* peer : crowd.peers) CHECK(peer->link().polled == 1);
  for (Peer* peer : late) CHECK(peer->link().polled == 1);
}

TEST_CASE(
    "what a handshake waits for its turn does not count into its ten seconds, what its client waits does") {
  Crowd crowd(20, /*logs=*/true);
  crowd.server.Set("timeout", "5");
  Peer& stalls = crowd.ConnectRaw();
  crowd.server.world.set_look_cost_us(1'000'000);  // so it is twenty seconds before the last one's turn
  crowd.SendHellos();
  crowd.server.Turn();
  REQUIRE(crowd.Welcomed() < 10);
  stalls.Send(crowd.hello.substr(0, 5));
  while (crowd.Welcomed() < 20 && crowd.server.Turn() != 0) {
  }
  crowd.server.world.set_look_cost_us(0);
  crowd.server.Settle();
  CHECK(crowd.Welcomed() == 20);
  CHECK(crowd.server.Log().find("TLS handshake") == std::string::npos);
  CHECK(crowd.server.elapsed_ms() > 2 * net::kHandshakeMs);
  crowd.server.Set("timeout", "0");
  REQUIRE(stalls.connected());
  CHECK(stalls.unread_by_program() == 0);
  crowd.server.AdvanceTime(net::kHandshakeMs);
  CHECK_FALSE(stalls.connected());
  CHECK(crowd.server.Log().find("TLS handshake: it was not finished in time") != std::string::npos);
}

TEST_CASE(
    "clients that go away before their handshake's turn are closed at once, and take no time of others") {
  Crowd crowd(40);
  crowd.server.world.set_look_cost_us(1'000);
  crowd.SendHellos();
  crowd.server.Turn();
  REQUIRE(crowd.Welcomed() == 2);
  for (Peer* peer : crowd.peers) peer->Leave();
  crowd.server.Turn();
  crowd.server.world.set_look_cost_us(0);
  for (Peer* peer : crowd.peers) CHECK(peer->closed());
  CHECK(crowd.server.Info("connected_clients") == 1);
}

TEST_CASE("a request that comes with a handshake that waits is answered when the handshake had its turn") {
  Crowd crowd(15);
  crowd.server.world.set_look_cost_us(1'000);
  std::vector<std::unique_ptr<ToyTransport>> clients;
  for (Peer* peer : crowd.peers) {
    ToyTransport& client = *clients.emplace_back(std::make_unique<ToyTransport>(ToyTransport::Side::kClient));
    client.Write("PING\r\n");
    peer->Send(client.ToSend());
  }
  crowd.server.Turn();
  REQUIRE(crowd.Welcomed() < 15);
  crowd.server.Settle();
  for (size_t i = 0; i < clients.size(); ++i) {
    clients[i]->Receive(crowd.peers[i]->Take());
    std::string reply(100, '\0');
    reply.resize(clients[i]->Read(reply));
    CHECK(reply == "+PONG\r\n");
  }
}

TEST_CASE("a server that stops lets go of handshakes that wait") {
  Crowd crowd(10);
  crowd.server.world.set_look_cost_us(100'000);
  crowd.SendHellos();
  crowd.server.Turn();
  crowd.server.world.set_look_cost_us(0);
  crowd.server.Raise(15);
  crowd.server.AdvanceTime(net::kStopMs + net::kLastReadsMs + net::kStopObserversMs);
  CHECK(crowd.server.ended());
}

TEST_CASE("a socket is not polled while plaintext from it waits") {
  SimulatedServer server({.sealed = true});
  Peer& peer = server.Connect();
  REQUIRE(server.Ask(peer, {"PING"}) == Simple("PONG"));
  // A megabyte of requests in some hundred bytes of ciphertext, and more in the kernel.
  for (int i = 0; i < 40; ++i) peer.Request({"SET", "k", std::string(25'000, 'v')});
  server.Turn();
  const size_t before = peer.link().polled;
  peer.Request({"PING"});
  server.Turn(5);
  CHECK(peer.link().polled <= before + 1);
  server.Settle();
  const std::vector<testing::Reply> replies = peer.TakeReplies();
  REQUIRE(replies.size() == 41);
  CHECK(replies.front() == Ok());
  CHECK(replies.back() == Simple("PONG"));
}

}  // namespace
}  // namespace mayfly::sim
