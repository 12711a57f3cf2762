// What a timer costs: nanoseconds per set, move, refresh (a move to later), remove, and per timer brought to
// its end, for entries of 80 bytes touched in random order, with the wheel and with other designs.
//
// Usage: bench_wheel [timers = 1000000] [rounds = 3] [huge]
// Deadlines lie 1 s to 1 h ahead. Each figure is the best of the rounds. "huge" asks for huge pages.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "wheel_entries.h"
#include "wheel_peers.h"

namespace mayfly::bench {
namespace {

constexpr uint64_t kSoonestMs = 1000;
constexpr uint64_t kLatestMs = 3'600'000;

// The orders in which entries are touched and the deadlines they get, drawn before any clock runs.
struct Script {
  explicit Script(size_t timers) {
    std::mt19937_64 random(1);
    std::vector<uint32_t> order(timers);
    for (size_t i = 0; i < timers; ++i) order[i] = Entries::HandleOf(i);
    for (auto* o : {&set, &move, &remove}) {
      std::shuffle(order.begin(), order.end(), random);
      *o = order;
    }
    for (auto* d : {&first, &second}) {
      d->resize(timers);
      for (uint32_t& deadline : *d) {
        deadline = static_cast<uint32_t>(kSoonestMs + random() % (kLatestMs - kSoonestMs));
      }
    }
  }
  std::vector<uint32_t> set, move, remove;
  std::vector<uint32_t> first, second;
};

struct Costs {
  double set = 1e9, move = 1e9, refresh = 1e9, remove = 1e9, expire = 1e9;
};

template <typename Fn>
void Time(double& best_ns, size_t operations, Fn fn) {
  const auto start = std::chrono::steady_clock::now();
  fn();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  best_ns = std::min(best_ns, took.count() / static_cast<double>(operations));
}

template <typename Timers>
void Round(const Script& script, const Entries& entries, Costs& costs) {
  const EntryHooks hooks = entries.hooks();
  const size_t n = script.set.size();
  Timers timers(hooks);
  const auto set_all = [&] {
    for (size_t i = 0; i < n; ++i) {
      hooks.SetDeadline(script.set[i], script.first[i]);
      timers.Set(script.set[i]);
    }
  };
  Time(costs.set, n, set_all);
  Time(costs.move, n, [&] {
    for (size_t i = 0; i < n; ++i) {
      hooks.SetDeadline(script.move[i], script.second[i]);
      timers.Move(script.move[i]);
    }
  });
  Time(costs.refresh, n, [&] {
    for (size_t i = 0; i < n; ++i) {
      hooks.SetDeadline(script.set[i], hooks.Deadline(script.set[i]) + 60'000);
      timers.Move(script.set[i]);
    }
  });
  Time(costs.remove, n, [&] {
    for (const uint32_t ref : script.remove) {
      timers.Remove(ref);
    }
  });
  set_all();
  size_t expired = 0;
  Time(costs.expire, n, [&] { expired = timers.Expire(kLatestMs); });
  if (expired != n) {
    std::fprintf(stderr, "%s lost timers: %zu of %zu came back\n", Timers::kName, expired, n);
    std::exit(1);
  }
}

template <typename Timers>
void Measure(const Script& script, int rounds, bool huge_pages) {
  Costs costs;
  for (int round = 0; round < rounds; ++round) {
    const Entries entries(script.set.size(), huge_pages);
    Round<Timers>(script, entries, costs);
  }
  std::printf("%-24s %8.1f %8.1f %8.1f %8.1f %8.1f\n", Timers::kName, costs.set, costs.move, costs.refresh,
              costs.remove, costs.expire);
  std::fflush(stdout);
}

}  // namespace
}  // namespace mayfly::bench

int main(int argc, char** argv) {
  using namespace mayfly::bench;
  const size_t timers = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  const bool huge_pages = argc > 3 && std::strcmp(argv[3], "huge") == 0;
  if (timers == 0 || rounds <= 0) {
    std::fprintf(stderr, "usage: %s [timers] [rounds] [huge]\n", argv[0]);
    return 2;
  }
  const Script script(timers);
  std::printf("%zu timers, ns each %*s %8s %8s %8s %8s\n", timers,
              static_cast<int>(15 - std::to_string(timers).size()), "set", "move", "refresh", "remove",
              "expire");
  Measure<MayflyWheel>(script, rounds, huge_pages);
  Measure<MinimalWheel>(script, rounds, huge_pages);
  Measure<FourLevelWheel>(script, rounds, huge_pages);
  Measure<BinaryHeap>(script, rounds, huge_pages);
  Measure<RoundsWheel>(script, rounds, huge_pages);
  return 0;
}
