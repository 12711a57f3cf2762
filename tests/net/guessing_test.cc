// Somebody who guesses passwords, and those who are served meanwhile.
#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "net/socket/limits.h"
#include "server/clients/failed_logins.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

constexpr uint64_t kMinuteMs = 60'000;
// Three at once, four more within 1.5 seconds, then one a second.
constexpr size_t kTriesAMinute = 65;

size_t Lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_CASE("who guesses passwords on one connection gets about one try a second, and nobody else waits") {
  SimulatedServer server({.logs = true});
  REQUIRE(server.Run({"SET", "k", "v"}) == testing::Ok());
  server.Set("requirepass", "secret");
  Peer& guest = server.Connect();
  REQUIRE(server.Ask(guest, {"AUTH", "secret"}) == testing::Ok());
  Peer& guesser = server.Connect();
  std::string guesses;
  for (int i = 0; i < 10'000; ++i) guesses += "AUTH " + std::to_string(i) + "\r\n";
  guesser.Send(guesses);
  for (uint64_t ms = 0; ms < kMinuteMs; ms += 100) {
    CHECK(server.Ask(guest, {"GET", "k"}) == testing::Bulk("v"));
    server.AdvanceTime(100);
  }
  CHECK(Lines(guesser.received()) == kTriesAMinute);
  CHECK(server.stats().failed_logins == kTriesAMinute);
  CHECK(guesser.unread_by_program() + net::kParkedInputBytes + 2 * net::kReadBufferBytes >= guesses.size());
  const std::string log = server.Log();
  CHECK(log.find("failed to log in as \"default\"") != std::string::npos);
  CHECK(Lines(log) <= kMinuteMs / FailedLogins::kLogMs + 4);
}

TEST_CASE("a guesser who waits for each answer gets no more tries") {
  SimulatedServer server;
  server.Set("requirepass", "secret");
  Peer& guesser = server.Connect();
  size_t answers = 0;
  guesser.Request({"HELLO", "3", "AUTH", "default", "0"});
  for (uint64_t ms = 0; ms < kMinuteMs; ms += 10) {
    while (!guesser.received().empty()) {
      answers += guesser.TakeReplies().size();
      guesser.Request({"HELLO", "3", "AUTH", "default", std::to_string(answers)});
      server.Settle();
    }
    server.AdvanceTime(10);
  }
  CHECK(answers >= kTriesAMinute / 2);
  CHECK(answers <= kTriesAMinute);
}

TEST_CASE("the loop wakes for a delayed login, and sleeps otherwise") {
  SimulatedServer server;
  server.Set("requirepass", "secret");
  Peer& guesser = server.Connect();
  guesser.Send("AUTH 1\r\nAUTH 2\r\nAUTH 3\r\nAUTH secret\r\nPING\r\n");
  server.Settle();
  CHECK(Lines(guesser.Take()) == 3);
  const uint64_t turns = server.world.turns();
  server.AdvanceTime(FailedLogins::kFirstWaitMs - 1);
  CHECK(guesser.received().empty());
  server.AdvanceTime(1);
  CHECK(guesser.Take() == "+OK\r\n+PONG\r\n");
  CHECK(server.world.turns() - turns <= 4);
}

TEST_CASE("a guesser that leaves or is killed while it waits is forgotten") {
  SimulatedServer server;
  Peer& chief = server.Connect();
  server.Set("requirepass", "secret");
  REQUIRE(server.Ask(chief, {"AUTH", "secret"}) == testing::Ok());
  for (const bool killed : {false, true}) {
    Peer& guesser = server.Connect("192.0.2.7");
    guesser.Send("AUTH 1\r\nAUTH 2\r\nAUTH 3\r\nAUTH 4\r\nAUTH 5\r\n");
    server.Settle();
    CHECK(server.parts.parking.size() == 1);
    if (killed) {
      const testing::Reply reply = server.Ask(chief, {"CLIENT", "KILL", "SKIPME", "yes"});
      CHECK(reply == testing::Integer(1));
    } else {
      guesser.Reset();
    }
    server.AdvanceTime(10 * FailedLogins::kLongestWaitMs);
    CHECK(server.parts.parking.size() == 0);
    CHECK(Lines(guesser.received()) <= 3);
    CHECK(server.parts.sessions.size() == 1);
  }
}

TEST_CASE("the last sum of failed logins is logged though nobody fails any more, and once") {
  SimulatedServer server({.logs = true});
  server.Set("requirepass", "secret");
  for (int i = 0; i < 5; ++i)
    CHECK(server.Ask(server.Connect(), {"AUTH", "x"}).text.starts_with("WRONGPASS"));
  server.AdvanceTime(FailedLogins::kLogMs - 1);
  CHECK(server.Log().find("more failed") == std::string::npos);
  server.AdvanceTime(1);
  CHECK(server.Log().find("# 4 more failed logins\n") != std::string::npos);
  const std::string log = server.Log();
  server.AdvanceTime(10 * FailedLogins::kLogMs);
  CHECK(server.Log() == log);
}

TEST_CASE("a server that stops logs the failed logins that it has not reported yet") {
  SimulatedServer server({.logs = true});
  server.Set("requirepass", "secret");
  Peer& peer = server.Connect();
  for (int i = 0; i < 3; ++i) CHECK(server.Ask(peer, {"AUTH", "x"}).text.starts_with("WRONGPASS"));
  peer.Leave();
  server.Raise(SIGTERM);
  REQUIRE(server.ended());
  CHECK(server.Log().find("# 2 more failed logins\n") != std::string::npos);
}

TEST_CASE("a server stops at once though a login waits") {
  SimulatedServer server;
  server.Set("requirepass", "secret");
  Peer& guesser = server.Connect();
  guesser.Send("AUTH 1\r\nAUTH 2\r\nAUTH 3\r\nAUTH 4\r\n");
  server.Settle();
  server.Raise(SIGTERM);
  CHECK(guesser.ended());
}

}  // namespace
}  // namespace mayfly::sim
