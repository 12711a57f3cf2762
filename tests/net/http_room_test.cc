// Who gives way on a full port for metrics, who does not, and requests that come with the server's end.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include "net/socket/limits.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim::http_room {
namespace {

const char* const kAddress = "127.0.0.1:9121";
const std::string kAlive = "GET /livez HTTP/1.1\r\nHost: mayfly\r\n\r\n";
const std::string kReady = "GET /readyz HTTP/1.1\r\nHost: mayfly\r\n\r\n";

// Empty if there is no answer.
std::string BodyOf(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? std::string() : answer.substr(end + 4);
}

struct MetricsServer : SimulatedServer {
  MetricsServer() : SimulatedServer({.options = {"--metrics-port", "9121"}, .logs = true}) {}

  Peer& ConnectHttp() {
    Peer* const peer = TryConnect("127.0.0.1", kAddress);
    REQUIRE(peer != nullptr);
    Settle();
    return *peer;
  }
  std::string Get(Peer& peer, const std::string& request) {
    peer.Send(request);
    Settle();
    return BodyOf(peer.Take());
  }
};

TEST_CASE("on a full port connections give way in the order of their last answers, and the log says so") {
  MetricsServer server;
  std::vector<Peer*> peers;
  for (size_t i = 0; i < net::kHttpClientsMax; ++i) peers.push_back(&server.ConnectHttp());
  for (const size_t asks : {3, 0, 7, 5, 1, 6, 2, 4}) {
    server.AdvanceTime(10);
    CHECK(server.Get(*peers[asks], kAlive) == "alive\n");
  }
  for (const size_t goes : {3, 0, 7, 5}) {
    CHECK(peers[goes]->connected());
    Peer& next = server.ConnectHttp();
    CHECK(peers[goes]->closed());
    CHECK(server.Get(next, "GET /livez").empty());  // asks, so it keeps its place
  }
  for (const size_t stays : {1, 6, 2, 4}) CHECK(peers[stays]->connected());
  CHECK(server.Log().find(": another one needs its place\n") != std::string::npos);
  CHECK(server.Info("rejected_connections") == 0);
}

TEST_CASE("a scraper that could give way on its port makes no room for a client above maxclients") {
  MetricsServer server;
  Peer& scraper = server.ConnectHttp();
  CHECK(server.Get(scraper, kAlive) == "alive\n");
  Peer& client = server.Connect();
  CHECK(server.Ask(client, {"CONFIG", "SET", "maxclients", "1"}) == testing::Ok());
  for (uint64_t refused = 1; refused <= 3; ++refused) {
    CHECK(server.Connect().Take() == "-ERR max number of clients reached\r\n");
    CHECK(server.stats().connections_rejected == refused);
    CHECK(scraper.connected());
  }
  CHECK(server.Get(scraper, kAlive) == "alive\n");
}

TEST_CASE("a request to the metrics port that comes together with SIGTERM is answered in full") {
  for (const std::string path : {"/livez", "/readyz", "/metrics", "/status.json", "/", "/none"}) {
    CAPTURE(path);
    MetricsServer server;
    Peer& http = server.ConnectHttp();
    http.Send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    server.Raise(SIGTERM);
    const std::string answer = http.Take();
    const size_t length_at = answer.find("\r\nContent-Length: ");
    REQUIRE(length_at != std::string::npos);
    CHECK(BodyOf(answer).size() == std::stoul(answer.substr(length_at + 18)));
    CHECK(answer.find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(http.ended());
    http.Leave();
    server.Settle();
    CHECK(server.ended());
  }
}

// What is accepted then would have to be refused; /readyz is to be answered all the same.
TEST_CASE("after a lack of descriptors during the last requests only the port for metrics is open") {
  bool saves = false;
  SimulatedServer server({.options = {"--metrics-port", "9121"},
                          .last_work = {.is_due = [] { return true; }, .run = [&saves] { return saves; }}});
  Peer& busy = server.Connect();
  const std::string request = testing::EncodeRequest({"SET", "k", std::string(5'000, 'v')});
  for (int i = 0; i < 20'000; ++i) busy.Send(request);
  server.world.set_look_cost_us(1'000);
  server.world.Raise(SIGTERM);
  server.Turn(3);
  REQUIRE_FALSE(server.ended());
  Peer* const late = server.TryConnect();
  Peer* const first = server.TryConnect("127.0.0.1", kAddress);
  REQUIRE(late != nullptr);
  REQUIRE(first != nullptr);
  server.world.FailAccepts({EMFILE});
  const size_t open_before = server.world.open_files();
  for (int turn = 0; turn < 1'000 && server.world.open_files() == open_before; ++turn) server.Turn();
  first->Send(kReady);
  for (int turn = 0; turn < 20 && first->received().empty(); ++turn) server.Turn();
  CHECK(BodyOf(first->Take()) == "stopping\n");
  late->Send("PING\r\n");
  server.Turn(5);
  CHECK(late->received().empty());
  server.world.set_look_cost_us(0);
  server.Settle();
  CHECK(late->Take() == "+PONG\r\n");  // the save has failed
  saves = true;
  server.Raise(SIGTERM);
}

TEST_CASE("while the last requests run before a save, clients wait and the port for metrics answers") {
  bool saves = false;
  SimulatedServer server({.options = {"--metrics-port", "9121"},
                          .last_work = {.is_due = [] { return true; }, .run = [&saves] { return saves; }}});
  Peer& busy = server.Connect();
  const std::string request = testing::EncodeRequest({"SET", "k", std::string(5'000, 'v')});
  for (int i = 0; i < 5'000; ++i) busy.Send(request);
  server.world.set_look_cost_us(1'000);
  server.world.Raise(SIGTERM);
  server.Turn(3);
  REQUIRE(busy.unread_by_program() != 0);
  const size_t open_before = server.world.open_files();
  Peer* const late = server.TryConnect();
  REQUIRE(late != nullptr);
  late->Send("PING\r\n");
  server.Turn(3);
  CHECK(server.world.open_files() == open_before);
  Peer* const http = server.TryConnect("127.0.0.1", kAddress);
  REQUIRE(http != nullptr);
  http->Send(kReady);
  for (int turn = 0; turn < 20 && http->received().empty(); ++turn) server.Turn();
  CHECK(BodyOf(http->Take()) == "stopping\n");
  REQUIRE(busy.unread_by_program() != 0);
  server.world.set_look_cost_us(0);
  server.Settle();
  CHECK(late->Take() == "+PONG\r\n");  // the save has failed
  // A lack of descriptors is over for all ports.
  server.world.FailAccepts({EMFILE});
  Peer* const next = server.TryConnect();
  REQUIRE(next != nullptr);
  next->Send("PING\r\n");
  server.AdvanceTime(net::kPauseMs);
  CHECK(next->Take() == "+PONG\r\n");
  saves = true;
  server.Raise(SIGTERM);
}

TEST_CASE("a page counts as memory of clients while it is built, and no longer when it was read") {
  MetricsServer server;
  Peer& http = server.ConnectHttp();
  CHECK(server.Get(http, kAlive) == "alive\n");
  const uint64_t before = server.stats().client_bytes;
  server.Set("expire-slice-us", "50");
  server.world.set_look_cost_us(100);
  http.Send("GET /metrics HTTP/1.1\r\n\r\n");
  uint64_t most = 0;
  for (int turn = 0; turn < 1'000 && http.received().empty(); ++turn) {
    server.Turn();
    if (http.received().empty()) most = std::max(most, server.stats().client_bytes);
  }
  const size_t size = http.received().size();
  CHECK(size > 10'000);
  CHECK(most > before + size / 2);
  server.Settle();
  CHECK(server.stats().client_bytes <= before + 1'000);
}

}  // namespace
}  // namespace mayfly::sim::http_room
