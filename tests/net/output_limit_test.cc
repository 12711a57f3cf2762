// client-output-buffer-limit: the hard limit, and the soft one with its seconds.
#include <string>

#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

constexpr size_t kMegabyte = 1 << 20;
constexpr size_t kValue = 100'000;
constexpr size_t kReply = kValue + 11;  // "$100000\r\n" and "\r\n"

struct OutputLimitedServer : SimulatedServer {
  explicit OutputLimitedServer(const std::string& limit) : peer(Connect()) {
    Set("client-output-buffer-limit", limit);
    REQUIRE(Run({"SET", "k", std::string(kValue, 'v')}) == testing::Ok());
    peer.ReadNothing();
    peer.link().send_capacity = 64 * 1024;
  }
  void Get(size_t times = 1) {
    for (size_t i = 0; i < times; ++i) peer.Request({"GET", "k"});
    Settle();
  }
  uint64_t closed() { return stats().output_limit_disconnections; }

  Peer& peer;
};

// How many replies exceed that many bytes, besides those that the kernel has taken.
size_t RepliesAbove(size_t bytes) { return (bytes + 64 * 1024) / kReply + 1; }

TEST_CASE("a client is closed by the reply with which its unread output reaches the hard limit") {
  OutputLimitedServer server("normal 1mb 0 0");
  for (size_t i = 1; i < RepliesAbove(kMegabyte); ++i) server.Get();
  CHECK_FALSE(server.peer.closed());
  CHECK(server.closed() == 0);
  server.Get();
  CHECK(server.peer.closed());
  CHECK(server.closed() == 1);
}

TEST_CASE("a client is closed at once if its reply would be longer than the limit, and others are served") {
  for (const bool heard : {true, false}) {
    OutputLimitedServer server("normal 1mb 0 0");
    REQUIRE(server.Run({"SADD", "s", "m"}) == testing::Integer(1));
    if (!heard) server.peer.Request({"CLIENT", "REPLY", "OFF"});
    server.peer.Request({"SRANDMEMBER", "s", "-9223372036854775807"});
    server.Settle();
    CHECK(server.peer.closed());
    CHECK(server.closed() == 1);
    CHECK(server.Run({"PING"}) == testing::Simple("PONG"));
  }
}

TEST_CASE("a monitor that does not read is closed by the line with which its output reaches the limit") {
  OutputLimitedServer server("normal 1mb 0 0");
  server.peer.Request({"MONITOR"});
  server.Settle();
  size_t lines = 0;
  for (; lines < 100 && !server.peer.closed(); ++lines)
    REQUIRE(server.Run({"ECHO", std::string(kValue, 'v')}).text.size() == kValue);
  CHECK(lines == RepliesAbove(kMegabyte));
  CHECK(server.closed() == 1);
  CHECK(server.Run({"PING"}) == testing::Simple("PONG"));
}

TEST_CASE("a limit that is lowered closes a client that holds more already") {
  for (const char* lower : {"normal 200kb 0 0", "normal 0 200kb 5"}) {
    OutputLimitedServer server("normal 1mb 0 0");
    server.Get(5);
    server.AdvanceTime(1);
    CHECK_FALSE(server.peer.closed());
    REQUIRE(server.Run({"CONFIG", "SET", "client-output-buffer-limit", lower}) == testing::Ok());
    CHECK(server.peer.closed() == (std::string(lower) == "normal 200kb 0 0"));
    server.AdvanceTime(5'000);
    CHECK(server.peer.closed());
  }
}

TEST_CASE("a client that stays above the soft limit is closed after that many seconds, not before") {
  OutputLimitedServer server("normal 0 1mb 5");
  server.Get(RepliesAbove(kMegabyte));
  server.AdvanceTime(4'999);
  CHECK_FALSE(server.peer.closed());
  server.AdvanceTime(1);
  CHECK(server.peer.closed());
  CHECK(server.closed() == 1);
}

TEST_CASE("more replies above the soft limit do not restart its time") {
  OutputLimitedServer server("normal 0 1mb 5");
  server.Get(RepliesAbove(kMegabyte));
  server.AdvanceTime(3'000);
  server.Get();
  server.AdvanceTime(1'999);
  CHECK_FALSE(server.peer.closed());
  server.AdvanceTime(1);
  CHECK(server.peer.closed());
}

TEST_CASE("falling below the soft limit restarts its time") {
  OutputLimitedServer server("normal 0 1mb 5");
  server.Get(RepliesAbove(kMegabyte));
  server.AdvanceTime(4'000);
  server.peer.ReadAll();
  server.AdvanceTime(1);
  CHECK(server.peer.received().size() == RepliesAbove(kMegabyte) * kReply);
  server.peer.ReadNothing();
  server.Get(RepliesAbove(kMegabyte));
  server.AdvanceTime(4'999);
  CHECK_FALSE(server.peer.closed());
  server.AdvanceTime(1);
  CHECK(server.peer.closed());
}

TEST_CASE("a client that stays below the soft limit is never closed") {
  OutputLimitedServer server("normal 0 1mb 5");
  server.Get(RepliesAbove(kMegabyte) - 1);
  server.AdvanceTime(3'600'000);
  CHECK_FALSE(server.peer.closed());
}

TEST_CASE("a soft limit without seconds closes a client that is above it, and no other") {
  OutputLimitedServer server("normal 0 1mb 0");
  server.Get(RepliesAbove(kMegabyte) - 1);
  server.AdvanceTime(10'000);
  CHECK_FALSE(server.peer.closed());
  server.Get();
  server.AdvanceTime(1'000);
  CHECK(server.peer.closed());
  CHECK(server.closed() == 1);
}

}  // namespace
}  // namespace mayfly::sim
