// SIGTERM of a master that has replicas: it waits until they have everything.
#include <signal.h>

#include <atomic>
#include <string>
#include <thread>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/wire.h"
#include "support/catch.h"
#include "support/free_port.h"

namespace mayfly {
namespace {

void FollowMaster(Client& replica, const Daemon& master) {
  REQUIRE(replica.Run({"REPLICAOF", "127.0.0.1", std::to_string(master.port())}) == "OK");
  REQUIRE(Eventually([&] { return replica.Info("master_link_status") == "up"; }));
}

std::string Readiness(uint16_t port) {
  const Wire wire = Wire::Tcp(port);
  REQUIRE(wire.Send("GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"));
  return wire.ReadToEnd();
}

bool LogOf(const Daemon& daemon, const std::string& text) {
  return daemon.log().find(text) != std::string::npos;
}

TEST_CASE("after SIGTERM of a master its replica has every write that was acknowledged") {
  for (int round = 0; round < 3; ++round) {
    Daemon master;
    const Daemon other;
    Client replica(other);
    FollowMaster(replica, master);
    std::atomic<int64_t> last = 0;
    std::thread writer([&] {
      Client client(master);
      for (std::string reply = client.Run({"INCR", "c"}); reply[0] == ':'; reply = client.Run({"INCR", "c"}))
        last = std::stoll(reply.substr(1));
    });
    CHECK(Eventually([&] { return last > 500; }));
    master.Signal(SIGTERM);
    const Ended ended = master.Wait();
    writer.join();
    CHECK(ended.exit_code == 0);
    CHECK(Eventually([&] { return replica.Info("master_link_status") == "down"; }));
    CHECK(std::stoll(replica.Run({"GET", "c"})) >= last);
  }
}

TEST_CASE(
    "a replica that does not answer holds up SIGTERM for shutdown-timeout, unless SHUTDOWN ABORT comes") {
  const uint16_t port = FreePort();
  Daemon master({"--shutdown-timeout", "2", "--metrics-port", std::to_string(port)});
  const Daemon other;
  Client replica(other);
  FollowMaster(replica, master);
  Client client(master);
  CHECK(client.Run({"WAIT", "1", "10000"}) == ":1");
  other.Signal(SIGSTOP);
  CHECK(client.Run({"SET", "k", "v"}) == "OK");
  master.Signal(SIGTERM);
  CHECK(Eventually(
      [&] { return LogOf(master, "waiting for replicas before stopping: shutdown-timeout is 2 s"); }));
  CHECK(client.Run({"GET", "k"}) == "v");
  CHECK(client.InfoNumber("shutdown_in_milliseconds") <= 2000);
  CHECK(Readiness(port).starts_with("HTTP/1.1 503 "));
  CHECK(client.Run({"SHUTDOWN", "ABORT"}) == "OK");
  CHECK(Readiness(port).starts_with("HTTP/1.1 200 "));
  CHECK(client.Run({"SET", "k", "w"}) == "OK");
  PauseMs(2500);  // no alarm of the first signal is left
  CHECK(client.Run({"PING"}) == "PONG");

  const int64_t before_ms = NowMs();
  master.Signal(SIGTERM);
  PauseMs(300);
  master.Signal(SIGTERM);
  const Ended ended = master.Wait();
  other.Signal(SIGCONT);
  CHECK(ended.exit_code == 0);
  CHECK(NowMs() - before_ms >= 2000);
  CHECK(ended.output.find(" lacks the last ") != std::string::npos);
  CHECK(ended.output.find("0 of 1 replicas have everything") != std::string::npos);
}

TEST_CASE("SIGTERM waits for no replica if shutdown-on-sigterm says now") {
  Daemon master({"--shutdown-on-sigterm", "now"});
  const Daemon other;
  Client replica(other);
  FollowMaster(replica, master);
  other.Signal(SIGSTOP);
  CHECK(Client(master).Run({"SET", "k", "v"}) == "OK");
  master.Signal(SIGTERM);
  const Ended ended = master.Wait();
  other.Signal(SIGCONT);
  CHECK(ended.exit_code == 0);
  CHECK(ended.output.find("waiting for replicas") == std::string::npos);
}

}  // namespace
}  // namespace mayfly
