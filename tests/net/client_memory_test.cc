// maxmemory-clients: what all clients together may hold, and whom it closes.
#include <string>
#include <vector>

#include "net/socket/limits.h"
#include "server/clients/sessions.h"
#include "server/waiting/held_bytes.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

constexpr size_t kKilobyte = 1024;

struct LimitedServer : SimulatedServer {
  explicit LimitedServer(const std::string& limit = "0", bool logs = false)
      : SimulatedServer({.logs = logs}) {
    Set("maxmemory-clients", limit);
  }
  // A new client that has announced a value of that size, for which there is room already.
  Peer& Announce(size_t bytes) {
    Peer& peer = Connect();
    Announce(peer, bytes);
    return peer;
  }
  void Announce(Peer& peer, size_t bytes) {
    peer.Send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$" + std::to_string(bytes) + "\r\nx");
    Settle();
  }
  uint64_t closed() { return stats().evicted_clients; }
  // The sum of tot-mem over CLIENT LIST.
  uint64_t Held() const {
    uint64_t sum = 0;
    for (const auto& [id, session] : parts.sessions.by_id()) sum += HeldBytes(*session);
    return sum;
  }
};

TEST_CASE("if clients together hold more than maxmemory-clients, the one that holds the most is closed") {
  LimitedServer server("600kb");
  Peer& some = server.Announce(100 * kKilobyte);
  Peer& most = server.Announce(300 * kKilobyte);
  CHECK(server.closed() == 0);
  Peer& much = server.Announce(250 * kKilobyte);
  CHECK(most.closed());
  CHECK(some.connected());
  CHECK(much.connected());
  CHECK(server.closed() == 1);
  CHECK(server.Info("evicted_clients") == 1);
  CHECK(server.Info("mem_clients_normal") >= 350 * 1024);
  CHECK(server.Info("mem_clients_normal") < 600 * 1024);
}

TEST_CASE("what is queued since MULTI counts into client-query-buffer-limit and maxmemory-clients") {
  const std::string value(100 * kKilobyte, 'v');
  for (const bool by_query : {true, false}) {
    LimitedServer server(by_query ? "0" : "1mb");
    if (by_query) server.Set("client-query-buffer-limit", "1mb");
    Peer& peer = server.Connect();
    peer.Request({"MULTI"});
    for (int i = 0; i < 9; ++i) peer.Request({"SET", "k", value});
    server.Settle();
    CHECK(peer.connected());
    CHECK(server.Held() > 900 * kKilobyte);
    for (int i = 0; i < 3; ++i) peer.Request({"SET", "k", value});
    server.Settle();
    CHECK(peer.closed());
    CHECK(server.stats().query_limit_disconnections == (by_query ? 1 : 0));
    CHECK(server.closed() == (by_query ? 0 : 1));
    CHECK(server.keys() == 0);
  }
}

TEST_CASE("small requests that are queued count with what they take to keep") {
  LimitedServer server;
  server.Set("client-query-buffer-limit", "1mb");
  Peer& peer = server.Connect();
  peer.Request({"MULTI"});
  for (int i = 0; i < 20'000 && !peer.closed(); ++i) {
    peer.Request({"PING"});
    if (i % 1000 == 0) server.Settle();
  }
  server.Settle();
  CHECK(peer.closed());
}

TEST_CASE("unread replies count, whether they are copies or share a value") {
  for (const size_t value : {10 * kKilobyte, 100 * kKilobyte}) {
    LimitedServer server("1mb");
    REQUIRE(server.Run({"SET", "k", std::string(value, 'v')}) == testing::Ok());
    Peer& slow = server.Connect();
    slow.ReadNothing();
    slow.link().send_capacity = 1'000;
    for (size_t bytes = 0; bytes < 900 * kKilobyte; bytes += value) slow.Request({"GET", "k"});
    server.Settle();
    CHECK(slow.connected());
    for (size_t bytes = 0; bytes < 200 * kKilobyte; bytes += value) slow.Request({"GET", "k"});
    server.Settle();
    CHECK(slow.closed());
    CHECK(server.closed() == 1);
    CHECK(server.stats().output_limit_disconnections == 0);
  }
}

TEST_CASE("queued requests of a transaction, subscriptions and watched keys count") {
  LimitedServer server;
  Peer& peer = server.Connect();
  const auto tot_mem = [&] { return std::stoull(server.ClientField(peer, "tot-mem")); };
  const auto grows_by = [&](uint64_t least, const std::vector<std::vector<std::string>>& requests) {
    const uint64_t before = tot_mem();
    for (const auto& request : requests) peer.Request(request);
    server.Settle();
    CHECK(tot_mem() >= before + least);
    CHECK(server.stats().held_bytes == server.Held());
  };
  grows_by(100 * sizeof(KeyWatch), std::vector<std::vector<std::string>>(1, [] {
             std::vector<std::string> watch{"WATCH"};
             for (int i = 0; i < 100; ++i) watch.push_back("k" + std::to_string(i));
             return watch;
           }()));
  grows_by(50 * kKilobyte, {{"MULTI"}, {"SET", "k", std::string(50 * kKilobyte, 'v')}});
  peer.Request({"DISCARD"});
  std::vector<std::string> subscribe{"SUBSCRIBE"};
  for (int i = 0; i < 100; ++i) subscribe.push_back("channel" + std::to_string(i));
  peer.ReadAll();
  server.Settle();
  grows_by(100 * sizeof(Subscription), {subscribe});
}

TEST_CASE("what INFO says is the sum over CLIENT LIST, at every moment, and 0 when all have left") {
  LimitedServer server;
  CHECK(server.stats().held_bytes == server.Held());
  std::vector<Peer*> peers;
  for (size_t i = 0; i < 20; ++i) {
    peers.push_back(&server.Connect());
    CHECK(server.stats().held_bytes == server.Held());
    server.Announce(*peers.back(), i * 10 * kKilobyte + 1);
    CHECK(server.stats().held_bytes == server.Held());
  }
  for (size_t i = 0; i < peers.size(); ++i) {
    i % 2 == 0 ? peers[i]->Leave() : peers[i]->Reset();
    server.Settle();
    CHECK(server.stats().held_bytes == server.Held());
  }
  CHECK(server.stats().held_bytes == 0);
}

TEST_CASE("a client that has said CLIENT NO-EVICT is not closed, but what it holds counts") {
  LimitedServer server("600kb");
  Peer& exempt = server.Connect();
  REQUIRE(server.Ask(exempt, {"CLIENT", "NO-EVICT", "ON"}) == testing::Ok());
  CHECK(server.ClientField(exempt, "flags") == "e");
  server.Announce(exempt, 500 * kKilobyte);
  Peer& other = server.Announce(150 * kKilobyte);
  CHECK(exempt.connected());
  CHECK(other.closed());
  CHECK(server.closed() == 1);
}

TEST_CASE("however much clients that are not closed hold, a quarter of the limit is left to the others") {
  LimitedServer server("600kb", /*logs=*/true);
  Peer& exempt = server.Connect();
  Peer& other = server.Connect();
  REQUIRE(server.Ask(exempt, {"CLIENT", "NO-EVICT", "ON"}) == testing::Ok());
  const std::string info = server.Ask(exempt, {"CLIENT", "INFO"}).text;
  const size_t name_at = info.find(" addr=") + 6;
  const std::string name = info.substr(name_at, info.find(' ', name_at) - name_at);
  server.Announce(exempt, 700 * kKilobyte);
  CHECK(exempt.connected());
  CHECK(other.connected());
  CHECK(server.Ask(other, {"PING"}) == testing::Simple("PONG"));
  for (int i = 0; i < 10; ++i) CHECK(server.Connect().connected());
  const std::string line = "client " + name + " holds 7";
  CHECK(server.Log().find(line) != std::string::npos);
  CHECK(server.Log().find(line) == server.Log().rfind(line));
  Peer& fat = server.Announce(200 * kKilobyte);
  CHECK(fat.closed());
  CHECK(other.connected());
  // The announced value arrives, and there is room again.
  exempt.Send(std::string(700 * kKilobyte - 1, 'v') + "\r\n");
  server.Settle();
  CHECK(exempt.Take() == "+OK\r\n");
  Peer& next = server.Connect();
  CHECK(server.Ask(next, {"PING"}) == testing::Simple("PONG"));
}

TEST_CASE("a percentage is one of maxmemory, and of no maxmemory it is no limit") {
  LimitedServer server("10%");
  server.Set("maxmemory", "10mb");
  Peer& peer = server.Announce(800 * kKilobyte);
  CHECK(peer.connected());
  server.Set("maxmemory", "0");
  Peer& other = server.Announce(2000 * kKilobyte);
  CHECK(other.connected());
  server.Set("maxmemory", "20mb");
  server.Turn();
  CHECK(server.Run({"PING"}) == testing::Simple("PONG"));
  CHECK(other.closed());
  CHECK(peer.connected());
}

TEST_CASE("a limit that is lowered closes those that hold the most, and no more than needed") {
  LimitedServer server;
  std::vector<Peer*> peers;
  constexpr size_t kPeers = 200;
  for (size_t i = 0; i < kPeers; ++i) peers.push_back(&server.Announce((100 + i) * kKilobyte));
  const uint64_t before = server.stats().held_bytes;
  const uint64_t limit = before / 2;
  REQUIRE(server.Run({"CONFIG", "SET", "maxmemory-clients", std::to_string(limit)}) == testing::Ok());
  const size_t closed = server.closed();
  CHECK(closed > 64);
  CHECK(server.stats().held_bytes < limit);
  CHECK(server.stats().held_bytes + (100 + kPeers - closed) * kKilobyte + kKilobyte * 70 > limit);
  // One size class of the allocator's is as good as the other.
  constexpr size_t kAlike = 64;
  for (size_t i = 0; i + kAlike < kPeers - closed; ++i) CHECK(peers[i]->connected());
  for (size_t i = kPeers - closed + kAlike; i < kPeers; ++i) CHECK(peers[i]->closed());
}

TEST_CASE("a limit below 128 KB counts as 128 KB, so that a client can still raise it") {
  LimitedServer server("1");
  CHECK(server.Run({"CONFIG", "GET", "maxmemory-clients"}).elements.at(1) == testing::Bulk("1"));
  Peer& peer = server.Announce(60 * kKilobyte);
  CHECK(peer.connected());
  Peer& more = server.Announce(110 * kKilobyte);
  CHECK(more.closed());
  CHECK(server.Run({"CONFIG", "SET", "maxmemory-clients", "0"}) == testing::Ok());
  server.Announce(1000 * kKilobyte);
  CHECK(server.closed() == 1);
}

TEST_CASE("the log names the first client that is closed, and sums up those after it") {
  LimitedServer server("300kb", /*logs=*/true);
  for (int i = 0; i < 5; ++i) server.Announce(400 * kKilobyte);
  CHECK(server.closed() == 5);
  server.AdvanceTime(60'000);
  const std::string log = server.Log();
  const size_t first = log.find("# closing client 127.0.0.1:");
  REQUIRE(first != std::string::npos);
  CHECK(log.find("which is more than maxmemory-clients", first) != std::string::npos);
  CHECK(log.find("# closing client", first + 1) == std::string::npos);
  CHECK(log.find("# clients closed because of maxmemory-clients: 4 more") != std::string::npos);
}

TEST_CASE("a limit that is a part of maxmemory follows maxmemory, down and up") {
  LimitedServer server;
  server.Set("maxmemory", "100mb");
  server.Set("maxmemory-clients", "10%");
  Peer& holds = server.Announce(4'000 * kKilobyte);
  CHECK(holds.connected());
  REQUIRE(server.Run({"CONFIG", "SET", "maxmemory", "30mb"}) == testing::Ok());
  CHECK(holds.closed());
  CHECK(server.closed() == 1);
  CHECK(server.Announce(4'000 * kKilobyte).closed());
  REQUIRE(server.Run({"CONFIG", "SET", "maxmemory", "100mb"}) == testing::Ok());
  CHECK(server.Announce(4'000 * kKilobyte).connected());
  REQUIRE(server.Run({"CONFIG", "SET", "maxmemory", "0"}) == testing::Ok());
  CHECK(server.Announce(20'000 * kKilobyte).connected());
  CHECK(server.closed() == 2);
}

}  // namespace
}  // namespace mayfly::sim
