// A script that runs for longer than busy-reply-threshold, and the turns of the loop meanwhile: it sees one moment of time, so
// nothing is expired or evicted until it has ended.
#include <string>

#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim::busy_script {
namespace {

using testing::Integer;
using testing::Ok;

// A script is long after some milliseconds of this world, in which each look at the cycle counter takes 100 us.
struct BusyServer : SimulatedServer {
  BusyServer() : caller(Connect()), other(Connect()) { Set("busy-reply-threshold", "1"); }

  // The caller's script runs for ever.
  void BeBusy() {
    world.set_look_cost_us(100);
    caller.Request({"EVAL", "while true do end", "0"});
    while (!parts.server.Busy()) REQUIRE(Turn(1) == 1);
  }
  void StayBusy(uint64_t ms) {
    const uint64_t until = elapsed_ms() + ms;
    while (elapsed_ms() < until) REQUIRE(Turn(1) == 1);
    REQUIRE(parts.server.Busy());
  }
  void Kill() {
    other.Request({"SCRIPT", "KILL"});
    while (parts.server.Busy()) REQUIRE(Turn(1) == 1);
    world.set_look_cost_us(0);
    Settle();
    CHECK(other.Take() == "+OK\r\n");
    CHECK(caller.Take().starts_with("-ERR Script killed by user"));
  }

  Peer& caller;
  Peer& other;
};

}  // namespace

TEST_CASE("while a script is busy no key expires, and what was due meanwhile goes at its end") {
  BusyServer server;
  for (int i = 0; i < 10; ++i) REQUIRE(server.Run({"SET", "k" + std::to_string(i), "v", "PX", "20"}) == Ok());
  server.BeBusy();
  server.StayBusy(100);
  CHECK(server.keys() == 10);
  CHECK(server.expiry_stats().expired_keys == 0);
  server.Kill();
  CHECK(server.keys() == 0);
  CHECK(server.expiry_stats().expired_keys == 10);
}

TEST_CASE("while a script is busy no key is evicted in the turns of the loop, and the rest goes at its end") {
  BusyServer server;
  server.Set("maxmemory-policy", "allkeys-lru");
  for (int i = 0; i < 2'000; ++i) REQUIRE(server.Run({"SET", "k" + std::to_string(i), "v"}) == Ok());
  server.BeBusy();
  server.Set("maxkeys", "10");
  server.StayBusy(20);
  CHECK(server.keys() == 2'000);
  server.Kill();
  CHECK(server.keys() == 10);
}

TEST_CASE(
    "while a script is busy a client that waits for a key is not given up, and is answered after the end") {
  BusyServer server;
  Peer& waiting = server.Connect();
  waiting.Request({"BLPOP", "queue", "0.02"});
  server.Settle();
  server.BeBusy();
  server.StayBusy(50);
  server.Kill();
  server.AdvanceTime(1);
  CHECK(waiting.Take() == "*-1\r\n");
  CHECK(server.Run({"RPUSH", "queue", "v"}) == Integer(1));
}

}  // namespace mayfly::sim::busy_script
