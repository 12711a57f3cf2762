// Readers that wait for events (EXPLOG READ BLOCK): they are answered in the turn in which keys go, whatever makes
// them go.
#include <string>

#include "server/watch/event_log.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

class ReadersTest {
 public:
  ReadersTest() : reader(server.Connect()) {
    server.Set("expire-log-size", "1mb");
    reader.Send("EXPLOG READ $ BLOCK 0\r\n");
    server.Settle();
    REQUIRE(server.parts.parking.AnyEventReader());
  }
  // Sets that many keys; `rest` is the rest of each SET.
  void Fill(int keys, const std::string& rest = "") {
    Peer& peer = server.Connect();
    for (int i = 0; i < keys; ++i) peer.Send("SET key:" + std::to_string(i) + " v " + rest + "\r\n");
    server.Settle();
    REQUIRE(server.keys() == static_cast<size_t>(keys));
  }

  SimulatedServer server;
  Peer& reader;
};

}  // namespace

TEST_CASE_METHOD(ReadersTest,
                 "a reader is answered at the deadline of a key, and the server sleeps until then") {
  Fill(3, "PX 1000");
  server.AdvanceTime(10);
  const uint64_t turns = server.stats().loop_turns;
  server.AdvanceTime(989);
  CHECK(reader.received().empty());
  CHECK(server.stats().loop_turns <= turns + 10);  // what the wheel does ahead of time
  server.AdvanceTime(1);
  CHECK(reader.Take().starts_with("*3\r\n*5\r\n"));
}

TEST_CASE_METHOD(ReadersTest,
                 "a reader is answered though keys are evicted after all requests of the turn were served") {
  Fill(20);
  server.Set("maxkeys", "10");
  server.Set("maxmemory-policy", "allkeys-lru");
  Peer& other = server.Connect();
  other.Send("PING\r\n");
  server.Settle();
  CHECK(server.keys() == 10);
  CHECK(reader.received().find("evicted") != std::string::npos);
}

TEST_CASE_METHOD(ReadersTest, "a reader that disconnects while it waits is forgotten") {
  reader.Leave();
  server.Settle();
  CHECK_FALSE(server.parts.parking.AnyEventReader());
  Fill(3, "PX 100");
  server.AdvanceTime(100);
  CHECK(server.keys() == 0);
  CHECK(server.parts.event_log.ring().size() == 3);
}

TEST_CASE_METHOD(ReadersTest, "what a reader lets go of is freed while the server is idle") {
  server.Set("expire-log-values", "1mb");
  for (int i = 0; i < 8; ++i) {
    const std::string value(50'000, 'v');
    Peer& peer = server.Connect();
    peer.Request({"SET", "key", value});
    peer.Request({"DEL", "key"});
    server.Settle();
  }
  const uint64_t full = server.parts.event_log.ring().bytes();
  CHECK(full > 400'000);
  const EventRing& ring = server.parts.event_log.ring();
  CHECK(server.Run({"EXPLOG", "ACK", std::to_string(ring.next_number() - 1)}) == testing::Integer(8));
  server.Settle();
  CHECK(ring.bytes() <= EventRing::kSegmentMax);
}

}  // namespace mayfly::sim
