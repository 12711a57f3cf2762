// Big values on their way in: how many turns of the loop they take, and that nothing is lost at any edge.
#include <string>
#include <vector>

#include "net/socket/limits.h"
#include "resp/limits.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

constexpr size_t kBigBulk = resp::Limits{}.big_bulk;

std::string ValueOf(size_t size, char seed) {
  std::string value(size, '\0');
  for (size_t i = 0; i < size; ++i) value[i] = static_cast<char>(seed + static_cast<char>(i % 61));
  return value;
}

TEST_CASE(
    "a big value that has arrived is read, stored and answered in one turn, the first like the next ones") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  peer.link().receive_capacity = 4 << 20;
  for (const size_t size : {size_t{40'000}, size_t{64 * 1024}, size_t{256 * 1024}}) {
    for (int i = 0; i < 3; ++i) {
      INFO(size << ", " << i);
      const std::string value = ValueOf(size, static_cast<char>('a' + i));
      const size_t writes = peer.Writes().size();
      peer.Request({"SET", "k", value});
      CHECK(server.Turn(1) == 1);
      CHECK(peer.Writes().size() == writes + 1);
      server.Settle();
      CHECK(peer.Take() == "+OK\r\n");
      CHECK((server.Run({"GET", "k"}) == testing::Bulk(value)));
      peer.Request({"PING"});
      server.Settle();
      CHECK(peer.Take() == "+PONG\r\n");
    }
  }
}

TEST_CASE("a client that sends a huge value leaves turns to others meanwhile") {
  SimulatedServer server;
  Peer& sender = server.Connect();
  Peer& other = server.Connect();
  sender.link().receive_capacity = 16 << 20;
  constexpr size_t kTimes = 8;
  const std::string value = ValueOf(kTimes * net::kBlockReadBytes, 'a');
  sender.Request({"SET", "k", value});
  size_t turns = 0;
  while (sender.Writes().empty()) {
    REQUIRE(++turns < 2 * kTimes);
    other.Request({"PING"});
    server.Turn(1);
    CHECK(other.Writes().size() == turns);
  }
  CHECK(turns >= kTimes);
  CHECK((server.Run({"GET", "k"}) == testing::Bulk(value)));
}

TEST_CASE("many small requests at once after a big value are all answered, in order") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  std::string requests;
  std::string replies;
  for (int i = 0; i < 3; ++i) {
    requests += testing::EncodeRequest({"SET", "k", ValueOf(100'000, 'a')});
    replies += "+OK\r\n";
    for (int n = 0; n < 2'000; ++n) {
      const std::string text = std::to_string(i) + ':' + std::to_string(n);
      requests += testing::EncodeRequest({"ECHO", text});
      replies += "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
    }
  }
  peer.Send(requests);
  server.Settle();
  CHECK(peer.Take() == replies);
}

TEST_CASE("values of sizes around every limit arrive whole, however the network cuts them") {
  for (const bool short_transfers : {false, true}) {
    SimulatedServer server;
    server.world.set_short_transfers(short_transfers);
    Peer& peer = server.Connect();
    constexpr size_t kHead = 35;  // about the bytes before a value
    char seed = 'a';
    for (const size_t around : {kBigBulk, net::kHeadReadBytes, net::kReadBufferBytes,
                                2 * net::kReadBufferBytes, net::kReadBufferBytes + net::kHeadReadBytes}) {
      for (size_t size = around - kHead; size <= around + 4; ++size) {
        const std::string value = ValueOf(size, seed = seed == 'z' ? 'a' : static_cast<char>(seed + 1));
        peer.Send(testing::EncodeRequest({"SET", "k", value}) + testing::EncodeRequest({"STRLEN", "k"}) +
                  testing::EncodeRequest({"MSET", "a", value, "b", "small", "c", value}));
        server.Settle();
        REQUIRE(peer.Take() == "+OK\r\n:" + std::to_string(size) + "\r\n+OK\r\n");
        for (const char* key : {"k", "a", "c"}) REQUIRE((server.Run({"GET", key}) == testing::Bulk(value)));
      }
    }
  }
}

TEST_CASE("while much has to be evicted no more of a big value is read, and small requests are served") {
  SimulatedServer server;
  Peer& other = server.Connect();
  server.Set("maxmemory-policy", "allkeys-lru");
  for (int i = 0; i < 20'000; ++i) other.Request({"SET", "k" + std::to_string(i), std::string(200, 'v')});
  server.Settle();
  other.Take();
  Peer& sender = server.Connect();
  sender.link().receive_capacity = 16 << 20;
  const std::string value = ValueOf(4 << 20, 'a');
  const std::string request = testing::EncodeRequest({"SET", "big", value});
  sender.Send(request.substr(0, 100'000));
  server.Settle();
  CHECK(sender.unread_by_program() == 0);
  server.Set("expire-slice-us", "500");
  server.world.set_look_cost_us(100);
  server.Set("maxkeys", "100");
  other.Request({"PING"});
  server.Turn(1);
  REQUIRE(server.parts.executor.short_of_room());
  sender.Send(request.substr(100'000));
  size_t turns = 0;
  for (; server.parts.executor.short_of_room(); ++turns) {
    CHECK(sender.unread_by_program() == request.size() - 100'000);
    other.Request({"PING"});
    REQUIRE(server.Turn(1) == 1);
  }
  CHECK(turns > 5);
  server.world.set_look_cost_us(0);
  server.Settle();
  CHECK(other.Take().size() == (turns + 1) * std::string("+PONG\r\n").size());
  CHECK(sender.Take() == "+OK\r\n");
  CHECK((server.Run({"GET", "big"}) == testing::Bulk(value)));
  CHECK(server.keys() == 100);
}

TEST_CASE("a server that was evicting when it became a replica goes on reading big values") {
  SimulatedServer server;
  server.Set("maxmemory-policy", "allkeys-lru");
  Peer& other = server.Connect();
  for (int i = 0; i < 20'000; ++i) other.Request({"SET", "k" + std::to_string(i), "v"});
  server.Settle();
  other.Take();
  Peer& sender = server.Connect();
  server.Set("expire-slice-us", "500");
  server.world.set_look_cost_us(100);  // eviction takes many turns
  server.Set("maxkeys", "100");
  other.Request({"PING"});
  server.Turn(1);
  REQUIRE(server.parts.executor.short_of_room());
  other.Take();
  other.Request({"REPLICAOF", "10.9.9.9", "7000"});
  server.Turn(1);
  CHECK(other.Take() == "+OK\r\n");
  server.world.set_look_cost_us(0);
  sender.Request({"SET", "big", ValueOf(1 << 20, 'a')});
  server.AdvanceTime(1'000);
  CHECK(sender.Take().starts_with("-READONLY"));
}

}  // namespace
}  // namespace mayfly::sim
