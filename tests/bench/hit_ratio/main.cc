// bench_hit_ratio: how often caches miss on the same requests. Prints one JSON object.
//
//   server PORT   replays the trace against a server
//   offline       computes the misses of exact LRU, SIEVE and Belady's optimum for a number of keys
#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include <CLI/CLI.hpp>

#include "hit_ratio/offline.h"
#include "hit_ratio/remote.h"

namespace mayfly::bench {
namespace {

struct ServerOptions {
  int port = 0;
  std::string protocol = "redis";
  size_t value_bytes = 64;
  uint32_t hold_keys = 0;  // maxmemory is set so that about that many keys fit; 0: it is left alone
  bool reset_stat = false;
};

void Print(const char* name, const Count& count, const char* separator = ", ") {
  std::printf("\"%s\": %" PRIu64 "%s", name, count.misses, separator);
}

// Keeps adjusting maxmemory, so that a server that has no limit on the number of keys holds a wanted number.
class KeyHolder {
 public:
  KeyHolder(RemoteCache& cache, uint32_t wanted) : cache_(cache), wanted_(wanted) {
    if (wanted != 0) empty_bytes_ = static_cast<int64_t>(cache.UsedMemory());
  }

  void Look(uint64_t done, bool counts) {
    if (wanted_ == 0 || done < looked_at_ + kEvery) return;
    looked_at_ = done;
    const int64_t keys = cache_.CountKeys();
    const auto used = static_cast<int64_t>(cache_.UsedMemory());
    const int64_t bytes_per_key = (used - empty_bytes_) / std::max<int64_t>(keys, 1);
    if (limit_ == 0 && keys < wanted_) return;
    if (limit_ == 0) limit_ = used;
    limit_ += (wanted_ - keys) * bytes_per_key / 2;
    cache_.SetMaxMemory(static_cast<uint64_t>(limit_));
    if (!counts) return;
    least_ = looks_ == 0 ? keys : std::min(least_, keys);
    most_ = std::max(most_, keys);
    sum_ += keys;
    ++looks_;
  }

  void Print() const {
    if (looks_ == 0) return;
    std::printf("\"keys_least\": %" PRId64 ", \"keys_mean\": %" PRId64 ", \"keys_most\": %" PRId64 ", ",
                least_, sum_ / looks_, most_);
  }

 private:
  static constexpr uint64_t kEvery = 8192;

  RemoteCache& cache_;
  int64_t wanted_;
  int64_t empty_bytes_ = 0;
  int64_t limit_ = 0;
  uint64_t looked_at_ = 0;
  int64_t least_ = 0;
  int64_t most_ = 0;
  int64_t sum_ = 0;
  int64_t looks_ = 0;
};

void AskServer(const TraceOptions& traced, const ReplayOptions& replay, const ServerOptions& options) {
  const Trace trace = Draw(traced);
  const auto protocol =
      options.protocol == "redis" ? RemoteCache::Protocol::kRedis : RemoteCache::Protocol::kMemcached;
  RemoteCache cache(options.port, protocol, options.value_bytes);
  KeyHolder holder(cache, options.hold_keys);
  bool warm = false;
  const Count count = Replay(trace, replay, cache, [&](uint64_t done) {
    holder.Look(done, done > replay.warm_up);
    if (options.reset_stat && !warm && done >= replay.warm_up) cache.ResetStatistics();
    warm = warm || done >= replay.warm_up;
  });
  std::printf("{\"seed\": %" PRIu64 ", ", traced.seed);
  holder.Print();
  std::printf("\"hits\": %" PRIu64 ", ", count.hits);
  Print("misses", count, "}\n");
}

void Compute(const TraceOptions& traced, const ReplayOptions& replay, uint32_t capacity) {
  const Trace trace = Draw(traced);
  const auto run = [&](std::unique_ptr<Cache> cache, size_t batch) {
    return Replay(trace, {.warm_up = replay.warm_up, .batch = batch}, *cache);
  };
  std::printf("{\"seed\": %" PRIu64 ", \"requests\": %" PRIu64 ", ", traced.seed,
              traced.requests - std::min(traced.requests, replay.warm_up));
  Print("lru", run(MakeLru(trace.keys, capacity), replay.batch));
  Print("sieve", run(MakeSieve(trace.keys, capacity), replay.batch));
  // Shows how much the batches change.
  Print("lru_one_by_one", run(MakeLru(trace.keys, capacity), 1));
  Print("sieve_one_by_one", run(MakeSieve(trace.keys, capacity), 1));
  Print("belady", Belady(trace, replay.warm_up, capacity), "}\n");
}

}  // namespace
}  // namespace mayfly::bench

int main(int argc, char** argv) {
  using namespace mayfly::bench;
  TraceOptions trace;
  ReplayOptions replay;
  ServerOptions server;
  uint32_t capacity = 0;
  CLI::App app("How often caches miss on the same requests");
  app.require_subcommand(1);
  app.add_option("--kind", trace.kind)->check(CLI::IsMember({"zipf", "scan", "shift"}));
  app.add_option("--exponent", trace.exponent);
  app.add_option("--keys", trace.keys)->check(CLI::PositiveNumber);
  app.add_option("--requests", trace.requests, "with those that warm up")->required();
  app.add_option("--seed", trace.seed);
  app.add_option("--warm-up", replay.warm_up, "requests that are not counted");
  app.add_option("--batch", replay.batch)->check(CLI::PositiveNumber);

  CLI::App* mode = app.add_subcommand("server", "replay against a server");
  mode->add_option("port", server.port)->required();
  mode->add_option("--protocol", server.protocol)->check(CLI::IsMember({"redis", "memcached"}));
  mode->add_option("--value-bytes", server.value_bytes);
  mode->add_option("--hold-keys", server.hold_keys, "set maxmemory so that about that many keys fit");
  mode->add_flag("--reset-stat", server.reset_stat, "CONFIG RESETSTAT when the cache is warm");
  mode->callback([&] { AskServer(trace, replay, server); });

  mode = app.add_subcommand("offline", "exact LRU, SIEVE and Belady's optimum");
  mode->add_option("--capacity", capacity, "keys")->required()->check(CLI::PositiveNumber);
  mode->callback([&] { Compute(trace, replay, capacity); });

  CLI11_PARSE(app, argc, argv);
  return 0;
}
