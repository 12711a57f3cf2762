// client-output-buffer-limit has a limit for each class of clients; which class a client is in, and since when.
#include <string>
#include <vector>

#include "net/socket/limits.h"
#include "server/clients/output_pool.h"
#include "sim/server.h"
#include "support/catch.h"
#include "support/long_text.h"

namespace mayfly::sim::output_class {
namespace {

using testing::EncodeRequest;
using testing::Ok;
using testing::Repeat;

constexpr size_t kValue = 100'000;

struct ClassServer : SimulatedServer {
  explicit ClassServer(const std::string& limits) : peer(Connect()) {
    Set("client-output-buffer-limit", limits);
    REQUIRE(Run({"SET", "k", std::string(kValue, 'v')}) == Ok());
  }
  void Say(const std::vector<std::string>& words) {
    peer.Request(words);
    Settle();
    peer.Take();
    REQUIRE(peer.connected());
  }
  void StopReading() {
    peer.ReadNothing();
    peer.link().send_capacity = 64 * 1024;
  }
  void Publish(int times) {
    for (int i = 0; i < times; ++i) Run({"PUBLISH", "news", std::string(kValue, 'v')});
  }
  void Get(int times) {
    for (int i = 0; i < times; ++i) peer.Request({"GET", "k"});
    Settle();
  }
  uint64_t closed() { return stats().output_limit_disconnections; }

  Peer& peer;
};

TEST_CASE("a subscriber is closed by the limit for pubsub, and not by the one for other clients") {
  for (const std::vector<std::string>& subscribes :
       {std::vector<std::string>{"SUBSCRIBE", "news"}, {"PSUBSCRIBE", "n*"}}) {
    for (const bool by_pubsub : {true, false}) {
      CAPTURE(subscribes[0], by_pubsub);
      ClassServer server(by_pubsub ? "normal 0 0 0 pubsub 1mb 0 0" : "normal 1mb 0 0 pubsub 0 0 0");
      server.Say(subscribes);
      server.StopReading();
      server.Publish(10);
      CHECK_FALSE(server.peer.closed());
      server.Publish(2);
      CHECK(server.peer.closed() == by_pubsub);
      CHECK(server.closed() == (by_pubsub ? 1 : 0));
    }
  }
}

TEST_CASE("a client that subscribes to nothing any more has the limit of other clients, with RESP3 too") {
  ClassServer server("normal 1mb 0 0 pubsub 0 0 0");
  server.Say({"HELLO", "3"});
  server.Say({"SUBSCRIBE", "news"});
  server.StopReading();
  server.Get(12);
  CHECK_FALSE(server.peer.closed());
  server.peer.ReadAll();
  server.AdvanceTime(10);
  server.Say({"UNSUBSCRIBE"});
  server.StopReading();
  server.Get(12);
  CHECK(server.peer.closed());
  CHECK(server.closed() == 1);
}

TEST_CASE("a client of another class keeps its own soft limit, with its seconds") {
  ClassServer server("normal 0 200kb 2 pubsub 0 300kb 5");
  Peer& other = server.Connect();
  other.ReadNothing();
  other.link().send_capacity = 64 * 1024;
  server.Say({"SUBSCRIBE", "news"});
  server.StopReading();
  server.Publish(3);  // 64 KB of it are with the kernel
  for (int i = 0; i < 5; ++i) other.Request({"GET", "k"});
  server.AdvanceTime(1'999);
  CHECK_FALSE(other.closed());
  server.AdvanceTime(1);
  CHECK(other.closed());
  server.AdvanceTime(10'000);
  CHECK_FALSE(server.peer.closed());
  server.Publish(2);
  server.AdvanceTime(4'999);
  CHECK_FALSE(server.peer.closed());
  server.AdvanceTime(1);
  CHECK(server.peer.closed());
  CHECK(server.closed() == 2);
}

// Otherwise it would wait for its own reading alone, which may take long.
TEST_CASE("when others have read what crowded the pool, a slow reader is read from again at once") {
  SimulatedServer server;
  server.Set("maxmemory", "8190mb");  // of 8 GB: the smallest pool
  constexpr size_t kSmall = 10'000;   // replies copy it
  REQUIRE(server.Run({"SET", "small", std::string(kSmall, 'v')}) == Ok());
  const OutputPool pool =
      OutputPool::Of(server.parts.options.settings().maxmemory, server.parts.options.memory_bytes());
  Peer& crowds = server.Connect();
  Peer& slow = server.Connect();
  const auto get = [&](Peer& peer, size_t bytes) {
    for (size_t sent = 0; sent < bytes; sent += 100 * kSmall) {
      peer.Send(Repeat(EncodeRequest({"GET", "small"}), 100));
      server.AdvanceTime(1);
    }
  };
  for (Peer* peer : {&crowds, &slow}) {
    peer->link().send_capacity = 64 * 1024;
    peer->ReadPerMs(1'000);
  }
  get(crowds, pool.calm_bytes);
  get(slow, 2 * net::kOutputOwnBytes);
  const std::string pings = Repeat("PING\r\n", 1'000);
  slow.Send(pings);
  server.AdvanceTime(50);
  REQUIRE(slow.unread_by_program() != 0);
  crowds.ReadAll();
  server.AdvanceTime(10);
  CHECK(slow.unread_by_program() == 0);
  CHECK(server.stats().client_bytes > net::kOutputOwnBytes);
  CHECK(slow.connected());
}

}  // namespace
}  // namespace mayfly::sim::output_class
