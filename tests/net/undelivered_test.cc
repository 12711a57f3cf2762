// What the log says of replies that nobody has read when the server ends.
#include <csignal>
#include <string>

#include "net/socket/limits.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim::undelivered {
namespace {

constexpr size_t kValue = 100'000;
constexpr size_t kReply = kValue + 11;  // "$100000\r\n" and "\r\n"

struct Undelivered : SimulatedServer {
  Undelivered() : SimulatedServer({.options = {"--metrics-port", "9121"}, .logs = true}) {
    REQUIRE(Run({"SET", "k", std::string(kValue, 'v')}) == testing::Ok());
  }
  Peer& Ask(size_t replies, bool reads) {
    Peer& peer = Connect();
    if (!reads) peer.ReadNothing();
    peer.link().send_capacity = 10'000;
    for (size_t i = 0; i < replies; ++i) peer.Request({"GET", "k"});
    Settle();
    return peer;
  }
  // The server ends, and clients that have read its end leave.
  void End() {
    Raise(SIGTERM);
    for (uint64_t ms = 0; ms < net::kStopMs + net::kLastReadsMs && !ended(); ++ms) AdvanceTime(1);
    AdvanceTime(net::kStopObserversMs);
    CHECK(ended());
  }
};

TEST_CASE("the log counts the clients whose replies are lost at the end, and the bytes, of clients only") {
  Undelivered server;
  server.Ask(1, /*reads=*/false);
  server.Ask(3, /*reads=*/false);
  server.Ask(2, /*reads=*/true);
  Peer* const scraper = server.TryConnect("127.0.0.1", "127.0.0.1:9121");
  REQUIRE(scraper != nullptr);
  scraper->link().send_capacity = 1'000;
  scraper->ReadNothing();
  scraper->Send("GET /metrics HTTP/1.1\r\n\r\n");
  server.Settle();
  server.End();
  CHECK(server.Log().find("# 2 clients did not read their replies in time: " + std::to_string(4 * kReply) +
                          " bytes are lost\n") != std::string::npos);
}

TEST_CASE("if every client has read its replies at the end, the log says nothing of lost ones") {
  Undelivered server;
  server.Ask(2, /*reads=*/true);
  Peer& slow = server.Ask(1, /*reads=*/false);
  server.Raise(SIGTERM);
  slow.ReadPerMs(1'000);
  server.AdvanceTime(net::kStopMs + net::kStopObserversMs);
  CHECK(server.ended());
  CHECK(slow.received().size() == kReply);
  CHECK(server.Log().find("did not read") == std::string::npos);
}

}  // namespace
}  // namespace mayfly::sim::undelivered
