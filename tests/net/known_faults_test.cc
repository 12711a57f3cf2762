// Known faults of Redis and Valkey, 2024 to 2026, that lie in the connections of clients. Others: commands/together/known_faults_test.cc.
// CVE-2025-48367 (errors of accept): accept_test.cc.
#include <algorithm>
#include <string>
#include <vector>

#include "sim/server.h"
#include "support/catch.h"
#include "support/long_text.h"

namespace mayfly::sim {
namespace {

using testing::EncodeRequest;
using testing::Integer;
using testing::Ok;
using testing::Repeat;

using Words = std::vector<std::string>;

std::string IdOf(SimulatedServer& server, Peer& peer) {
  return std::to_string(server.Ask(peer, {"CLIENT", "ID"}).integer);
}

}  // namespace

TEST_CASE("CVE-2025-21605: a client that has not logged in and does not read piles up nothing") {
  SimulatedServer server;
  server.Set("requirepass", "secret");
  Peer& peer = server.Connect();
  peer.ReadNothing();
  peer.link().send_capacity = 1024;
  uint64_t most = 0;
  for (int i = 0; i < 200 && !peer.closed(); ++i) {
    peer.Send(Repeat(EncodeRequest({"GET", "k"}), 10'000));
    server.Settle();
    most = std::max(most, server.stats().client_bytes);
  }
  CHECK(most < 200'000);
}

TEST_CASE(
    "CVE-2026-23479, R#15594: a client that is served may be closed by that, and those behind it, too") {
  constexpr int kWaiters = 6;
  const bool sealed = GENERATE(false, true);
  const int spared = GENERATE(0, 2, 5);
  SimulatedServer server({.sealed = sealed});
  std::vector<Peer*> waiters;
  for (int i = 0; i < kWaiters; ++i) {
    Peer& peer = *waiters.emplace_back(&server.Connect());
    if (i == spared) REQUIRE(server.Ask(peer, {"CLIENT", "NO-EVICT", "ON"}) == Ok());
    // Half a request is held while the client waits.
    peer.Send(EncodeRequest({"BLPOP", "k", "0"}) + EncodeRequest({"GET", std::string(50'000, 'q')}) +
              "*2\r\n$3\r\nGET\r\n$200000\r\n" + std::string(100'000, 'q'));
  }
  server.Settle();
  REQUIRE(server.Info("blocked_clients") == kWaiters);
  Peer& pusher = server.Connect();
  REQUIRE(server.Ask(pusher, {"CLIENT", "NO-EVICT", "ON"}) == Ok());
  // The limit falls and the key comes in one pipeline, and within one transaction.
  std::string bytes;
  for (const Words& words : std::vector<Words>{{"MULTI"},
                                               {"CONFIG", "SET", "maxmemory-clients", "128kb"},
                                               {"RPUSH", "k", "1", "2", "3", std::string(60'000, 'v'), "5"},
                                               {"EXEC"},
                                               {"RPUSH", "k", "6"}})
    bytes += EncodeRequest(words);
  pusher.Send(bytes);
  server.Settle();
  CHECK(pusher.TakeReplies().size() == 5);
  CHECK(waiters[spared]->connected());
  int closed = 0;
  int64_t served = 0;
  for (Peer* const peer : waiters) {
    if (peer->closed())
      ++closed;
    else
      served += peer->received().empty() ? 0 : 1;
  }
  CHECK(closed > 0);
  CHECK(served > 0);
  // What nobody has taken is there.
  CHECK(server.Run({"LLEN", "k"}).integer <= 6 - served);
  CHECK(server.Info("blocked_clients") <= kWaiters - closed);
}

TEST_CASE("CVE-2026-56684: clients with plaintext that waits are killed by each other in one turn") {
  struct Way {
    bool first_kills;
    bool second_kills;
    bool all;
  };
  for (const Way& way : {Way{true, false, false}, Way{false, true, false}, Way{true, true, false},
                         Way{true, false, true}, Way{true, true, true}}) {
    SimulatedServer server({.sealed = true});
    Peer& first = server.Connect();
    Peer& second = server.Connect();
    Peer& third = server.Connect();
    const std::string first_id = IdOf(server, first);
    const std::string second_id = IdOf(server, second);
    const auto kill = [&](const std::string& id) {
      return way.all ? EncodeRequest({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no"})
                     : EncodeRequest({"CLIENT", "KILL", "ID", id});
    };
    // A run of 60,000 equal bytes is one short record, so that most of it waits as plaintext.
    const std::string waits = "*2\r\n$4\r\nECHO\r\n$60000\r\n" + std::string(60'000, 'w') + "\r\n";
    first.Send(waits + (way.first_kills ? kill(second_id) : "") + waits + waits);
    second.Send(waits + (way.second_kills ? kill(first_id) : "") + waits + waits);
    third.Send(waits + EncodeRequest({"PING"}));
    server.Settle();
    CAPTURE(way.first_kills, way.second_kills, way.all);
    if (way.first_kills && !way.second_kills) CHECK(second.closed());
    if (way.second_kills && !way.first_kills) CHECK(first.closed());
    CHECK((first.closed() || second.closed()));
    if (!way.all) CHECK(third.received().ends_with("+PONG\r\n"));
    CHECK(server.Ask(server.Connect(), {"PING"}).text == "PONG");
  }
}

TEST_CASE("R#15094: a subscriber of a shard channel is killed within another client's EXEC") {
  const bool sealed = GENERATE(false, true);
  SimulatedServer server({.sealed = sealed});
  Peer& subscriber = server.Connect();
  const std::string id = IdOf(server, subscriber);
  subscriber.Request({"SSUBSCRIBE", "channel0"});
  server.Settle();
  Peer& killer = server.Connect();
  std::string bytes;
  for (const Words& words : std::vector<Words>{{"MULTI"},
                                               {"SET", "k", "v"},
                                               {"CLIENT", "KILL", "ID", id},
                                               {"SPUBLISH", "channel0", "m"},
                                               {"EXEC"},
                                               {"PUBSUB", "SHARDCHANNELS"}})
    bytes += EncodeRequest(words);
  killer.Send(bytes);
  server.Settle();
  const std::vector<testing::Reply> replies = killer.TakeReplies();
  REQUIRE(replies.size() == 6);
  CHECK(replies[4].elements.size() == 3);
  CHECK(subscriber.closed());
  CHECK(server.Run({"PUBSUB", "SHARDCHANNELS"}).elements.empty());
  CHECK(server.Run({"SPUBLISH", "channel0", "m"}) == Integer(0));
}

}  // namespace mayfly::sim
