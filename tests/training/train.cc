// What the release is trained with: a server on a simulated machine (tests/sim) serves traffic as caches see it, alone and with a
// replica, and the compiler notes which way each branch goes. See "How the release is built" in src/README.md.
//
// What never runs here is compiled for size, so every path that may be hot has its place in the traffic,
// which is the same in each run. It fails where it did not come to what it is for.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "sim/fleet.h"
#include "support/request_text.h"
#include "training/traffic.h"
#include "training/type_traffic.h"

namespace mayfly::training {
namespace {

constexpr uint64_t kKeys = 150'000;
constexpr uint64_t kKeysWithReplica = 20'000;
constexpr size_t kClients = 64;
constexpr size_t kRequestsPerPhase = 120'000;

// A server with clients who send requests and forget the replies.
class Site {
 public:
  // `daemons`: the first is the server.
  Site(size_t daemons, uint64_t keys) : fleet_(sim::Choices(1), daemons), keys_(keys), traffic_(keys) {
    for (size_t i = 0; i < kClients; ++i) clients_.push_back({.peer = &fleet_.Connect(0), .unsent = {}});
  }

  sim::Fleet& fleet() noexcept { return fleet_; }
  testing::LooplessServer& server() { return fleet_.at(0); }

  void Fill() {
    std::string& unsent = clients_[0].unsent;
    for (uint64_t number = 0; number < keys_; ++number) {
      traffic_.AppendSet(unsent, number);
      if (number % 64 == 63) Turn(1);
    }
  }

  // Turns of the loop in which so many clients have sent so many requests each.
  void Serve(size_t clients, size_t pipeline, size_t requests = kRequestsPerPhase) {
    for (size_t run = 0; run < requests; run += clients * pipeline) {
      for (size_t i = 0; i < clients; ++i) {
        for (size_t j = 0; j < pipeline; ++j) traffic_.AppendAny(clients_[i].unsent);
      }
      // Packets end where they like.
      if (run % 16 == 0) Turn(1, clients_[0].unsent.size() / 2);
      Turn(clients);
    }
  }

  void ServeTypes(size_t clients, size_t pipeline, size_t requests = kRequestsPerPhase) {
    for (size_t run = 0; run < requests; run += clients * pipeline) {
      for (size_t i = 0; i < clients; ++i) {
        for (size_t j = 0; j < pipeline; ++j) type_traffic_.AppendAny(clients_[i].unsent);
      }
      Turn(clients);
    }
  }

  void LimitMemory(std::string_view policy) {
    fleet_.Run(0, {"CONFIG", "SET", "maxmemory-policy", std::string(policy)});
    fleet_.Run(0, {"CONFIG", "SET", "maxmemory", std::to_string(server().memory.Data() / 10 * 9)});
  }

 private:
  struct Client {
    sim::Peer* peer;
    std::string unsent;
  };

  // Sends what the first so many clients have: of the first one's at most `bytes`.
  void Turn(size_t clients, size_t bytes = std::string::npos) {
    for (size_t i = 0; i < clients; ++i) {
      std::string& unsent = clients_[i].unsent;
      const size_t size = i == 0 ? std::min(bytes, unsent.size()) : unsent.size();
      clients_[i].peer->Send(std::string_view(unsent).substr(0, size));
      unsent.erase(0, size);
    }
    fleet_.Pass(1);
    for (size_t i = 0; i < clients; ++i) {
      static_cast<void>(clients_[i].peer->Take());
      clients_[i].peer->link().write_calls.clear();
    }
  }

  sim::Fleet fleet_;
  const uint64_t keys_;
  Traffic traffic_;
  TypeTraffic type_traffic_;
  std::vector<Client> clients_;
};

// Null, or what the training did not come to.
const char* ServeAlone() {
  Site site(/*daemons=*/1, kKeys);
  site.Fill();
  site.Serve(/*clients=*/1, /*pipeline=*/64);
  site.Serve(/*clients=*/1, /*pipeline=*/16);
  site.Serve(/*clients=*/1, /*pipeline=*/1);
  site.Serve(kClients, /*pipeline=*/1);
  site.Serve(/*clients=*/8, /*pipeline=*/16);
  site.ServeTypes(/*clients=*/1, /*pipeline=*/32);
  site.ServeTypes(kClients, /*pipeline=*/1);
  for (const std::string_view policy :
       {"volatile-ttl", "allkeys-sieve", "allkeys-s3fifo", "volatile-lru", "allkeys-lru"}) {
    site.LimitMemory(policy);
    site.Serve(/*clients=*/4, /*pipeline=*/32);
  }
  for (const std::string_view policy : {"allkeys-lfu", "volatile-lfu"}) {
    site.LimitMemory(policy);
    site.Serve(/*clients=*/4, /*pipeline=*/32, kRequestsPerPhase / 4);
  }
  // Everything with a TTL runs out.
  site.fleet().Pass(4'000'000);
  site.fleet().Run(0, {"FLUSHALL"});

  const testing::LooplessServer& server = site.server();
  if (server.stats.keyspace_hits < kRequestsPerPhase) return "hits";
  if (server.stats.keyspace_misses == 0) return "misses";
  const ExpiryStats& gone = server.databases.expiry_stats();
  if (gone.expired_keys == 0) return "keys that expire";
  if (gone.evicted_keys == 0) return "keys that are evicted";
  return nullptr;
}

// The same, while another server follows.
const char* ServeWithReplica() {
  Site site(/*daemons=*/2, kKeysWithReplica);
  site.Fill();
  site.fleet().Run(1, {"REPLICAOF", "127.0.0.1", sim::Fleet::PortOf(0)});
  if (!site.fleet().PassUntil(60'000, [&] { return site.fleet().IsInStep(1); })) return "replica";
  site.Serve(/*clients=*/1, /*pipeline=*/32);
  site.Serve(/*clients=*/1, /*pipeline=*/1, kRequestsPerPhase / 4);
  site.Serve(/*clients=*/32, /*pipeline=*/1, kRequestsPerPhase / 4);
  site.ServeTypes(/*clients=*/1, /*pipeline=*/32, kRequestsPerPhase / 4);
  return nullptr;
}

}  // namespace
}  // namespace mayfly::training

int main() {
  using namespace mayfly::training;
  for (const auto& serve : {ServeAlone, ServeWithReplica}) {
    if (const char* missing = serve()) {
      std::fprintf(stderr, "the training saw no %s\n", missing);
      return 1;
    }
  }
  return 0;
}
