// From the replies to the sockets: how often the loop writes, and what slow readers may hold.
#include <algorithm>
#include <string>
#include <vector>

#include "net/socket/limits.h"
#include "server/clients/output_pool.h"
#include "sim/server.h"
#include "support/catch.h"
#include "support/long_text.h"

namespace mayfly::sim {
namespace {

using testing::EncodeRequest;
using testing::Pattern;
using testing::Repeat;

std::string BulkText(const std::string& value) {
  return '$' + std::to_string(value.size()) + "\r\n" + value + "\r\n";
}

TEST_CASE("one turn writes once to each connection") {
  SimulatedServer server;
  Peer& first = server.Connect();
  Peer& second = server.Connect();
  constexpr size_t kPings = 300;
  first.Send(Repeat("PING\r\n", kPings));
  second.Send(Repeat("PING\r\n", 7));
  CHECK(server.Turn() == 1);
  CHECK(first.Writes() == std::vector<size_t>{kPings * 7});
  CHECK(second.Writes() == std::vector<size_t>{7 * 7});
  server.Settle();
  CHECK(first.Take() == Repeat("+PONG\r\n", kPings));
  CHECK(first.link().write_calls.size() == 1);
}

TEST_CASE("one turn reads one buffer of each client, so a long pipeline delays no other client") {
  SimulatedServer server;
  Peer& heavy = server.Connect();
  Peer& light = server.Connect();
  const std::string pings = Repeat("PING\r\n", 200'000);
  heavy.Send(pings);
  light.Send("PING\r\n");
  server.Turn();
  CHECK(heavy.unread_by_program() == pings.size() - net::kReadBufferBytes);
  CHECK(light.Writes().size() == 1);
  server.Settle();
  CHECK(heavy.Take() == Repeat("+PONG\r\n", 200'000));
  CHECK(heavy.MostWritesInATurn() == 1);
}

TEST_CASE("a reply that is written in parts arrives whole and in order, and delays no other client") {
  SimulatedServer server;
  Peer& slow = server.Connect();
  Peer& other = server.Connect();
  slow.link().send_capacity = 10'000;
  slow.ReadPerMs(3'000);
  const std::string value = Pattern(1'000'000);
  REQUIRE(server.Run({"SET", "big", value}) == testing::Ok());
  slow.Send(EncodeRequest({"GET", "big"}) + "PING\r\n");
  server.AdvanceTime(100);
  CHECK(slow.received().size() < value.size());
  // Replies to later requests come after it.
  slow.Request({"ECHO", "later"});
  CHECK(server.Ask(other, {"PING"}) == testing::Simple("PONG"));
  server.AdvanceTime(1'000);
  CHECK((slow.Take() == BulkText(value) + "+PONG\r\n" + BulkText("later")));
  for (const size_t size : slow.Writes()) CHECK(size <= 10'000);
}

TEST_CASE("the bytes of replies that had to wait are counted, for the server and for the client") {
  SimulatedServer server;
  Peer& slow = server.Connect();
  slow.link().send_capacity = 10'000;
  slow.ReadPerMs(3'000);
  REQUIRE(server.Run({"SET", "big", std::string(100'000, 'v')}) == testing::Ok());
  const uint64_t before = server.stats().net_output_bytes;
  slow.Request({"GET", "big"});
  server.AdvanceTime(100);
  REQUIRE(slow.received().size() == 100'011);
  CHECK(server.stats().net_output_bytes == before + 100'011);
  CHECK(server.ClientField(slow, "tot-net-out") == "100011");
}

TEST_CASE("a value that is overwritten while it is sent arrives unchanged") {
  SimulatedServer server;
  Peer& slow = server.Connect();
  slow.link().send_capacity = 10'000;
  slow.ReadPerMs(1'000);
  const std::string value = Pattern(300'000);
  REQUIRE(server.Run({"SET", "big", value}) == testing::Ok());
  slow.Request({"GET", "big"});
  server.AdvanceTime(10);
  REQUIRE(server.Run({"SETRANGE", "big", "200000", "overwritten"}) == testing::Integer(300'000));
  REQUIRE(server.Run({"DEL", "big"}) == testing::Integer(1));
  server.AdvanceTime(1'000);
  CHECK((slow.Take() == BulkText(value)));
}

// A server with the smallest pool of output, and a value that replies copy instead of sharing it.
struct SmallPool : SimulatedServer {
  static constexpr size_t kValue = 10'000;
  static constexpr size_t kReply = kValue + 10;

  SmallPool() {
    Set("maxmemory", "8190mb");  // of 8 GB
    REQUIRE(Run({"SET", "k", std::string(kValue, 'v')}) == testing::Ok());
    pool = OutputPool::Of(parts.options.settings().maxmemory, parts.options.memory_bytes());
    REQUIRE(pool.most_bytes < 20'000'000);
  }
  // Sends `n` requests, a hundred in each millisecond, which is a megabyte of replies.
  void Get(Peer& peer, size_t n) {
    for (size_t left = n; left != 0; left -= std::min<size_t>(left, 100)) {
      peer.Send(Repeat(EncodeRequest({"GET", "k"}), std::min<size_t>(left, 100)));
      AdvanceTime(1);
    }
  }
  uint64_t closed() { return stats().output_limit_disconnections; }

  OutputPool pool;
};

TEST_CASE("a client that reads slowly is not read from while it holds much and the pool is crowded") {
  SmallPool server;
  Peer& slow = server.Connect();
  slow.ReadPerMs(100'000);
  constexpr size_t kGets = 1'500;
  server.Get(slow, kGets);
  CHECK(slow.unread_by_program() > 0);
  // It has read a little since it was throttled.
  CHECK(server.stats().client_bytes > server.pool.calm_bytes - 1'000'000);
  CHECK(server.stats().client_bytes < server.pool.calm_bytes + 2'000'000);

  // A client that holds little is served.
  Peer& modest = server.Connect();
  CHECK(server.Ask(modest, {"PING"}) == testing::Simple("PONG"));

  server.AdvanceTime(1'000);
  CHECK(slow.unread_by_program() == 0);
  CHECK(slow.received().size() == kGets * SmallPool::kReply);
  CHECK(server.closed() == 0);
}

TEST_CASE(
    "a client that writes its whole pipeline before it reads is served if the pool can hold the replies") {
  SmallPool server;
  Peer& writer = server.Connect();
  writer.ReadNothing();
  const size_t gets = (server.pool.most_bytes - 1'000'000) / SmallPool::kReply;
  server.Get(writer, gets);
  // For a while the server cannot know that it does not read.
  server.AdvanceTime(2 * net::kStalledMs);
  CHECK(writer.unread_by_program() == 0);
  writer.ReadAll();
  server.AdvanceTime(1);
  CHECK(writer.received().size() == gets * SmallPool::kReply);
  CHECK(server.closed() == 0);
}

TEST_CASE("a client that reads nothing is closed when its output exceeds the pool, and others are served") {
  SmallPool server;
  Peer& offender = server.Connect();
  Peer& other = server.Connect();
  offender.ReadNothing();
  server.Get(offender, server.pool.most_bytes / SmallPool::kReply + 200);
  server.AdvanceTime(2 * net::kStalledMs);
  CHECK(offender.closed());
  CHECK(server.closed() == 1);
  CHECK(server.Ask(other, {"PING"}) == testing::Simple("PONG"));
}

TEST_CASE("if all clients together exceed the pool, the one that holds the most is closed") {
  SmallPool server;
  Peer& more = server.Connect();
  Peer& less = server.Connect();
  more.ReadNothing();
  less.ReadNothing();
  const size_t tenth = server.pool.most_bytes / SmallPool::kReply / 10;
  server.Get(more, 6 * tenth);
  server.AdvanceTime(2 * net::kStalledMs);
  server.Get(less, 5 * tenth);
  server.AdvanceTime(2 * net::kStalledMs);
  CHECK(more.closed());
  CHECK_FALSE(less.closed());
  less.ReadAll();
  server.AdvanceTime(1);
  CHECK(less.received().size() == 5 * tenth * SmallPool::kReply);
}

TEST_CASE("no more clients are closed than needed for the others' output to fit into the pool") {
  SmallPool server;
  std::vector<Peer*> peers;
  for (int i = 0; i < 4; ++i) {
    peers.push_back(&server.Connect());
    peers.back()->ReadNothing();
  }
  const size_t tenth = server.pool.most_bytes / SmallPool::kReply / 10;
  for (size_t i = 0; i < peers.size(); ++i) {
    server.Get(*peers[i], 2 * tenth + (i == 1 ? 2 * tenth : 0));  // 2 + 4 + 2 + 2 tenths, and some more
    server.AdvanceTime(2 * net::kStalledMs);
  }
  server.Get(*peers[3], tenth);
  server.AdvanceTime(2 * net::kStalledMs);
  REQUIRE(server.stats().client_bytes > server.pool.calm_bytes);
  CHECK(server.closed() == 1);
  CHECK(peers[1]->closed());
}

TEST_CASE("of two clients that crowd the pool together, each gets everything when it reads") {
  SmallPool server;
  Peer& first = server.Connect();
  Peer& second = server.Connect();
  constexpr size_t kGets = 700;
  for (Peer* peer : {&first, &second}) peer->ReadPerMs(10'000);
  for (size_t i = 0; i < kGets / 100; ++i) {
    server.Get(first, 100);
    server.Get(second, 100);
  }
  CHECK(first.unread_by_program() + second.unread_by_program() > 0);
  // The first one does not wait for the second one.
  first.ReadPerMs(1'000'000);
  server.AdvanceTime(10'000);
  CHECK(first.received().size() == kGets * SmallPool::kReply);
  second.ReadAll();
  server.AdvanceTime(1);
  CHECK(second.received().size() == kGets * SmallPool::kReply);
  CHECK(server.closed() == 0);
}

}  // namespace
}  // namespace mayfly::sim
