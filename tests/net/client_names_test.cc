// What clients have only announced, and the names that they watch, wait for or have subscribed to: memory of clients, for
// which no key is evicted.
#include <string>
#include <vector>

#include "server/clients/sessions.h"
#include "server/waiting/held_bytes.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

constexpr uint64_t kMegabyte = 1024 * 1024;

struct FullServer : SimulatedServer {
  // Keys of 4 MB together, and a maxmemory that leaves `room` bytes beside them.
  void Fill(uint64_t room) {
    for (int i = 0; i < 1000; ++i)
      REQUIRE(Run({"SET", "k" + std::to_string(i), std::string(4000, 'v')}) == testing::Ok());
    Set("maxmemory-policy", "allkeys-lru");
    Set("maxmemory", std::to_string(parts.memory.Data() + room));
  }
  uint64_t Held() const {
    uint64_t sum = 0;
    for (const auto& [id, session] : parts.sessions.by_id()) sum += HeldBytes(*session);
    return sum;
  }
};

// A request with `count` names that no other request has.
std::vector<std::string> NamesFor(const std::string& command, int from, int count) {
  std::vector<std::string> words{command};
  for (int i = from; i < from + count; ++i) words.push_back("a-name-that-takes-memory-" + std::to_string(i));
  return words;
}

}  // namespace

TEST_CASE("a value that was only announced is no used memory, and evicts no key") {
  FullServer server;
  server.Fill(2 * kMegabyte);
  Peer& peer = server.Connect();
  const int64_t used = server.Info("used_memory");
  const uint64_t data = server.parts.memory.Data();
  peer.Send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$400000000\r\n");
  server.Settle();
  REQUIRE(server.stats().announced_bytes >= 400'000'002);  // with the line end
  const uint64_t announced = server.stats().announced_bytes;
  CHECK(server.Held() > 400'000'000);
  CHECK(server.Info("mem_clients_normal") > 400'000'000);
  CHECK(server.Info("used_memory") < used + 100'000);
  CHECK(server.Info("used_memory_peak") < used + 100'000);
  CHECK(server.parts.memory.Data() < data + 100'000);
  REQUIRE(server.Run({"SET", "k0", "v"}) == testing::Ok());
  CHECK(server.Info("evicted_keys") == 0);
  // What comes of it is data, since it will be a value.
  peer.Send(std::string(kMegabyte, 'x'));
  server.Settle();
  CHECK(server.stats().announced_bytes == announced - kMegabyte);
#ifndef MAYFLY_SANITIZE  // in whose builds only the heap of entries is counted
  CHECK(server.Info("used_memory") > used + 900'000);
  CHECK(server.parts.memory.Data() > data + 900'000);
#endif
#ifdef MAYFLY_SANITIZE  // elsewhere the megabyte in the simulated network counts, too
  CHECK(server.Info("evicted_keys") == 0);
#endif
  peer.Leave();
  server.Settle();
  CHECK(server.stats().announced_bytes == 0);
#ifdef MAYFLY_SANITIZE
  CHECK(server.Info("used_memory") < used + 100'000);
#endif
}

TEST_CASE("names that a client watches or has subscribed to are its memory, and evict no key") {
  const std::string command = GENERATE("WATCH", "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE");
  CAPTURE(command);
  constexpr int kNames = 50'000;
  constexpr uint64_t kLeast = kNames * 150;
  FullServer server;
  server.Fill(2 * kMegabyte);
  Peer& peer = server.Connect();
  for (int i = 0; i < kNames; i += 500) {
    peer.Request(NamesFor(command, i, 500));
    server.Settle();
    peer.Take();
    REQUIRE(server.Run({"SET", "k0", "v"}) == testing::Ok());
  }
  CHECK(server.Info("evicted_keys") == 0);
  CHECK(server.stats().name_bytes > kLeast);
  CHECK(server.Held() > kLeast);
  CHECK(server.stats().held_bytes == server.Held());
  peer.Leave();
  server.Settle();
  CHECK(server.stats().name_bytes < kNames * 2 * sizeof(void*) + 10'000);  // the buckets of a table
}

TEST_CASE("names that a client waits for are its memory, and evict no key") {
  FullServer server;
  server.Fill(8 * kMegabyte);  // the names take 12, what the simulation keeps of the requests 4
  std::vector<Peer*> peers;
  for (int i = 0; i < 50; ++i) {
    std::vector<std::string> words = NamesFor("BLPOP", i * 1000, 1000);
    words.push_back("0");
    peers.push_back(&server.Connect());
    peers.back()->Request(words);
    server.Settle();
    REQUIRE(server.Run({"SET", "k0", "v"}) == testing::Ok());
  }
  CHECK(server.Info("blocked_clients") == 50);
  CHECK(server.Info("evicted_keys") == 0);
  CHECK(server.stats().name_bytes > 50'000 * 150);
  CHECK(server.stats().held_bytes == server.Held());
  for (Peer* peer : peers) peer->Leave();
  server.Settle();
  CHECK(server.stats().name_bytes < 50'000 * 2 * sizeof(void*) + 10'000);
}

TEST_CASE("maxmemory-clients counts the names that a client has given") {
  const std::string command = GENERATE("WATCH", "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE");
  CAPTURE(command);
  SimulatedServer server;
  server.Set("maxmemory-clients", "1mb");
  Peer& peer = server.Connect();
  for (int i = 0; i < 1000 && !peer.closed(); ++i) {
    peer.Request({command, std::to_string(i) + std::string(2000, 'n')});
    server.Settle();
    peer.Take();
  }
  CHECK(peer.closed());
  CHECK(server.Info("evicted_clients") == 1);
}

TEST_CASE("a name counts until the last who has given it has left, and never below 0") {
  SimulatedServer server;
  const uint64_t before = server.stats().name_bytes;
  Peer& one = server.Connect();
  Peer& other = server.Connect();
  const std::string name(100, 'n');
  for (Peer* peer : {&one, &other}) {
    for (const char* command : {"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE"})
      peer->Request({command, name, name});
    server.Settle();
  }
  const uint64_t both = server.stats().name_bytes;
  for (const char* command : {"UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE"})
    one.Request({command, name, name});
  server.Settle();
  CHECK(server.stats().name_bytes < both);
  CHECK(server.stats().name_bytes > before + 300);
  other.Reset();
  server.Settle();
  CHECK(server.stats().name_bytes < before + 1000);
  REQUIRE(server.Run({"CONFIG", "RESETSTAT"}) == testing::Ok());
  CHECK(server.stats().name_bytes < before + 1000);
  CHECK(server.stats().held_bytes < 100'000);
}

}  // namespace mayfly::sim
