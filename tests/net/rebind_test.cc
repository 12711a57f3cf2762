// CONFIG SET port and bind: where the server listens while clients come.
#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include "config/sources/candidate.h"
#include "net/socket/limits.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

using testing::Reply;
using testing::Simple;

const char* const kSamePort = "127.0.0.1:6379";

// A server on 127.0.0.1:6379 and a unix socket, with a client that is connected already.
struct Fixture {
  explicit Fixture(const std::vector<std::string>& options = {"--bind", "127.0.0.1"})
      : server({.options = With(options)}), there(server.Connect()) {}

  static std::vector<std::string> With(std::vector<std::string> options) {
    options.insert(options.end(), {"--unixsocket", "/sim/mayfly.sock"});
    return options;
  }

  Reply Set(std::vector<std::string> pairs) {
    pairs.insert(pairs.begin(), {"CONFIG", "SET"});
    return server.Ask(there, pairs);
  }
  std::string Get(const std::string& name) {
    return server.Ask(there, {"CONFIG", "GET", name}).elements.at(1).text;
  }
  bool Serves(const std::string& to) {
    Peer* const peer = server.TryConnect(to.front() == ':' ? "::1" : "127.0.0.1", to);
    if (peer == nullptr) return false;
    return server.Ask(*peer, {"PING"}) == Simple("PONG");
  }
  // One that waits to be accepted, with a request: the server lacks a descriptor for kPauseMs.
  Peer& Waiting(const std::string& to) {
    Peer* const peer = server.TryConnect("127.0.0.1", to);
    REQUIRE(peer != nullptr);
    peer->Send("PING\r\n");
    const size_t accepted = server.world.open_files();
    server.world.FailAccepts({EMFILE});
    server.Settle();
    REQUIRE(server.world.open_files() == accepted);
    return *peer;
  }
  // What the server answers when the pause is over.
  std::string Answer(Peer& waiting) {
    server.AdvanceTime(net::kPauseMs);
    return waiting.Take();
  }

  SimulatedServer server;
  Peer& there;
};

Reply PortFailed() {
  return testing::Error(
      "ERR CONFIG SET failed (possibly related to argument 'port') - Unable to listen on this port. Check "
      "server logs.");
}

Reply BindFailed() {
  return testing::Error(
      "ERR CONFIG SET failed (possibly related to argument 'bind') - Failed to bind to specified addresses.");
}

}  // namespace

TEST_CASE_METHOD(Fixture, "CONFIG SET port moves the server, and clients of the old port stay") {
  CHECK(Set({"port", "7000"}) == Simple("OK"));
  CHECK(Serves("127.0.0.1:7000"));
  CHECK_FALSE(Serves(kSamePort));
  CHECK(server.Ask(there, {"PING"}) == Simple("PONG"));
  CHECK(server.Ask(there, {"CLIENT", "INFO"}).text.find(" laddr=127.0.0.1:6379 ") != std::string::npos);
  CHECK(server.Info("tcp_port") == 7000);
  CHECK(Set({"port", "0"}) == Simple("OK"));
  CHECK(server.world.listening() == 1);
  CHECK(server.TryConnect("127.0.0.1", "/sim/mayfly.sock") != nullptr);
}

TEST_CASE("the log warns of a server that listens nowhere any more") {
  for (const bool has_unix_socket : {false, true}) {
    std::vector<std::string> options = {"--bind", "127.0.0.1"};
    if (has_unix_socket) options.insert(options.end(), {"--unixsocket", "/sim/mayfly.sock"});
    SimulatedServer server({.options = options, .logs = true});
    CHECK(server.Run({"CONFIG", "SET", "port", "0"}) == Simple("OK"));
    const bool warned = server.Log().find("# listening nowhere now") != std::string::npos;
    CHECK(warned == !has_unix_socket);
  }
}

TEST_CASE_METHOD(Fixture, "a client that waits at the old port while it is closed is served") {
  Peer& late = Waiting(kSamePort);
  CHECK(Set({"port", "7000"}) == Simple("OK"));
  CHECK(Answer(late) == "+PONG\r\n");
}

TEST_CASE_METHOD(Fixture, "an address that stays keeps its socket, and serves those who wait there") {
  Peer& late = Waiting(kSamePort);
  server.world.FailBinds({0, EMFILE});  // the address that stays needs no bind
  CHECK(Set({"bind", "127.0.0.1 127.0.0.2"}) == Simple("OK"));
  CHECK(Answer(late) == "+PONG\r\n");
  CHECK(Serves(kSamePort));
  CHECK(Serves("127.0.0.2:6379"));
}

TEST_CASE_METHOD(Fixture, "if an address cannot be opened, nothing changes and no client is lost") {
  for (const int error : {EADDRINUSE, EADDRNOTAVAIL, EMFILE, ENFILE, EACCES}) {
    CAPTURE(error);
    Peer& late = Waiting(kSamePort);
    server.world.FailBinds({0, error});
    CHECK(Set({"timeout", "9", "port", "7000", "bind", "127.0.0.1 127.0.0.2"}) == PortFailed());
    CHECK(Answer(late) == "+PONG\r\n");
    server.world.FailBinds({error});
    CHECK(Set({"bind", "127.0.0.1 127.0.0.2", "timeout", "9"}) == BindFailed());
    CHECK(Get("timeout") == "0");
    CHECK(Get("port") == "6379");
    CHECK(Get("bind") == "127.0.0.1");
    CHECK(server.world.listening() == 2);
    CHECK(Serves(kSamePort));
  }
}

TEST_CASE_METHOD(Fixture, "an option that is refused after the addresses were opened closes them again") {
  const auto refuse = [](const config::Settings&) -> config::Problem { return "no"; };
  server.parts.options.Prepare({.prepare = refuse}, &config::Settings::maxkeys);
  Peer& late = Waiting(kSamePort);
  CHECK(Set({"port", "7000", "maxkeys", "1"}).kind == Reply::Kind::kError);
  CHECK_FALSE(Serves("127.0.0.1:7000"));
  CHECK(Set({"bind", "*", "maxkeys", "1"}).kind == Reply::Kind::kError);
  CHECK_FALSE(Serves("127.0.0.2:6379"));
  CHECK(Answer(late) == "+PONG\r\n");
  CHECK(Serves(kSamePort));
  CHECK(Set({"bind", "*", "port", "7000"}) == Simple("OK"));
  CHECK(Serves("127.0.0.2:7000"));
}

TEST_CASE("all addresses give way to one of them on the same port, and the other way round") {
  Fixture fixture({"--bind", "*", "-::*"});
  Peer& late = fixture.Waiting(kSamePort);
  CHECK(fixture.Set({"bind", "127.0.0.1"}) == Simple("OK"));
  CHECK(fixture.Answer(late) == "+PONG\r\n");
  CHECK(fixture.Serves(kSamePort));
  CHECK_FALSE(fixture.Serves("127.0.0.2:6379"));
  CHECK_FALSE(fixture.Serves("::1:6379"));

  Peer& later = fixture.Waiting(kSamePort);
  CHECK(fixture.Set({"bind", "* -::*"}) == Simple("OK"));
  CHECK(fixture.Answer(later) == "+PONG\r\n");
  CHECK(fixture.Serves("127.0.0.2:6379"));
  CHECK(fixture.Serves("::1:6379"));
}

TEST_CASE("an address that collides with an open one is tested before that one is closed") {
  Fixture fixture({"--bind", "*"});
  Peer& late = fixture.Waiting(kSamePort);
  const size_t accepted = fixture.server.world.open_files();
  fixture.server.world.FailBinds({0, EADDRNOTAVAIL});
  CHECK(fixture.Set({"bind", "127.0.0.1 192.0.2.77"}) == BindFailed());
  CHECK(fixture.server.world.open_files() == accepted);
  CHECK(fixture.Answer(late) == "+PONG\r\n");
  fixture.server.world.FailBinds({0, EADDRNOTAVAIL});
  CHECK(fixture.Set({"bind", "127.0.0.1 -192.0.2.77"}) == Simple("OK"));
}

TEST_CASE("if another program is faster to take the port, the old address is open again") {
  Fixture fixture({"--bind", "*"});
  Peer& late = fixture.Waiting(kSamePort);
  fixture.server.world.FailBinds({0, EADDRINUSE});
  CHECK(fixture.Set({"bind", "127.0.0.1"}) == BindFailed());
  CHECK(fixture.Answer(late) == "+PONG\r\n");
  CHECK(fixture.Serves("127.0.0.2:6379"));
  CHECK(fixture.server.world.listening() == 2);
}

TEST_CASE("the log names every address that is opened and every one that is closed") {
  SimulatedServer server({.options = {"--bind", "*"}, .logs = true});
  const auto said = [&](const std::string& text) {
    return server.Log().find("* " + text) != std::string::npos;
  };
  CHECK(server.Run({"CONFIG", "SET", "bind", "127.0.0.1 127.0.0.2"}) == Simple("OK"));
  CHECK(said("listening on 127.0.0.1:6379\n"));
  CHECK(said("listening on 127.0.0.2:6379\n"));
  CHECK(said("no longer listening on 0.0.0.0:6379\n"));
  CHECK(server.Run({"CONFIG", "SET", "bind", "127.0.0.2"}) == Simple("OK"));
  CHECK(said("no longer listening on 127.0.0.1:6379\n"));
  CHECK_FALSE(said("no longer listening on 127.0.0.2:6379\n"));
}

TEST_CASE("port and bind in one CONFIG SET are one change, done or undone as a whole") {
  SimulatedServer server({.options = {"--bind", "*"}, .logs = true});
  Peer& there = server.Connect();
  const auto refuse = [](const config::Settings& wanted) -> config::Problem {
    return wanted.maxkeys == 1 ? config::Problem("no") : std::nullopt;
  };
  server.parts.options.Prepare({.prepare = refuse}, &config::Settings::maxkeys);
  CHECK(server.Ask(there, {"CONFIG", "SET", "port", "6379", "bind", "127.0.0.1", "maxkeys", "1"}).kind ==
        Reply::Kind::kError);
  CHECK(server.TryConnect("127.0.0.1", "127.0.0.2:6379") != nullptr);
  CHECK(server.Ask(there, {"CONFIG", "SET", "port", "6379", "bind", "127.0.0.1", "maxkeys", "2"}) ==
        Simple("OK"));
  CHECK(server.TryConnect("127.0.0.1", "127.0.0.2:6379") == nullptr);
  CHECK(server.TryConnect("127.0.0.1", kSamePort) != nullptr);
  CHECK(server.Log().find("* no longer listening on 0.0.0.0:6379\n") != std::string::npos);
}

TEST_CASE("if another program takes both the new and the old address, the log says so and clients stay") {
  SimulatedServer server({.options = {"--bind", "*", "--unixsocket", "/sim/mayfly.sock"}, .logs = true});
  Peer& there = server.Connect();
  server.world.FailBinds({0, EADDRINUSE, EADDRINUSE});
  CHECK(server.Ask(there, {"CONFIG", "SET", "bind", "127.0.0.1"}) == BindFailed());
  CHECK(server.Log().find("# no longer listening on 0.0.0.0:6379: address already in use\n") !=
        std::string::npos);
  CHECK(server.world.listening() == 1);
  CHECK(server.TryConnect("127.0.0.1", kSamePort) == nullptr);
  CHECK(server.Ask(there, {"PING"}) == Simple("PONG"));
  CHECK(server.Ask(there, {"CONFIG", "SET", "bind", "127.0.0.1"}) == Simple("OK"));  // it is free again
  CHECK(server.world.listening() == 2);
  Peer* const next = server.TryConnect("127.0.0.1", kSamePort);
  REQUIRE(next != nullptr);
  CHECK(server.Ask(*next, {"PING"}) == Simple("PONG"));
}

TEST_CASE("two addresses that collide with each other are refused, as at the start") {
  Fixture fixture({"--bind", "*"});
  CHECK(fixture.Set({"bind", "127.0.0.1 127.0.0.1"}) == BindFailed());
  CHECK(fixture.Set({"bind", "127.0.0.1 *"}) == BindFailed());
  CHECK(fixture.Set({"bind", "* 127.0.0.1"}) == BindFailed());
  CHECK(fixture.Serves("127.0.0.2:6379"));
  CHECK(fixture.Get("bind") == "*");
}

TEST_CASE_METHOD(Fixture, "a server that stops in the same turn serves those who waited at the old port") {
  Peer& late = Waiting(kSamePort);
  server.world.Raise(SIGTERM);
  there.Request({"CONFIG", "SET", "port", "7000"});
  server.Settle();
  CHECK(late.Take().starts_with("+PONG\r\n"));
  server.AdvanceTime(10'000);
  CHECK(server.ended());
}

}  // namespace mayfly::sim
