// A second service beside RESP, on a listener of its own: it answers "GET /livez" as HTTP/1.0 does. Loop, limits,
// timeouts and the server's end are those of all clients.
#include "net/client/service.h"

#include <array>
#include <csignal>
#include <string>

#include "net/client/clients.h"
#include "net/client/read_calls.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

class LivezClient final : public net::Connection {
 public:
  LivezClient(net::Clients& all, Kind kind)
      : Connection(all, kind, output_, nullptr), output_(all.chunks()) {}

  std::span<char> LendInput() override { return room_; }
  void TakeInput(std::span<const char> bytes) override {
    request_.append(bytes.data(), bytes.size());
    if (request_.size() > kRequestMax) return Drop();
    if (done_ || request_.find("\r\n\r\n") == std::string::npos) return Account();
    done_ = true;
    const bool known = request_.starts_with("GET /livez ");
    output_.Append(known ? "HTTP/1.0 200 OK\r\n\r\nalive\n" : "HTTP/1.0 404 Not Found\r\n\r\n");
    if (known && request_.find("X-Long") != std::string::npos) {
      for (int i = 0; i < 300; ++i) output_.Append(std::string(1'000, '.'));
    }
    Flush();
  }
  void Flush() override {
    if (!WriteOut(LimitOfOutput())) return;
    if (done_) SetEnding();
    Account();
    FollowOutput();
  }

 private:
  static constexpr size_t kRequestMax = 4'000;

  const ReadCalls& read_calls() const noexcept override { return kReadCallsOf<LivezClient>; }
  void OnAccept(Addresses&& addresses) noexcept override { peer_ = std::move(addresses.peer); }
  void OnOpen() override {}
  bool TakeEnd() override { return false; }
  void OnStop() noexcept override { done_ = true; }
  void OnLeave() noexcept override { request_.clear(); }
  void Account() noexcept override {
    Book({.client = request_.size() + output_.chunk_memory(), .output = output_.memory()});
  }
  std::string_view name() const noexcept override { return peer_; }
  std::string_view RefusalOf(net::Verdict) const noexcept override {
    return "HTTP/1.0 503 Service Unavailable\r\n\r\n";
  }

  OutputChain output_;
  std::array<char, 512> room_;
  std::string request_;
  std::string peer_;
  bool done_ = false;
};

class LivezService final : public net::Service {
 public:
  net::Connection* NewConnection(net::Clients& clients, net::Connection::Kind kind) const override {
    return new LivezClient(clients, kind);
  }
};

constexpr uint16_t kPort = 9121;
const char* const kServiceAddress = "127.0.0.1:9121";
const std::string kRequest = "GET /livez HTTP/1.0\r\n\r\n";
const std::string kAliveAnswer = "HTTP/1.0 200 OK\r\n\r\nalive\n";

// Outlives the server that borrows it.
struct WithService {
  const LivezService livez{};
};

struct LivezServer : WithService, SimulatedServer {
  LivezServer() : SimulatedServer({.logs = true}) { ListenFor(livez, kPort); }

  Peer& ConnectHttp() {
    Peer* const peer = TryConnect("127.0.0.1", kServiceAddress);
    REQUIRE(peer != nullptr);
    Settle();
    return *peer;
  }
};

TEST_CASE("another service answers on its own port, and closes in order") {
  LivezServer server;
  Peer& peer = server.ConnectHttp();
  peer.Send(kRequest);
  server.Settle();
  CHECK(peer.Take() == kAliveAnswer);
  CHECK(peer.ended());
  Peer& other = server.ConnectHttp();
  other.Send("GET / HTTP/1.0\r\n\r\n");
  server.Settle();
  CHECK(other.Take() == "HTTP/1.0 404 Not Found\r\n\r\n");
  CHECK(other.ended());
}

TEST_CASE("a request may arrive in pieces, among those of RESP clients") {
  LivezServer server;
  Peer& http = server.ConnectHttp();
  Peer& resp = server.Connect();
  for (const char c : kRequest) {
    http.Send({&c, 1});
    CHECK(server.Ask(resp, {"PING"}) == testing::Simple("PONG"));
  }
  CHECK(http.Take() == kAliveAnswer);
}

TEST_CASE("clients of another service are no RESP clients, but count for maxclients") {
  LivezServer server;
  Peer& resp = server.Connect();
  Peer& http = server.ConnectHttp();
  CHECK(server.Ask(resp, {"CLIENT", "LIST"}).text.find(":9121") == std::string::npos);
  CHECK(server.Info("connected_clients") == 2);  // one is the operator
  server.Set("maxclients", "3");
  Peer& refused = server.ConnectHttp();
  CHECK(refused.Take() == "HTTP/1.0 503 Service Unavailable\r\n\r\n");
  Peer& refused_too = server.Connect();
  CHECK(refused_too.Take() == "-ERR max number of clients reached\r\n");
  http.Send(kRequest);
  server.Settle();
  CHECK(http.Take() == kAliveAnswer);
  http.Leave();
  server.Settle();
  CHECK(server.Ask(server.Connect(), {"PING"}) == testing::Simple("PONG"));
}

TEST_CASE("a silent client of another service is closed after the timeout") {
  LivezServer server;
  server.Set("timeout", "10");
  Peer& http = server.ConnectHttp();
  http.Send("GET /li");
  server.AdvanceTime(9'999);
  CHECK(http.connected());
  server.AdvanceTime(1);
  CHECK_FALSE(http.connected());
  CHECK(server.Log().find("closing idle client 127.0.0.1:") != std::string::npos);
}

TEST_CASE("a slow reader of another service gets all, and its memory is counted until then") {
  LivezServer server;
  const uint64_t before = server.stats().client_bytes;
  Peer& http = server.ConnectHttp();
  http.link().send_capacity = 5'000;
  http.ReadPerMs(1'000);
  http.Send("GET /livez HTTP/1.0\r\nX-Long: yes\r\n\r\n");
  server.AdvanceTime(10);
  CHECK(server.stats().client_bytes > before + 250'000);
  server.AdvanceTime(400);
  CHECK(http.received().size() == kAliveAnswer.size() + 300'000);
  CHECK(http.ended());
  http.Leave();
  server.Settle();
  CHECK(server.stats().client_bytes == before);
}

TEST_CASE("a client of another service that holds too much output is closed") {
  LivezServer server;
  server.Set("client-output-buffer-limit", "normal 100000 0 0");
  Peer& http = server.ConnectHttp();
  http.link().send_capacity = 5'000;
  http.ReadNothing();
  http.Send("GET /livez HTTP/1.0\r\nX-Long: yes\r\n\r\n");
  server.Settle();
  CHECK(http.closed());
  CHECK(server.Info("client_output_buffer_limit_disconnections") == 1);
}

TEST_CASE("the server's end ends clients of all services") {
  LivezServer server;
  Peer& half = server.ConnectHttp();
  Peer& whole = server.ConnectHttp();
  Peer& resp = server.Connect();
  half.Send("GET /li");
  server.Settle();
  whole.Send(kRequest);
  resp.Send("PING\r\n");
  server.Raise(SIGTERM);
  CHECK(whole.Take() == kAliveAnswer);
  CHECK(resp.Take() == "+PONG\r\n");
  for (Peer* peer : {&half, &whole, &resp}) {
    CHECK(peer->ended());
    peer->Leave();
  }
  server.Settle();
  CHECK(server.ended());
  CHECK(server.TryConnect("127.0.0.1", kServiceAddress) == nullptr);
}

TEST_CASE("CONFIG SET port moves RESP and leaves the other service where it is") {
  LivezServer server;
  Peer& resp = server.Connect();
  REQUIRE(server.Ask(resp, {"CONFIG", "SET", "port", "7000"}) == testing::Ok());
  CHECK(server.TryConnect("127.0.0.1", "127.0.0.1:6379") == nullptr);
  Peer& http = server.ConnectHttp();
  http.Send(kRequest);
  server.Settle();
  CHECK(http.Take() == kAliveAnswer);
  // Its port is taken.
  CHECK(server.Ask(resp, {"CONFIG", "SET", "port", "9121"}).kind == testing::Reply::Kind::kError);
  Peer& again = server.ConnectHttp();
  again.Send(kRequest);
  server.Settle();
  CHECK(again.Take() == kAliveAnswer);
}

TEST_CASE("a port that is taken is a problem in words") {
  const LivezService livez{};
  SimulatedServer server;
  CHECK_THROWS_WITH(server.ListenFor(livez, 6379),
                    Catch::Matchers::StartsWith("cannot listen on 127.0.0.1:6379"));
}

}  // namespace
}  // namespace mayfly::sim
