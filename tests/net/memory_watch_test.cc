// The cgroup's limit changes while the daemon runs.
#include "exec/memory/memory_watch.h"

#include <string>

#include "exec/memory/resident_guard.h"
#include "sim/server.h"
#include "support/catch.h"
#include "support/fake_root.h"

namespace mayfly::sim {
namespace {

constexpr uint64_t kMb = 1 << 20;

TEST_CASE(
    "when the cgroup's limit falls, keys are evicted in the next turn, and an idle server is not woken") {
  SimulatedServer server;
  const testing::FakeRoot root;
  root.Put("/proc/meminfo", "MemTotal:       8388608 kB\n");
  root.Put("/proc/self/cgroup", "0::/\n");
  root.Put("/sys/fs/cgroup/memory.max", std::to_string(400 * kMb) + "\n");
  MemoryWatch watch(MemoryLimitFiles(root.path()), server.parts.options, server.parts.resident, nullptr,
                    server.parts.clock.Read().mono_ms);
  server.parts.server.memory_watch = &watch;
  server.Set("maxmemory", "10%");
  server.Set("maxmemory-policy", "allkeys-lru");
  server.AdvanceTime(MemoryWatch::kSpacingMs);
  server.Run({"PING"});
  Peer& peer = server.Connect();
  std::string requests;
  for (int i = 0; i < 4000; ++i)
    requests += "SET key:" + std::to_string(i) + " " + std::string(1000, 'x') + "\r\n";
  peer.Send(requests);
  server.Settle();
  REQUIRE(server.keys() == 4000);

  // Half of the keys fit, with all that the test itself holds.
  const uint64_t limit = (server.parts.memory.Data() - 2 * kMb) * 10;
  root.Put("/sys/fs/cgroup/memory.max", std::to_string(limit) + "\n");
  server.AdvanceTime(2'000);  // what the requests have left to do
  const uint64_t turns = server.stats().loop_turns;
  server.AdvanceTime(MemoryWatch::kSpacingMs);
  CHECK(server.stats().loop_turns == turns);
  CHECK(server.keys() == 4000);
  peer.Send("PING\r\n");
  server.Settle();
  CHECK(server.keys() < 2800);
  CHECK(server.keys() > 1000);
  CHECK(server.Ask(server.Connect(), {"CONFIG", "GET", "maxmemory"}).elements.at(1).text ==
        std::to_string(limit / 100 * 10));
  server.parts.server.memory_watch = nullptr;
}

}  // namespace
}  // namespace mayfly::sim
