// What a timer costs, with Mayfly's wheel and with other designs: nanoseconds to set, move, refresh (move to
// a later time), remove and expire one, for entries of 80 bytes that are touched in random order.
//
// Usage: bench_wheel [timers = 1000000] [rounds = 3] [huge] [json]
// Deadlines are 1 s to 1 h ahead. Each figure is the best of the rounds. "huge" asks for huge pages; "json"
// prints one JSON object instead of a table.
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

// The orders in which entries are touched, and their deadlines; drawn before anything is measured.
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

struct Options {
  size_t timers = 1'000'000;
  int rounds = 3;
  bool huge_pages = false;
  bool json = false;
};

void PrintHead(const Options& options) {
  if (options.json) {
    std::printf("{\"timers\": %zu, \"designs\": {", options.timers);
    return;
  }
  std::printf("%zu timers, ns each %*s %8s %8s %8s %8s\n", options.timers,
              static_cast<int>(15 - std::to_string(options.timers).size()), "set", "move", "refresh",
              "remove", "expire");
}

void PrintRow(const char* name, const Costs& costs, bool json, bool first) {
  const char* form = "%-24s %8.1f %8.1f %8.1f %8.1f %8.1f\n";
  if (json) {
    form = "\"%s\": {\"set\": %.1f, \"move\": %.1f, \"refresh\": %.1f, \"remove\": %.1f, \"expire\": %.1f}";
    if (!first) std::printf(", ");
  }
  std::printf(form, name, costs.set, costs.move, costs.refresh, costs.remove, costs.expire);
  std::fflush(stdout);
}

template <typename Timers>
void Measure(const Script& script, const Options& options, bool first = false) {
  Costs costs;
  for (int round = 0; round < options.rounds; ++round) {
    const Entries entries(script.set.size(), options.huge_pages);
    Round<Timers>(script, entries, costs);
  }
  PrintRow(Timers::kName, costs, options.json, first);
}

}  // namespace
}  // namespace mayfly::bench

int main(int argc, char** argv) {
  using namespace mayfly::bench;
  Options options;
  if (argc > 1) options.timers = std::strtoull(argv[1], nullptr, 10);
  if (argc > 2) options.rounds = std::atoi(argv[2]);
  for (int i = 3; i < argc; ++i) {
    options.huge_pages |= std::strcmp(argv[i], "huge") == 0;
    options.json |= std::strcmp(argv[i], "json") == 0;
  }
  if (options.timers == 0 || options.rounds <= 0) {
    std::fprintf(stderr, "usage: %s [timers] [rounds] [huge] [json]\n", argv[0]);
    return 2;
  }
  const Script script(options.timers);
  PrintHead(options);
  Measure<MayflyWheel>(script, options, true);
  Measure<MinimalWheel>(script, options);
  Measure<FourLevelWheel>(script, options);
  Measure<BinaryHeap>(script, options);
  Measure<RoundsWheel>(script, options);
  if (options.json) std::puts("}}");
  return 0;
}
