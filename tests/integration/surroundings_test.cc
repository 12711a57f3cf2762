// What the daemon makes of the place where it is started: closed streams, few descriptors, little memory.
#include <signal.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/wire.h"
#include "support/catch.h"

#include <sys/resource.h>

namespace mayfly {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a daemon that is started with closed standard streams serves, and ends with exit code 0") {
  for (const std::vector<int>& closed : {std::vector{0}, {1}, {2}, {0, 1, 2}}) {
    INFO("closed: " << closed.size() << " from " << closed.front());
    Daemon daemon({"--pidfile", "mayfly.pid"}, {.closed_streams = closed});
    Client client(daemon);
    CHECK(client.Run({"SET", "k", "v"}) == "OK");
    CHECK(client.Run({"GET", "k"}) == "v");
    daemon.Signal(SIGTERM);
    CHECK(daemon.Wait().exit_code == 0);
  }
}

TEST_CASE("with few descriptors maxclients is what Redis makes of them, and that many clients are served") {
  const Daemon daemon({"--maxclients", "10000"}, {.limits = {{RLIMIT_NOFILE, 64}}});
  Client first(daemon);
  CHECK(first.Run({"CONFIG", "GET", "maxclients"}) == "[maxclients 32]");
  CHECK(daemon.log().find("# maxclients is 32 instead of 10000") != std::string::npos);
  std::vector<Wire> others;
  for (int i = 1; i < 32; ++i) {
    others.push_back(Wire::Tcp(daemon.port()));
    REQUIRE(others.back().Ask("PING\r\n", kPong) == kPong);
  }
  // More than may linger: every one of them is told all the same.
  std::vector<Wire> rejected;
  for (int i = 0; i < 40; ++i) rejected.push_back(Wire::Tcp(daemon.port()));
  for (const Wire& wire : rejected) CHECK(wire.ReadToEnd() == "-ERR max number of clients reached\r\n");
  CHECK(first.Run({"PING"}) == "PONG");
  CHECK(daemon.log().find("cannot accept") == std::string::npos);
}

TEST_CASE("with one descriptor above the reserve one client is served, and with none the start is refused") {
  const Daemon daemon({}, {.limits = {{RLIMIT_NOFILE, 33}}});
  CHECK(Eventually([&] { return Client(daemon).Run({"CONFIG", "GET", "maxclients"}) == "[maxclients 1]"; }));
  for (const uint64_t files : {32, 20}) {
    const Ended ended = Daemon::RunToEnd({}, {.limits = {{RLIMIT_NOFILE, files}}});
    CHECK(ended.exit_code == 1);
    CHECK(ended.output.find("\nmayfly: the limit of open files (ulimit -n) is " + std::to_string(files)) !=
          std::string::npos);
  }
}

#ifdef __linux__
TEST_CASE("while no descriptor is free new clients wait, the others are served, and the loop does not spin") {
  const Daemon daemon;
  Client client(daemon);
  REQUIRE(Eventually([&] { return client.InfoNumber("connected_clients") == 1; }));
  // UBSan needs a descriptor when it sees the type of an object for the first time: expiry has been at work before.
  REQUIRE(client.Run({"SET", "warm", "v", "PX", "1"}) == "OK");
  REQUIRE(Eventually([&] { return client.InfoNumber("expired_keys") == 1; }));
  const fs::directory_iterator files("/proc/" + std::to_string(daemon.pid()) + "/fd");
  const auto open_files = static_cast<rlim_t>(std::distance(fs::begin(files), fs::end(files)));
  rlimit before{};
  REQUIRE(prlimit(daemon.pid(), RLIMIT_NOFILE, nullptr, &before) == 0);
  const rlimit full{.rlim_cur = open_files, .rlim_max = before.rlim_max};
  REQUIRE(prlimit(daemon.pid(), RLIMIT_NOFILE, &full, nullptr) == 0);
  const Wire waiting = Wire::Tcp(daemon.port());
  REQUIRE(waiting.Send("PING\r\n"));
  const auto complaints = [&] {
    const std::string log = daemon.log();
    size_t count = 0;
    for (size_t at = 0; (at = log.find("cannot accept connections", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  CHECK(Eventually([&] { return complaints() != 0; }));
  // The loop turns for our own requests, and for a few tries.
  const int64_t turns = client.InfoNumber("eventloop_cycles");
  REQUIRE(client.Run({"SET", "k", "v", "PX", "300"}) == "OK");
  CHECK(Eventually([&] { return client.Run({"EXISTS", "k"}) == ":0"; }));
  CHECK(client.InfoNumber("eventloop_cycles") - turns < 500);
  CHECK(complaints() == 1);
  REQUIRE(prlimit(daemon.pid(), RLIMIT_NOFILE, &before, nullptr) == 0);
  CHECK(waiting.Read(kPong.size()) == kPong);
}
#endif

#ifndef MAYFLY_SANITIZE  // the sanitizers take all addresses that there are
#ifdef __linux__
TEST_CASE(
    "if there is no memory for new clients they are closed, a line says so, and later ones are served") {
  const Daemon daemon;
  Client client(daemon);
  REQUIRE(client.Run({"SET", "k", "v"}) == "OK");
  rlimit before{};
  REQUIRE(prlimit(daemon.pid(), RLIMIT_AS, nullptr, &before) == 0);
  const rlimit full{.rlim_cur = 1 << 20, .rlim_max = before.rlim_max};  // it has more: there is no more
  REQUIRE(prlimit(daemon.pid(), RLIMIT_AS, &full, nullptr) == 0);
  std::vector<Wire> crowd;
  for (int i = 0; i < 9'000 && daemon.log().find("out of memory for new connections") == std::string::npos;
       ++i)
    crowd.push_back(Wire::Tcp(daemon.port()));
  CHECK(Eventually(
      [&] { return daemon.log().find("out of memory for new connections") != std::string::npos; }));
  REQUIRE(prlimit(daemon.pid(), RLIMIT_AS, &before, nullptr) == 0);
  crowd.clear();
  CHECK(client.Run({"GET", "k"}) == "v");
  CHECK(client.InfoNumber("rejected_connections") > 0);
  CHECK(Client(daemon).Run({"GET", "k"}) == "v");
}
#endif

TEST_CASE("with little memory and many clients that do not read, some are closed, and the others go on") {
  constexpr uint64_t kMegabyte = 1 << 20;
  Daemon daemon({"--maxclients", "2500", "--maxmemory", "0"}, {.limits = {{RLIMIT_AS, 512 * kMegabyte}}});
  REQUIRE(Client(daemon).Run({"SET", "k", std::string(10'000, 'v')}) == "OK");
  std::string requests;
  for (int i = 0; i < 40; ++i) requests += Request({"GET", "k"});
  std::vector<Wire> wires;
  for (int i = 0; i < 2'000; ++i) {
    // A unix socket takes fewer bytes that nobody reads than TCP.
    wires.push_back(Wire::Unix(daemon.unix_socket()));
    static_cast<void>(wires.back().SendSome(requests));
  }
  CHECK(Eventually([&] { return daemon.log().find("out of memory") != std::string::npos; }));
  // Whoever was not closed gets all of its replies.
  size_t whole = 0;
  for (const Wire& wire : wires) {
    const std::string reply = wire.Read(40 * 10'010);
    whole += reply.size() == 40 * 10'010 ? 1 : 0;
    CHECK((reply.empty() || reply.starts_with("$10000\r\n") || reply.starts_with("-OOM")));
  }
  CHECK(whole > 100);
  CHECK(whole < wires.size());
  CHECK(Eventually([&] { return Client(daemon).Run({"GET", "k"}).size() == 10'000; }));
  daemon.Signal(SIGTERM);
  CHECK(daemon.Wait().exit_code == 0);
}
#endif

}  // namespace
}  // namespace mayfly
