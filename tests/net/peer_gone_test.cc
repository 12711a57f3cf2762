// Clients that go away while they are not read from, and clients that go away just before they would be served.
#include <string>
#include <vector>

#include "net/socket/limits.h"
#include "sim/server.h"
#include "support/catch.h"
#include "support/long_text.h"

namespace mayfly::sim {
namespace {

using testing::Array;
using testing::Bulk;
using testing::EncodeRequest;
using testing::Integer;
using testing::Ok;
using testing::Simple;
using Words = std::vector<std::string>;

constexpr size_t kEchoBytes = 200'000;
// These are more than is kept of a client that is blocked: the rest, and the end after it, stay in the kernel.
constexpr int kTooMany = 8;
static_assert(kTooMany * kEchoBytes > net::kBlockedInputBytes + net::kBlockReadBytes);
std::string Echo() { return EncodeRequest({"ECHO", std::string(kEchoBytes, 'x')}); }

const std::vector<Words> kWaits = {
    {"BLPOP", "jobs", "0"},
    {"BRPOPLPUSH", "jobs", "done", "0"},
    {"BLMOVE", "jobs", "done", "LEFT", "RIGHT", "0"},
    {"BLMPOP", "0", "1", "jobs", "LEFT"},
    {"BZPOPMIN", "scores", "0"},
    {"BZMPOP", "0", "1", "scores", "MIN"},
    {"XREAD", "BLOCK", "0", "STREAMS", "stream", "$"},
    {"EXPLOG", "READ", "$", "BLOCK", "0"},
    {"TAKE", "leased", "LEASE", "100000", "WAIT", "100000"},
};

TEST_CASE("a client that waits and has sent much more is closed as soon as it goes away") {
  const bool sealed = GENERATE(false, true);
  const int echoes = GENERATE(1, kTooMany);
  SimulatedServer server({.sealed = sealed});
  server.Set("expire-log-size", "1mb");
  server.Run({"TAKE", "leased", "LEASE", "100000"});
  for (const Words& wait : kWaits) {
    for (const bool half_closed : {false, true}) {
      INFO(wait.front() << ' ' << sealed << ' ' << echoes << ' ' << half_closed);
      Peer& peer = server.Connect();
      peer.link().receive_capacity = kTooMany * kEchoBytes;
      peer.Request(wait);
      server.Settle();
      for (int i = 0; i < echoes; ++i) peer.Send(Echo());
      server.Settle();
      REQUIRE(server.Info("blocked_clients") == 1);
      if (!sealed) REQUIRE((peer.unread_by_program() != 0) == (echoes == kTooMany));
      half_closed ? peer.link().EndInput() : peer.Leave();
      server.Settle();
      CHECK(peer.closed());
      CHECK(server.Info("blocked_clients") == 0);
      CHECK(server.Info("connected_clients") == 1);
    }
  }
}

TEST_CASE("a client that a pause holds back is closed as soon as it goes away, and its requests do not run") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  REQUIRE(server.Run({"CLIENT", "PAUSE", "100"}) == Ok());
  peer.Send(EncodeRequest({"SET", "k", "v"}) + Echo());
  server.Settle();
  peer.Leave();
  server.Settle();
  CHECK(peer.closed());
  server.AdvanceTime(101);
  CHECK(server.keys() == 0);
}

TEST_CASE("elements go to nobody who has gone, also if push and end come in one poll") {
  const int seed = GENERATE(range(1, 17));
  SimulatedServer server({.choices = Choices(static_cast<uint64_t>(seed))});
  Peer& pusher = server.Connect();
  REQUIRE(server.Ask(pusher, {"PING"}) == Simple("PONG"));
  std::vector<Peer*> dead;
  for (int i = 0; i < 6; ++i) {
    dead.push_back(&server.Connect());
    dead.back()->link().receive_capacity = kTooMany * kEchoBytes;
    dead.back()->Request({"BLPOP", "jobs", "0"});
    for (int echoes = 0; echoes < 2 * i; ++echoes) dead.back()->Send(Echo());
  }
  server.Settle();
  Peer& living = server.Connect();
  living.Request({"BLPOP", "jobs", "0"});
  server.Settle();
  for (Peer* peer : dead) peer->Leave();
  pusher.Request({"RPUSH", "jobs", "job1", "job2", "job3"});
  server.Settle();
  CHECK(pusher.TakeReplies() == std::vector<testing::Reply>{Integer(3)});
  CHECK(living.TakeReplies() == std::vector<testing::Reply>{Array({Bulk("jobs"), Bulk("job1")})});
  CHECK(server.Run({"LRANGE", "jobs", "0", "-1"}) == Array({Bulk("job2"), Bulk("job3")}));
  CHECK(server.Info("blocked_clients") == 0);
  CHECK(server.Info("connected_clients") == 3);
}

TEST_CASE(
    "a client that is served while much of its input is unread gets all replies, and is read to its end") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  peer.Request({"BLPOP", "jobs", "0"});
  for (int i = 0; i < kTooMany; ++i) peer.Send(Echo());
  server.Settle();
  REQUIRE(peer.unread_by_program() != 0);
  REQUIRE(server.Run({"RPUSH", "jobs", "job"}) == Integer(1));
  server.Settle();
  const std::vector<testing::Reply> replies = peer.TakeReplies();
  REQUIRE(replies.size() == kTooMany + 1);
  CHECK(replies[0] == Array({Bulk("jobs"), Bulk("job")}));
  peer.Send(EncodeRequest({"ECHO", "last"}));
  peer.EndInput();
  server.Settle();
  CHECK(peer.Take() == "$4\r\nlast\r\n");
  CHECK(peer.closed());
}

}  // namespace
}  // namespace mayfly::sim
