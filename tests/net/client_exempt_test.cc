// What the log says of clients that maxmemory-clients must not close (CLIENT NO-EVICT), and when it says nothing.
#include <string>

#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim::client_exempt {
namespace {

constexpr size_t kKilobyte = 1024;

struct LimitedServer : SimulatedServer {
  LimitedServer() : SimulatedServer({.logs = true}) { Set("maxmemory-clients", "600kb"); }
  Peer& ConnectExempt() {
    Peer& peer = Connect();
    REQUIRE(Ask(peer, {"CLIENT", "NO-EVICT", "ON"}) == testing::Ok());
    return peer;
  }
  // A value of that size, for which there is room already.
  void Announce(Peer& peer, size_t bytes) {
    peer.Send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$" + std::to_string(bytes) + "\r\nx");
    Settle();
  }
  std::string AddressOf(Peer& peer) {
    const std::string info = Ask(peer, {"CLIENT", "INFO"}).text;
    const size_t at = info.find(" addr=") + 6;
    return info.substr(at, info.find(' ', at) - at);
  }
  bool Says(const std::string& text) const { return Log().find(text) != std::string::npos; }
};

TEST_CASE("of several clients that maxmemory-clients must not close, the log names the one that holds most") {
  for (const bool first_is_fat : {true, false}) {
    LimitedServer server;
    Peer& first = server.ConnectExempt();
    Peer& second = server.ConnectExempt();
    const std::string first_name = server.AddressOf(first);
    const std::string second_name = server.AddressOf(second);
    server.Announce(first_is_fat ? second : first, 200 * kKilobyte);
    CHECK_FALSE(server.Says("maxmemory-clients"));
    server.Announce(first_is_fat ? first : second, 500 * kKilobyte);
    CHECK(server.Says("client " + (first_is_fat ? first_name : second_name) + " holds "));
    CHECK_FALSE(server.Says("client " + (first_is_fat ? second_name : first_name) + " holds "));
    CHECK(first.connected());
    CHECK(second.connected());
  }
}

TEST_CASE("if others make room, the log does not complain of a client that must not be closed") {
  LimitedServer server;
  Peer& exempt = server.ConnectExempt();
  server.Announce(exempt, 100 * kKilobyte);
  Peer& fat = server.Connect();
  server.Announce(fat, 700 * kKilobyte);
  CHECK(fat.closed());
  CHECK(exempt.connected());
  CHECK(server.Says("which is more than maxmemory-clients"));
  CHECK_FALSE(server.Says("CLIENT NO-EVICT"));
}

}  // namespace
}  // namespace mayfly::sim::client_exempt
