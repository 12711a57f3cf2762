// When the loop wakes for a deadline: exactly then, never early, and no more often than it must.
#include <string>
#include <vector>

#include "net/socket/limits.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

using testing::Bulk;
using testing::Integer;
using testing::Ok;

TEST_CASE("a key is freed in the millisecond of its deadline, even if no client asks for it") {
  SimulatedServer server;
  // On several levels of the wheel, and on both sides of their borders.
  const std::vector<uint64_t> delays = {1,     2,     63,    64,      65,      100,
                                        4'095, 4'096, 4'097, 262'144, 300'001, 3'600'000};
  for (const uint64_t ms : delays)
    REQUIRE(server.Run({"SET", std::to_string(ms), "v", "PX", std::to_string(ms)}) == Ok());
  size_t left = delays.size();
  for (const uint64_t ms : delays) {
    server.AdvanceTime(ms - 1 - server.elapsed_ms());
    REQUIRE(server.keys() == left);
    server.AdvanceTime(1);
    REQUIRE(server.keys() == --left);
  }
}

// The end of a turn of reads alone looks at nothing.
TEST_CASE("what a turn files is due in its millisecond, though all later turns only read") {
  SimulatedServer server;
  Peer& reader = server.Connect();
  Peer& waiter = server.Connect();
  const auto read_for = [&](int ms) {
    for (int i = 0; i < ms; ++i) {
      server.AdvanceTime(1);
      REQUIRE(server.Ask(reader, {"GET", "read"}) == Bulk("1"));
    }
  };
  server.Run({"SET", "read", "1"});
  REQUIRE(server.Ask(reader, {"GET", "read"}) == Bulk("1"));
  // A key, in the same turn as a read.
  reader.Request({"GET", "read"});
  waiter.Request({"SET", "k", "v", "PX", "20"});
  server.Settle();
  CHECK(waiter.Take() == "+OK\r\n");
  reader.Take();
  read_for(19);
  CHECK(server.keys() == 2);
  read_for(1);
  CHECK(server.keys() == 1);
  // A client that waits.
  waiter.Request({"BLPOP", "list", "0.020"});
  server.Settle();
  read_for(19);
  CHECK(waiter.Take().empty());
  read_for(1);
  CHECK(waiter.Take() == "*-1\r\n");
}

TEST_CASE("a read that finds an expired key leaves the work of freeing its value to the next turns") {
  SimulatedServer server;
  server.Set("expire-resolution-ms", "1000");  // so the read comes first
  for (int i = 0; i < 5'000; ++i) server.Run({"SADD", "large", std::to_string(i)});
  server.Run({"PEXPIRE", "large", "20"});
  Peer& reader = server.Connect();
  server.AdvanceTime(20);
  REQUIRE(server.keys() == 1);
  CHECK(server.Ask(reader, {"SISMEMBER", "large", "1"}) == Integer(0));
  server.Settle();
  CHECK(server.keys() == 0);
  CHECK(server.parts.databases.waiting_bytes() == 0);
}

TEST_CASE("random deadlines are kept to the millisecond") {
  Choices choices(20'261);
  SimulatedServer server;
  std::multimap<uint64_t, int> due;
  for (int i = 0; i < 2'000; ++i) {
    const uint64_t ms = 1 + choices.Below(choices.OneIn(3) ? 100'000 : 3'000);
    server.Run({"SET", std::to_string(i), "v", "PX", std::to_string(ms)});
    due.emplace(server.elapsed_ms() + ms, i);
    if (choices.OneIn(4)) server.AdvanceTime(choices.Below(20));
  }
  for (const auto& [ms, key] : due) {
    if (ms <= server.elapsed_ms()) continue;
    server.AdvanceTime(ms - 1 - server.elapsed_ms());
    const size_t later = static_cast<size_t>(std::distance(due.lower_bound(ms), due.end()));
    REQUIRE(server.keys() == later);
    server.AdvanceTime(1);
    REQUIRE(server.keys() == static_cast<size_t>(std::distance(due.upper_bound(ms), due.end())));
  }
  CHECK(server.keys() == 0);
}

TEST_CASE("if libuv's milliseconds do not begin with ours, no key is freed early, and none is late") {
  for (const uint64_t phase_us : {1, 300, 999}) {
    SimulatedServer server({.uv_phase_us = phase_us});
    for (const uint64_t ms : {5, 64, 1'000, 70'000}) {
      REQUIRE(server.Run({"SET", "k", "v", "PX", std::to_string(ms)}) == Ok());
      // An event shortly before: libuv's clock may say already that the timer is due.
      server.AdvanceTime(ms - 1);
      server.world.SetTime(server.world.now_ns() + World::kNsPerMs - 1);
      server.Run({"PING"});
      REQUIRE(server.keys() == 1);
      server.world.SetTime(server.world.now_ns() + 1);
      server.Settle();
      server.AdvanceTime(1);
      REQUIRE(server.keys() == 0);
    }
    CHECK(server.world.turns() < 100);
  }
}

TEST_CASE("a key with a deadline in a day costs a few turns, and an idle server none") {
  SimulatedServer server;
  uint64_t turns = server.world.turns();
  server.AdvanceTime(86'400'000);
  CHECK(server.world.turns() == turns);
  REQUIRE(server.Run({"SET", "k", "v", "PX", "86400000"}) == Ok());
  turns = server.world.turns();
  server.AdvanceTime(86'400'000);
  CHECK(server.keys() == 0);
  CHECK(server.world.turns() - turns < 12);
  CHECK(server.expiry_stats().wheel_wakeups < 12);
}

TEST_CASE("keys that are due within expire-resolution-ms are freed together, at its end") {
  const auto wake_ups = [](const std::string& resolution_ms) {
    SimulatedServer server;
    server.Set("expire-resolution-ms", resolution_ms);
    const uint64_t now = server.parts.clock.Read().mono_ms;
    // The next multiple of 10 that is far enough away.
    server.AdvanceTime(100 - now % 100);
    for (int ms = 41; ms <= 50; ++ms) server.Run({"SET", std::to_string(ms), "v", "PX", std::to_string(ms)});
    const uint64_t before = server.expiry_stats().wheel_wakeups;
    server.AdvanceTime(49);
    CHECK(server.keys() == (resolution_ms == "1" ? 1 : 10));
    server.AdvanceTime(1);
    CHECK(server.keys() == 0);
    CHECK(server.expiry_stats().burst_max == (resolution_ms == "1" ? 1 : 10));
    return server.expiry_stats().wheel_wakeups - before;
  };
  CHECK(wake_ups("1") == 10);
  CHECK(wake_ups("10") == 1);
}

TEST_CASE("a new deadline that is nearer than all others is kept") {
  SimulatedServer server;
  REQUIRE(server.Run({"SET", "late", "v", "PX", "10000"}) == Ok());
  REQUIRE(server.Run({"SET", "soon", "v", "PX", "20"}) == Ok());
  server.AdvanceTime(20);
  CHECK(server.keys() == 1);
  REQUIRE(server.Run({"PEXPIRE", "late", "7"}) == testing::Integer(1));
  server.AdvanceTime(6);
  CHECK(server.keys() == 1);
  server.AdvanceTime(1);
  CHECK(server.keys() == 0);
}

TEST_CASE("a step of the wall clock frees the wall-clock deadlines that it reaches, at once, and no others") {
  SimulatedServer server;
  const int64_t now_ms = server.parts.clock.Read().wall_ms;
  server.Run({"SET", "wall", "v", "PXAT", std::to_string(now_ms + 3'600'000)});
  server.Run({"SET", "relative", "v", "PX", "3600000"});
  server.world.StepWall(3'600'000 - 1);
  server.Settle();
  CHECK(server.keys() == 2);
  server.AdvanceTime(1);
  CHECK(server.keys() == 1);
  CHECK(server.Run({"EXISTS", "relative"}) == testing::Integer(1));
  server.world.StepWall(100'000'000);
  server.AdvanceTime(3'600'000 - 2);
  CHECK(server.keys() == 1);
  server.AdvanceTime(1);
  CHECK(server.keys() == 0);
}

TEST_CASE("after a step backwards a key lives until its wall time comes again") {
  SimulatedServer server;
  const int64_t now_ms = server.parts.clock.Read().wall_ms;
  server.Run({"SET", "wall", "v", "PXAT", std::to_string(now_ms + 1'000)});
  server.world.StepWall(-5'000);
  server.AdvanceTime(5'999);
  CHECK(server.keys() == 1);
  server.AdvanceTime(1);
  CHECK(server.keys() == 0);
}

TEST_CASE("if the kernel reports no clock steps, they are noticed within kClockLookMs") {
  SimulatedServer server({.has_step_timer = false});
  const int64_t now_ms = server.parts.clock.Read().wall_ms;
  server.Run({"SET", "wall", "v", "PXAT", std::to_string(now_ms + 3'600'000)});
  server.AdvanceTime(10'500);
  server.parts.clock.StepWall(3'600'000);
  server.AdvanceTime(net::kClockLookMs);
  CHECK(server.keys() == 0);
}

TEST_CASE("if the kernel reports no clock steps, a server without deadlines sleeps nevertheless") {
  SimulatedServer server({.has_step_timer = false});
  REQUIRE(server.Run({"SET", "k", "v"}) == Ok());
  server.AdvanceTime(net::kClockLookMs);
  const uint64_t turns = server.world.turns();
  server.AdvanceTime(100 * net::kClockLookMs);
  CHECK(server.world.turns() == turns);
}

}  // namespace
}  // namespace mayfly::sim
