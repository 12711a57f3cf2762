// What the release is trained with: a server without sockets serves traffic as caches see it, and the
// compiler notes which way each branch goes. See "How the release is built" in src/README.md.
//
// What never runs here is compiled for size, so every path that may be hot has its place in the traffic,
// which is the same in each run. It fails where it did not come to what it is for.
#include <array>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/loopless_server.h"
#include "support/request_text.h"
#include "training/traffic.h"
#include "training/type_traffic.h"

namespace mayfly::training {
namespace {

constexpr uint64_t kKeys = 150'000;
constexpr size_t kClients = 64;
constexpr size_t kRequestsPerPhase = 120'000;
// The clock is never found stale: that depends on how fast the machine is.
constexpr double kCyclesPerUs = 1e12;

// A client whose replies nobody reads.
class Client {
 public:
  explicit Client(testing::LooplessServer& server) : server_(server), session_(server.chunks) {
    server.Connect(session_);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { server_.sessions.Remove(session_); }

  std::string& sent() noexcept { return sent_; }
  Feed feed() noexcept { return {.session = &session_, .input = sent_}; }
  // Keeps what is no whole request yet and forgets the replies.
  void AfterRun(const Feed& feed) {
    sent_.erase(0, feed.consumed);
    std::array<OutputPiece, 16> pieces;
    while (!session_.output.empty()) {
      size_t bytes = 0;
      for (size_t i = session_.output.Gather(pieces); i > 0; --i) bytes += pieces[i - 1].size;
      session_.output.Consume(bytes);
    }
  }

 private:
  testing::LooplessServer& server_;
  Session session_;
  std::string sent_;
};

class Training {
 public:
  Training() {
    for (size_t i = 0; i < kClients; ++i) clients_.push_back(std::make_unique<Client>(server_));
  }

  void Run() {
    Fill();
    Serve(/*clients=*/1, /*pipeline=*/64);
    Serve(/*clients=*/1, /*pipeline=*/16);
    Serve(/*clients=*/1, /*pipeline=*/1);
    Serve(kClients, /*pipeline=*/1);
    Serve(/*clients=*/8, /*pipeline=*/16);
    ServeTypes(/*clients=*/1, /*pipeline=*/32);
    ServeTypes(kClients, /*pipeline=*/1);
    for (const std::string_view policy :
         {"volatile-ttl", "allkeys-sieve", "allkeys-s3fifo", "volatile-lru", "allkeys-lru"}) {
      LimitMemory(policy);
      Serve(/*clients=*/4, /*pipeline=*/32);
    }
    for (const std::string_view policy : {"allkeys-lfu", "volatile-lfu"}) {
      LimitMemory(policy);
      Serve(/*clients=*/4, /*pipeline=*/32, kRequestsPerPhase / 4);
    }
    // Everything with a TTL runs out.
    server_.clock.AdvanceTime(4'000'000);
    server_.FreeDue();
    Ask({"FLUSHALL"});
    server_.FreeDue();
  }

  // Nothing, or what the training did not come to.
  const char* Missing() {
    if (server_.stats.keyspace_hits < kRequestsPerPhase) return "hits";
    if (server_.stats.keyspace_misses == 0) return "misses";
    const ExpiryStats& gone = server_.databases.expiry_stats();
    if (gone.expired_keys == 0) return "keys that expire";
    if (gone.evicted_keys == 0) return "keys that are evicted";
    return nullptr;
  }

 private:
  void Fill() {
    std::string& sent = clients_[0]->sent();
    for (uint64_t number = 0; number < kKeys; ++number) {
      traffic_.AppendSet(sent, number);
      if (number % 64 == 63) Turn(1);
    }
  }

  // Turns of the loop in which so many clients have sent so many requests each.
  void Serve(size_t clients, size_t pipeline, size_t requests = kRequestsPerPhase) {
    for (size_t run = 0; run < requests; run += clients * pipeline) {
      for (size_t i = 0; i < clients; ++i) {
        for (size_t j = 0; j < pipeline; ++j) traffic_.AppendAny(clients_[i]->sent());
      }
      // Packets end where they like.
      if (run % 16 == 0) Turn(1, clients_[0]->sent().size() / 2);
      Turn(clients);
    }
  }

  void ServeTypes(size_t clients, size_t pipeline) {
    for (size_t run = 0; run < kRequestsPerPhase; run += clients * pipeline) {
      for (size_t i = 0; i < clients; ++i) {
        for (size_t j = 0; j < pipeline; ++j) type_traffic_.AppendAny(clients_[i]->sent());
      }
      Turn(clients);
    }
  }

  void LimitMemory(std::string_view policy) {
    Ask({"CONFIG", "SET", "maxmemory-policy", policy});
    Ask({"CONFIG", "SET", "maxmemory", std::to_string(server_.memory.Data() / 10 * 9)});
  }

  void Ask(std::initializer_list<std::string_view> words) {
    testing::AppendRequest(clients_[0]->sent(), words);
    Turn(1);
  }

  // Runs what the first so many clients have sent: of the first one's at most `bytes`.
  void Turn(size_t clients, size_t bytes = std::string::npos) {
    server_.executor.RefreshNow();
    feeds_.clear();
    for (size_t i = 0; i < clients; ++i) feeds_.push_back(clients_[i]->feed());
    feeds_[0].input = feeds_[0].input.substr(0, bytes);
    server_.executor.Run(feeds_);
    for (size_t i = 0; i < clients; ++i) clients_[i]->AfterRun(feeds_[i]);
    static_cast<void>(server_.sessions.TakeDirty());
    server_.executor.EvictSome(64);
    server_.clock.AdvanceTime(1);
    server_.FreeDue();
  }

  testing::LooplessServer server_{kCyclesPerUs};
  Traffic traffic_{kKeys};
  TypeTraffic type_traffic_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Feed> feeds_;
};

}  // namespace
}  // namespace mayfly::training

int main() {
  mayfly::training::Training training;
  training.Run();
  if (const char* missing = training.Missing()) {
    std::fprintf(stderr, "the training saw no %s\n", missing);
    return 1;
  }
  return 0;
}
