// Work in slices: however many keys are due, to be evicted or flushed, clients are served between two slices, and
// a slice is as long as expire-slice-us says.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "cache/table/table_layout.h"
#include "net/socket/limits.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

constexpr uint64_t kLookUs = 100;
constexpr uint64_t kSliceUs = 500;
// The loop looks at the cycle counter after every kEntriesPerLook entries.
constexpr uint64_t kPerSlice = kSliceUs / kLookUs * net::kEntriesPerLook;

// Sets that many keys of database `db`. `rest` is the rest of each SET, for instance "PXAT 1700000000500".
void Fill(SimulatedServer& server, size_t keys, const std::string& rest = "", int db = 0) {
  Peer& peer = server.Connect();
  std::string requests = "SELECT " + std::to_string(db) + "\r\n";
  for (size_t i = 0; i < keys; ++i) requests += "SET key:" + std::to_string(i) + " v " + rest + "\r\n";
  peer.Send(requests);
  server.Settle();
  REQUIRE(peer.received().size() == (keys + 1) * 5);
  peer.Leave();
  server.Settle();
}

// One deadline for many keys: `ms` from now.
std::string DueIn(SimulatedServer& server, uint64_t ms) {
  return "PXAT " + std::to_string(server.parts.clock.Read().wall_ms + static_cast<int64_t>(ms));
}

// From now on every look at the cycle counter takes time, so that slices end.
void MakeWorkCost(SimulatedServer& server) {
  server.Set("expire-slice-us", std::to_string(kSliceUs));
  server.world.set_look_cost_us(kLookUs);
}

TEST_CASE("a herd of due keys is freed in slices, and clients are served between two slices") {
  SimulatedServer server;
  constexpr size_t kKeys = 100'000;
  Fill(server, kKeys, DueIn(server, 1'000));
  Peer& peer = server.Connect();
  server.AdvanceTime(1'000 - 1);
  REQUIRE(server.keys() == kKeys);
  MakeWorkCost(server);
  server.WaitForTurn();

  uint64_t slices = 0;
  for (size_t left = server.keys(); left != 0; ++slices) {
    peer.Send("PING\r\n");
    REQUIRE(server.Turn() == 1);
    // The request is answered in the same turn.
    REQUIRE(peer.Writes().size() == slices + 1);
    REQUIRE(left - server.keys() <= kPerSlice);
    REQUIRE(server.keys() < left);
    left = server.keys();
  }
  CHECK(slices >= kKeys / kPerSlice - 1);
  const ExpiryStats& stats = server.expiry_stats();
  CHECK(stats.expired_keys == kKeys);
  CHECK(stats.burst_max == kPerSlice - net::kEntriesPerLook);  // reading the clock is one look
  CHECK(stats.full_slices >= slices - 1);
  // One turn is a slice and a few requests.
  CHECK(server.stats().loop_turn_max_us >= kSliceUs);
  CHECK(server.stats().loop_turn_max_us < 2 * kSliceUs + 10 * kLookUs);
}

TEST_CASE("a slice of expiry that takes long is a sample for LATENCY") {
  SimulatedServer server;
  Fill(server, 10'000, DueIn(server, 1'000));
  server.AdvanceTime(999);
  server.Set("expire-slice-us", "2000");
  server.Set("latency-monitor-threshold", "2");
  server.world.set_look_cost_us(kLookUs);
  server.AdvanceTime(1'000);
  REQUIRE(server.keys() == 0);
  const LatencyMonitor::Events& events = server.parts.latency_monitor.events();
  REQUIRE(events.contains(LatencyMonitor::kExpiry));
  CHECK(events.find(LatencyMonitor::kExpiry)->second.max_ms() == 2);
}

TEST_CASE("a herd of due members counts in the largest burst") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  std::string requests = "SADD s lasting\r\n";
  for (size_t i = 0; i < 20'000; ++i) requests += "SADDEX s 1 member:" + std::to_string(i) + "\r\n";
  peer.Send(requests);
  server.Settle();
  server.AdvanceTime(999);
  MakeWorkCost(server);
  server.AdvanceTime(1'000);
  const ExpiryStats& stats = server.expiry_stats();
  CHECK(stats.expired_members == 20'000);
  CHECK(stats.burst_max == kPerSlice - net::kEntriesPerLook);
  CHECK(server.Info("expire_burst_max") == static_cast<int64_t>(stats.burst_max));
}

TEST_CASE("a slice that frees all that is due is not counted as full") {
  SimulatedServer server;
  Fill(server, 10, DueIn(server, 1'000));
  server.AdvanceTime(1'000);
  CHECK(server.keys() == 0);
  CHECK(server.Info("expired_time_cap_reached_count") == 0);
}

TEST_CASE("a slice is as long as expire-slice-us says") {
  const auto burst = [](const std::string& slice_us) {
    SimulatedServer server;
    Fill(server, 20'000, DueIn(server, 1'000));
    server.AdvanceTime(999);
    MakeWorkCost(server);
    server.Set("expire-slice-us", slice_us);
    server.AdvanceTime(1'000);
    CHECK(server.keys() == 0);
    return server.expiry_stats().burst_max;
  };
  CHECK(burst("400") == 3 * net::kEntriesPerLook);
  CHECK(burst("800") == 7 * net::kEntriesPerLook);
  CHECK(burst("4000") == 39 * net::kEntriesPerLook);
}

TEST_CASE("after requests that took long a slice is as long, at most five times expire-slice-us") {
  constexpr uint64_t kKeys = 100'000;
  SimulatedServer server;
  Fill(server, kKeys, DueIn(server, 1'000));
  Peer& peer = server.Connect();
  server.AdvanceTime(999);
  MakeWorkCost(server);
  server.WaitForTurn();
  const auto freed_beside = [&](int requests) {
    std::string bytes;
    for (int i = 0; i < requests; ++i) bytes += i % 2 == 0 ? "PING\r\n" : "ECHO x\r\n";  // each takes a look
    peer.Send(bytes);
    const size_t before = server.keys();
    REQUIRE(server.Turn(2) == 2);  // the requests, and the slice after them
    return before - server.keys();
  };
  const size_t two_slices = freed_beside(0);
  CHECK(two_slices <= 2 * kPerSlice);
  CHECK(freed_beside(1) <= two_slices);
  CHECK(freed_beside(20) >= 20 * net::kEntriesPerLook);
  const size_t most = freed_beside(1'000);
  CHECK(most >= 5 * (kPerSlice - net::kEntriesPerLook));
  CHECK(most <= 6 * kPerSlice);
}

TEST_CASE("what is sent to a replica makes the next slice no longer, but a reply does") {
  constexpr uint64_t kKeys = 100'000;
  SimulatedServer server;
  Peer& replica = server.Connect();
  replica.Send("REPLCONF CAPA EOF\r\nPSYNC ? -1\r\n");
  server.Settle();
  replica.Send("REPLCONF ACK 0\r\n");
  Fill(server, kKeys, DueIn(server, 1'000));
  Peer& silent = server.Connect();
  silent.Send("CLIENT REPLY OFF\r\n");
  Peer& asking = server.Connect();
  server.AdvanceTime(999);
  MakeWorkCost(server);
  server.world.set_write_cost_us(10 * kSliceUs);
  server.WaitForTurn();
  const auto freed_beside = [&](Peer& peer, const char* request) {
    peer.Send(request);
    const size_t before = server.keys();
    REQUIRE(server.Turn(2) == 2);  // the request, and the slice after it
    return before - server.keys();
  };
  static_cast<void>(replica.Take());
  CHECK(freed_beside(silent, "INCR counter\r\n") < 3 * kPerSlice);
  CHECK(replica.Take().find("counter") != std::string::npos);
  CHECK(freed_beside(asking, "PING\r\n") >= 5 * (kPerSlice - net::kEntriesPerLook));
}

TEST_CASE("keys above maxkeys are evicted in slices, and clients are served between two slices") {
  SimulatedServer server;
  constexpr size_t kKeys = 50'000;
  constexpr size_t kKept = 1'000;
  Fill(server, kKeys);
  Peer& peer = server.Connect();
  server.Set("maxmemory-policy", "allkeys-lru");
  MakeWorkCost(server);
  server.Set("maxkeys", std::to_string(kKept));
  uint64_t slices = 0;
  for (size_t left = server.keys(); left > kKept; ++slices) {
    peer.Send("PING\r\n");
    REQUIRE(server.Turn() == 1);
    REQUIRE(peer.Writes().size() == slices + 1);
    // The end of each turn evicts once more.
    REQUIRE(left - server.keys() <= kPerSlice + net::kEntriesPerLook);
    left = server.keys();
  }
  CHECK(server.keys() == kKept);
  CHECK(slices >= (kKeys - kKept) / (kPerSlice + net::kEntriesPerLook));
}

TEST_CASE("flushed keys are freed in slices, and clients are served between two slices") {
  SimulatedServer server;
  constexpr size_t kKeys = 100'000;
  // A table is freed by whole segments, so the last one may exceed the budget of a look.
  const size_t most = kSliceUs / kLookUs * (net::kEntriesPerLook + LimitOfSize(kLargestSize));
  Fill(server, kKeys);
  Peer& peer = server.Connect();
  MakeWorkCost(server);
  peer.Send("FLUSHALL ASYNC\r\n");
  server.Turn();
  CHECK(server.keys() == 0);
  uint64_t slices = 1;
  for (size_t left = server.parts.databases.waiting_keys(); left != 0; ++slices) {
    peer.Send("PING\r\n");
    REQUIRE(server.Turn() == 1);
    REQUIRE(peer.Writes().size() == slices + 1);
    const size_t now = server.parts.databases.waiting_keys();
    REQUIRE(left - now <= most);
    REQUIRE(now < left);
    left = now;
  }
  CHECK(slices >= kKeys / most);
}

TEST_CASE("expiry, eviction and freeing of flushed keys all make progress in every turn") {
  SimulatedServer server;
  Fill(server, 100'000, "", 2);
  Fill(server, 20'000, DueIn(server, 1'000), 1);
  Fill(server, 20'000, "", 3);
  Peer& peer = server.Connect();
  server.AdvanceTime(999);
  MakeWorkCost(server);
  server.Set("maxmemory-policy", "allkeys-lru");
  peer.Send("SELECT 2\r\nFLUSHDB\r\nCONFIG SET maxkeys 100\r\n");
  server.world.SetTime(server.world.now_ns() + World::kNsPerMs);
  server.Turn(2);
  const auto work = [&] {
    return std::array<uint64_t, 3>{server.expiry_stats().expired_keys, server.expiry_stats().evicted_keys,
                                   UINT64_MAX - server.parts.databases.waiting_keys()};
  };
  for (int turn = 0; turn < 8; ++turn) {
    const auto before = work();
    REQUIRE(server.Turn() == 1);
    const auto after = work();
    for (size_t kind = 0; kind < before.size(); ++kind) REQUIRE(before[kind] < after[kind]);
  }
}

// Another kind of work, as a part of the server would register it.
struct Chores final : SlicedWork::Step {
  explicit Chores(SimulatedServer& server) : Step(server.parts.server.sliced_work) {}
  bool DoSome(Now, size_t budget) noexcept override {
    done += budget;
    left -= std::min(left, budget);
    return left != 0;
  }
  size_t left = 0;
  size_t done = 0;
};

TEST_CASE("a fourth kind of work gets its part beside a herd of due keys, eviction and a flushed database") {
  SimulatedServer server;
  constexpr size_t kKeys = 300'000;
  Fill(server, 100'000, "", 2);
  Fill(server, kKeys, DueIn(server, 1'000), 1);
  Fill(server, 50'000, "", 3);
  Peer& peer = server.Connect();
  Chores chores(server);
  server.AdvanceTime(999);
  MakeWorkCost(server);
  server.Set("maxmemory-policy", "volatile-lru");
  peer.Send("SELECT 2\r\nFLUSHDB\r\n");
  server.world.SetTime(server.world.now_ns() + World::kNsPerMs);
  server.Turn(2);
  server.Set("maxkeys", std::to_string(kKeys / 2));
  server.Turn();
  REQUIRE(server.parts.databases.waiting_keys() != 0);
  chores.left = 20'000;
  chores.Announce();
  // Four kinds share each slice, so a look in four is its own; the clock's reading is one, too.
  const uint64_t expired = server.expiry_stats().expired_keys;
  const uint64_t evicted = server.expiry_stats().evicted_keys;
  uint64_t slices = 0;
  for (; chores.left > 5'000; ++slices) {
    peer.Send("PING\r\n");
    REQUIRE(server.Turn() == 1);
  }
  CHECK(peer.link().write_calls.size() >= slices);
  const size_t in_all = slices * kPerSlice;
  CHECK(chores.done >= in_all / 5);
  CHECK(chores.done <= in_all / 3);
  CHECK(server.expiry_stats().expired_keys - expired >= in_all / 6);
  CHECK(server.expiry_stats().evicted_keys - evicted >= in_all / 6);
  server.Settle();
  CHECK(chores.left == 0);
  CHECK(server.parts.databases.waiting_keys() == 0);
}

TEST_CASE("keys that become due while flushed keys are freed are freed in time, too") {
  SimulatedServer server;
  Fill(server, 200'000);
  Fill(server, 1, DueIn(server, 5), 1);
  Peer& peer = server.Connect();
  MakeWorkCost(server);
  peer.Send("FLUSHDB\r\n");
  server.Turn(10);  // a slice each: 5 ms have passed
  REQUIRE(server.parts.databases.waiting_keys() != 0);
  CHECK(server.expiry_stats().expired_keys == 1);
}

TEST_CASE("a database full of due keys does not delay the one due key of another") {
  for (const int other : {1, 7, 15}) {
    SimulatedServer server;
    Fill(server, 50'000, DueIn(server, 1'000));
    Fill(server, 1, DueIn(server, 1'000), other);
    server.AdvanceTime(999);
    MakeWorkCost(server);
    server.WaitForTurn();
    server.Turn(1);
    INFO("database " << other);
    CHECK(server.parts.databases.At(static_cast<unsigned>(other)).size() == 0);
    CHECK(server.parts.databases.At(0).size() > 45'000);
  }
}

TEST_CASE("two databases full of due keys are freed at the same pace, whichever they are") {
  const std::vector<std::pair<int, int>> pairs{{0, 1}, {0, 15}, {3, 4}, {2, 9}};
  for (const auto& [first, second] : pairs) {
    SimulatedServer server;
    const std::string due = DueIn(server, 5'000);
    Fill(server, 20'000, due, first);
    Fill(server, 20'000, due, second);
    server.AdvanceTime(4'999);
    MakeWorkCost(server);
    server.WaitForTurn();
    server.Turn(30);
    const size_t one = server.parts.databases.At(static_cast<unsigned>(first)).size();
    const size_t two = server.parts.databases.At(static_cast<unsigned>(second)).size();
    INFO("databases " << first << " and " << second << ": " << one << " and " << two << " left");
    CHECK(std::max(one, two) < 17'000);
    CHECK(std::max(one, two) - std::min(one, two) <= 2 * kPerSlice);
  }
}

}  // namespace
}  // namespace mayfly::sim
