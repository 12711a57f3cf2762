// The metrics port: requests in pieces, several on one connection, slow clients, a full port, and the server's end.
#include <csignal>
#include <string>
#include <vector>

#include "net/socket/limits.h"
#include "server/clients/session.h"
#include "server/figures/stats.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

const char* const kAddress = "127.0.0.1:9121";
const std::string kAlive = "GET /livez HTTP/1.1\r\nHost: mayfly\r\n\r\n";
const std::string kReady = "GET /readyz HTTP/1.1\r\nHost: mayfly\r\n\r\n";
const std::string kScrape = "GET /metrics HTTP/1.1\r\nHost: localhost:9121\r\n\r\n";

struct MetricsServer : SimulatedServer {
  explicit MetricsServer(std::vector<std::string> more = {})
      : SimulatedServer({.options = Options(more), .logs = true}) {}

  Peer& ConnectHttp() {
    Peer* const peer = TryConnect("127.0.0.1", kAddress);
    REQUIRE(peer != nullptr);
    Settle();
    return *peer;
  }
  std::string Get(Peer& peer, const std::string& request) {
    peer.Send(request);
    Settle();
    return peer.Take();
  }

 private:
  static std::vector<std::string> Options(std::vector<std::string> more) {
    std::vector<std::string> options = {"--metrics-port", "9121"};
    options.insert(options.end(), more.begin(), more.end());
    return options;
  }
};

std::string BodyOf(const std::string& answer) { return answer.substr(answer.find("\r\n\r\n") + 4); }

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_CASE("the port answers several requests on one connection, and HEAD without a body") {
  MetricsServer server;
  Peer& peer = server.ConnectHttp();
  const std::string answer = server.Get(peer, kAlive);
  CHECK(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(answer.find("\r\nContent-Length: 6\r\n") != std::string::npos);
  CHECK(BodyOf(answer) == "alive\n");
  CHECK(BodyOf(server.Get(peer, kReady)) == "ready\n");
  const std::string head = server.Get(peer, "HEAD /metrics HTTP/1.1\r\n\r\n");
  CHECK(head.find("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n") != std::string::npos);
  CHECK(head.find("\r\nContent-Length: 0\r\n") == std::string::npos);
  CHECK(BodyOf(head).empty());
  CHECK(BodyOf(server.Get(peer, kScrape)).find("\nmayfly_clients 0\n") != std::string::npos);
  CHECK(peer.connected());
}

TEST_CASE("pipelined requests are answered in order, and the last one closes if it says so") {
  MetricsServer server;
  Peer& peer = server.ConnectHttp();
  const std::string answers = server.Get(
      peer, kAlive + kScrape + "HEAD / HTTP/1.1\r\n\r\n" + kReady + "GET /livez HTTP/1.0\r\n\r\n" + kAlive);
  CHECK(CountOf(answers, "HTTP/1.1 200 OK\r\n") == 5);
  CHECK(answers.find("alive\n") < answers.find("mayfly_clients"));
  CHECK(answers.find("mayfly_clients") < answers.find("text/html"));
  CHECK(answers.find("text/html") < answers.find("ready\n"));
  CHECK(answers.ends_with("Connection: close\r\n\r\nalive\n"));
  CHECK(peer.ended());
}

TEST_CASE("a request that comes byte by byte is answered, among those of clients of the cache") {
  MetricsServer server;
  Peer& http = server.ConnectHttp();
  Peer& resp = server.Connect();
  for (const char c : kAlive) {
    http.Send({&c, 1});
    CHECK(server.Ask(resp, {"PING"}) == testing::Simple("PONG"));
  }
  CHECK(BodyOf(http.Take()) == "alive\n");
}

TEST_CASE("what is no request is answered with its status, and the connection ends") {
  MetricsServer server;
  const auto status = [&](const std::string& request) {
    Peer& peer = server.ConnectHttp();
    const std::string answer = server.Get(peer, request);
    CHECK(answer.find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(peer.ended());
    peer.Leave();
    server.Settle();
    return answer.substr(9, 3);
  };
  CHECK(status("PING\r\n") == "400");
  CHECK(status("*1\r\n$4\r\nPING\r\n") == "400");
  CHECK(status("POST /metrics HTTP/1.1\r\nContent-Length: 2\r\n\r\nab") == "405");
  CHECK(status("GET / HTTP/1.1\r\nContent-Length: 2\r\n\r\nab") == "413");
  CHECK(status("GET /" + std::string(2'000, 'a') + " HTTP/1.1\r\n\r\n") == "414");
  CHECK(status("GET / HTTP/1.1\r\nA: " + std::string(20'000, 'a')) == "431");
  Peer& peer = server.ConnectHttp();
  CHECK(server.Get(peer, "GET /nothing HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 Not Found\r\n"));
  CHECK(peer.connected());
}

TEST_CASE("a client that has ended its input gets its answers") {
  MetricsServer server;
  Peer& peer = server.ConnectHttp();
  peer.Send(kAlive + kScrape);
  peer.EndInput();
  server.Settle();
  CHECK(CountOf(peer.Take(), "HTTP/1.1 200 OK\r\n") == 2);
  CHECK(peer.ended());
  Peer& half = server.ConnectHttp();
  half.Send("GET /li");
  half.EndInput();
  server.Settle();
  CHECK(half.Take().empty());
  CHECK(half.closed());
}

TEST_CASE("a slow request, a slow reader and an idle connection are closed, each by its time") {
  MetricsServer server;
  const uint64_t before = server.stats().client_bytes;
  Peer& slow = server.ConnectHttp();
  for (uint64_t second = 0; second < net::kHttpRequestMs / 1000; ++second) {
    CHECK(slow.connected());
    slow.Send("G");
    if (second == 0) slow.Send("ET /");
    server.AdvanceTime(1'000);
  }
  CHECK_FALSE(slow.connected());

  Peer& reader = server.ConnectHttp();
  reader.link().send_capacity = 1'000;
  reader.ReadPerMs(0);
  reader.Send(kScrape);
  server.AdvanceTime(net::kHttpAnswerMs - 1);
  CHECK_FALSE(reader.closed());
  server.AdvanceTime(1);
  CHECK(reader.closed());

  Peer& silent = server.ConnectHttp();
  server.AdvanceTime(net::kHttpRequestMs - 1);
  CHECK(silent.connected());
  server.AdvanceTime(1);
  CHECK_FALSE(silent.connected());

  Peer& idle = server.ConnectHttp();
  CHECK(BodyOf(server.Get(idle, kAlive)) == "alive\n");
  server.AdvanceTime(net::kHttpIdleMs - 1);
  CHECK(idle.connected());
  CHECK(BodyOf(server.Get(idle, kAlive)) == "alive\n");
  server.AdvanceTime(net::kHttpIdleMs);
  CHECK_FALSE(idle.connected());
  CHECK(server.stats().client_bytes == before);
}

TEST_CASE("a reader that is slow but not too slow gets all of a page") {
  MetricsServer server;
  Peer& quick = server.ConnectHttp();
  const std::string whole = server.Get(quick, kScrape);
  Peer& slow = server.ConnectHttp();
  slow.link().send_capacity = 1'000;
  slow.ReadPerMs(100);
  slow.Send(kScrape + kAlive);
  server.AdvanceTime(5'000);
  CHECK(BodyOf(slow.Take()).ends_with("alive\n"));
  CHECK(whole.size() > 10'000);
}

TEST_CASE("scrapers take no place of maxclients, and have a limit of their own") {
  MetricsServer server;
  server.Set("maxclients", "1");  // which the operator's connection takes
  std::vector<Peer*> peers;
  for (size_t i = 0; i < net::kHttpClientsMax; ++i) peers.push_back(&server.ConnectHttp());
  for (Peer* peer : peers) CHECK(server.Get(*peer, "GET /livez").empty());
  Peer& refused = server.ConnectHttp();
  CHECK(refused.Take().starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  for (Peer* peer : peers) CHECK(BodyOf(server.Get(*peer, " HTTP/1.1\r\n\r\n")) == "alive\n");
  peers.front()->Leave();
  server.Settle();
  CHECK(BodyOf(server.Get(server.ConnectHttp(), kAlive)) == "alive\n");
  server.Set("maxclients", "2");
  CHECK(server.Ask(server.Connect(), {"PING"}) == testing::Simple("PONG"));
}

TEST_CASE("on a full port the connection that has waited longest between two requests gives way to a probe") {
  MetricsServer server;
  std::vector<Peer*> peers;
  for (size_t i = 0; i < net::kHttpClientsMax; ++i) peers.push_back(&server.ConnectHttp());
  CHECK(server.Get(*peers[0], "GET /livez").empty());  // asks, so its place is its own
  for (const size_t quiet : {3, 2, 1}) {
    server.AdvanceTime(10);
    CHECK(BodyOf(server.Get(*peers[quiet], kAlive)) == "alive\n");
  }
  CHECK(server.Get(*peers[2], "GET /livez").empty());
  peers[3]->Send(kAlive);  // its next request lies in the kernel when the probe comes
  CHECK(BodyOf(server.Get(server.ConnectHttp(), kReady)) == "ready\n");
  CHECK(BodyOf(peers[3]->Take()) == "alive\n");
  CHECK(peers[1]->closed());
  server.AdvanceTime(10);
  CHECK(BodyOf(server.Get(*peers[3], kAlive)) == "alive\n");
  CHECK(BodyOf(server.Get(server.ConnectHttp(), kReady)) == "ready\n");
  CHECK(peers[3]->connected());
  for (const size_t asking : {0, 2})
    CHECK(BodyOf(server.Get(*peers[asking], " HTTP/1.1\r\n\r\n")) == "alive\n");
}

TEST_CASE("nobody gives way to a visitor whom protected-mode refuses") {
  MetricsServer server({"--metrics-bind", "*"});
  std::vector<Peer*> peers;
  for (size_t i = 0; i < net::kHttpClientsMax; ++i) peers.push_back(&server.ConnectHttp());
  for (Peer* peer : peers) CHECK(BodyOf(server.Get(*peer, kAlive)) == "alive\n");
  Peer* const far = server.TryConnect("192.0.2.7", kAddress);
  REQUIRE(far != nullptr);
  server.Settle();
  CHECK(far->Take().starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  for (Peer* peer : peers) CHECK(peer->connected());
}

TEST_CASE("neither timeout nor the limits of clients' output are for scrapers") {
  MetricsServer server;
  server.Set("timeout", "1");
  server.Set("client-output-buffer-limit", "normal 1000 0 0");
  Peer& peer = server.ConnectHttp();
  peer.link().send_capacity = 500;
  peer.ReadPerMs(100);
  peer.Send(kScrape);
  server.AdvanceTime(3'000);
  CHECK(peer.Take().size() > 10'000);
  CHECK(peer.connected());
}

TEST_CASE("with protected-mode and no password, only this machine is answered") {
  MetricsServer server({"--metrics-bind", "*"});
  Peer* const far = server.TryConnect("192.0.2.7", kAddress);
  REQUIRE(far != nullptr);
  server.Settle();
  CHECK(far->Take().starts_with("HTTP/1.1 403 Forbidden\r\n"));
  CHECK(far->ended());
}

TEST_CASE("a site whose name has this machine's address cannot make a browser here read the pages") {
  MetricsServer server({"--metrics-bind", "*", "--protected-mode", "no"});
  const auto status = [&](const std::string& from, const std::string& path, const std::string& host) {
    Peer* const peer = server.TryConnect(from, kAddress);
    REQUIRE(peer != nullptr);
    server.Settle();
    const std::string answer = server.Get(*peer, "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    peer->Leave();
    server.Settle();
    return answer.substr(9, 3);
  };
  for (const char* path : {"/", "/metrics", "/status.json"}) {
    CHECK(status("127.0.0.1", path, "evil.example:9121") == "421");
    CHECK(status("127.0.0.1", path, "127.0.0.1:9121") == "200");
    CHECK(status("127.0.0.1", path, "localhost") == "200");
    CHECK(status("192.0.2.7", path, "cache.example:9121") == "200");
  }
  CHECK(status("127.0.0.1", "/livez", "evil.example") == "200");
  CHECK(status("127.0.0.1", "/readyz", "10.0.0.7:9121") == "200");
  server.Set("metrics-hosts", "cache.example");
  CHECK(status("127.0.0.1", "/metrics", "cache.example:9121") == "200");
}

TEST_CASE("a page is built in slices, between which clients of the cache are served") {
  MetricsServer server;
  Peer& resp = server.Connect();
  Peer& http = server.ConnectHttp();
  server.Set("expire-slice-us", "50");
  server.world.set_look_cost_us(100);  // each look at the cycle counter ends a slice
  http.Send(kScrape);
  uint64_t turns = 0;
  while (http.received().empty()) {
    resp.Send("PING\r\n");
    REQUIRE(server.Turn() == 1);
    ++turns;
    REQUIRE(turns < 1'000);
  }
  CHECK(turns > 20);
  CHECK(resp.Writes().size() >= turns - 1);
}

TEST_CASE("a client that ends its input while its page is built gets all of it") {
  MetricsServer server;
  Peer& http = server.ConnectHttp();
  server.Set("expire-slice-us", "50");
  server.world.set_look_cost_us(100);
  http.Send(kScrape);
  for (int turn = 0; turn < 3; ++turn) server.Turn();
  REQUIRE(http.received().empty());
  http.EndInput();
  server.Settle();
  CHECK(CountOf(http.Take(), "HTTP/1.1 200 OK\r\n") == 1);
  CHECK(http.ended());
}

TEST_CASE("while a file is loaded, /readyz tells how far, and is ready unless clients have to wait") {
  MetricsServer server;
  Peer& http = server.ConnectHttp();
  SaveFigures& figures = server.stats().saves;
  figures.loading = true;
  figures.load_file_bytes = 400;
  figures.load_done_bytes = 100;
  figures.load_keys = 7;
  std::string answer = server.Get(http, kReady);
  CHECK(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(BodyOf(answer) == "ready\nloading: 25 %, 7 keys\n");
  server.parts.server.modes |= BitOf(Mode::kLoading);
  answer = server.Get(http, kReady);
  CHECK(answer.starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  CHECK(BodyOf(answer) == "loading: 25 %, 7 keys\n");
  figures.load_file_bytes = 0;  // of a pipe
  CHECK(BodyOf(server.Get(http, kReady)) == "loading: 0 %, 7 keys\n");
  CHECK(BodyOf(server.Get(http, kAlive)) == "alive\n");
}

// A replica loads its master's keys at any time.
TEST_CASE("the status page shows the last load, and not a load at the start") {
  MetricsServer server;
  const std::string page = server.Get(server.ConnectHttp(), "GET / HTTP/1.1\r\nHost: localhost:9121\r\n\r\n");
  CHECK(page.find(">Last load</h2>") != std::string::npos);
  CHECK(page.find("at the start</h2>") == std::string::npos);
}

TEST_CASE("while every write gets MISCONF, or every read MASTERDOWN, /readyz is 503 and says why") {
  MetricsServer server;
  Peer& http = server.ConnectHttp();
  uint32_t& modes = server.parts.server.modes;
  CHECK(BodyOf(server.Get(http, kReady)) == "ready\n");
  modes |= BitOf(Mode::kUnsaved);
  std::string answer = server.Get(http, kReady);
  CHECK(answer.starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  CHECK(BodyOf(answer) ==
        "writes are refused (MISCONF): the last save has failed, and stop-writes-on-bgsave-error is on\n");
  server.parts.server.link.state = LinkFigures::State::kConnected;  // a replica still answers reads
  CHECK(BodyOf(server.Get(http, kReady)) == "ready\n");
  server.parts.server.link.state = LinkFigures::State::kNone;
  modes = (modes & ~BitOf(Mode::kUnsaved)) | BitOf(Mode::kNoMaster);
  answer = server.Get(http, kReady);
  CHECK(answer.starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  CHECK(BodyOf(answer).starts_with("requests are refused (MASTERDOWN): "));
  modes &= ~BitOf(Mode::kNoMaster);
  modes |= BitOf(Mode::kFewReplicas);
  CHECK(BodyOf(server.Get(http, kReady)) == "ready\n");
  CHECK(BodyOf(server.Get(http, kAlive)) == "alive\n");
}

TEST_CASE("a server that could not save at its end is ready again") {
  bool saves = false;
  SimulatedServer server({.options = {"--metrics-port", "9121"},
                          .last_work = {.is_due = [] { return true; }, .run = [&saves] { return saves; }}});
  server.Raise(SIGTERM);
  REQUIRE_FALSE(server.ended());
  Peer* const http = server.TryConnect("127.0.0.1", kAddress);
  REQUIRE(http != nullptr);
  http->Send(kReady);
  server.Settle();
  CHECK(BodyOf(http->Take()) == "ready\n");
  saves = true;
  server.Raise(SIGTERM);
}

TEST_CASE("while the server stops, /readyz says so until its clients are gone") {
  MetricsServer server;
  Peer& slow = server.Connect();
  server.Set("client-output-buffer-limit", "normal 0 0 0");
  slow.Request({"SET", "big", std::string(100'000, 'v')});
  server.Settle();
  slow.Take();
  slow.link().send_capacity = 1'000;
  slow.ReadPerMs(100);
  slow.Request({"GET", "big"});
  Peer& http = server.ConnectHttp();
  CHECK(BodyOf(server.Get(http, kReady)) == "ready\n");
  server.Raise(SIGTERM);
  REQUIRE_FALSE(server.ended());
  const std::string answer = server.Get(http, kReady);
  CHECK(answer.starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  CHECK(BodyOf(answer) == "stopping\n");
  CHECK(BodyOf(server.Get(server.ConnectHttp(), kAlive)) == "alive\n");  // it still listens
  CHECK(server.TryConnect("127.0.0.1", "127.0.0.1:6379") == nullptr);
  server.AdvanceTime(1'100);
  CHECK(slow.received().size() > 100'000);
  slow.Leave();
  server.Settle();
  CHECK(http.ended());
  http.Leave();
  server.AdvanceTime(net::kStopObserversMs);
  CHECK(server.ended());
  CHECK(server.world.open_files() == 0);
}

TEST_CASE("an scraper that does not go holds up nobody") {
  MetricsServer server;
  Peer& idle = server.ConnectHttp();
  Peer& half = server.ConnectHttp();
  half.Send("GET /me");
  Peer& silent = server.ConnectHttp();
  silent.link().send_capacity = 1'000;
  silent.ReadNothing();
  silent.Send(kScrape);
  server.Settle();
  server.Raise(SIGTERM);
  CHECK(idle.ended());
  CHECK(half.ended());
  server.AdvanceTime(net::kStopObserversMs);
  CHECK(server.ended());
}

TEST_CASE("a request that has come before the end is answered in full") {
  MetricsServer server;
  Peer& http = server.ConnectHttp();
  server.Set("expire-slice-us", "50");
  server.world.set_look_cost_us(100);
  http.Send(kScrape);
  server.Turn();
  server.Raise(SIGTERM);
  CHECK(BodyOf(http.Take()).find("mayfly_uptime_seconds") != std::string::npos);
  server.AdvanceTime(net::kStopSilenceMs);  // the operator's connection is silent for so long
  CHECK(http.ended());
}

TEST_CASE("the port is opened on this machine only, and no other option takes it") {
  MetricsServer server;
  CHECK(server.TryConnect("10.0.0.2", "10.0.0.1:9121") == nullptr);
  Peer& resp = server.Connect();
  CHECK(server.Ask(resp, {"CONFIG", "SET", "port", "9121"}).kind == testing::Reply::Kind::kError);
  CHECK(BodyOf(server.Get(server.ConnectHttp(), kAlive)) == "alive\n");
}

TEST_CASE("without the option there is no port") {
  SimulatedServer server;
  CHECK(server.TryConnect("127.0.0.1", kAddress) == nullptr);
}

}  // namespace
}  // namespace mayfly::sim
