// Daemons that are parts of a cluster, as real processes.
#include <signal.h>

#include <fstream>
#include <memory>
#include <string>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/wire.h"
#include "support/catch.h"
#include "support/datagram_socket.h"
#include "support/folder.h"
#include "support/free_port.h"

namespace mayfly {
namespace {

// What the program says of a cluster's file.
std::string SaidOf(const std::string& text) {
  const Folder folder;
  std::ofstream(folder / "cluster.conf") << text;
  const Ended ended = Daemon::RunToEnd({"--port", "7001", "--dir", folder.path(), "--cluster-enabled", "yes",
                                        "--cluster-config-file", "cluster.conf"});
  CHECK(ended.exit_code == 1);
  return ended.output.substr(ended.output.find("mayfly: "));
}

// The daemons of --shards 2, and their ports.
class TwoShards {
 public:
  explicit TwoShards(std::vector<std::string> options = {},
                     const std::vector<std::string>& environment = {}) {
    options.insert(options.end(), {"--shards", "2"});
    constexpr int kTries = 10;  // the port after a free one may be taken, also by somebody else's connection
    for (int i = 0; i < kTries && daemon_ == nullptr; ++i) {
      try {
        daemon_ = std::make_unique<Daemon>(options, Surroundings{.environment = environment});
      } catch (const std::runtime_error& problem) {
        INFO(problem.what());
        REQUIRE(i + 1 < kTries);
      }
      if (daemon_ == nullptr || Eventually([&] { return Second("PING") == "+PONG\r\n"; })) continue;
      WARN("nobody answers at the port after " << first_port() << "; the log:\n" << daemon_->log());
      REQUIRE(i + 1 < kTries);
      daemon_.reset();
    }
  }

  Daemon& daemon() { return *daemon_; }
  uint16_t first_port() const { return daemon_->port(); }
  uint16_t second_port() const { return static_cast<uint16_t>(daemon_->port() + 1); }
  std::string First(const std::string& line) const { return Ask(first_port(), line); }
  std::string Second(const std::string& line) const { return Ask(second_port(), line); }
  // Empty if nobody listens.
  static std::string Ask(uint16_t port, const std::string& line) {
    try {
      const Wire wire = Wire::Tcp(port);
      if (!wire.Send(line + "\r\n")) return "";
      wire.EndOutput();
      return wire.ReadToEnd();
    } catch (const std::runtime_error&) {
      return "";
    }
  }
  static pid_t PidIn(const std::string& info) {
    const std::string name = "process_id:";
    return static_cast<pid_t>(std::stol(info.substr(info.find(name) + name.size())));
  }

 private:
  std::unique_ptr<Daemon> daemon_;
};

}  // namespace

TEST_CASE("two daemons with the same file are one cluster") {
  const Folder folder;
  const uint16_t ports[] = {FreePort(), FreePort()};
  std::ofstream(folder / "cluster.conf")
      << "node one 127.0.0.1:" << ports[0] << " 0-8191\nnode two 127.0.0.1:" << ports[1] << " 8192-16383\n";
  const std::vector<std::string> shared = {"--cluster-enabled", "yes", "--cluster-config-file",
                                           folder / "cluster.conf"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), shared.begin(), shared.end());
    return more;
  };
  const Daemon one(with({"--port", std::to_string(ports[0])}));
  const Daemon two(with({"--port", std::to_string(ports[1]), "--cluster-announce-human-nodename", "two"}));
  Client first(one);
  Client second(two);
  CHECK(first.Run({"SET", "b", "v"}) == "OK");
  CHECK(second.Run({"GET", "b"}) == "-MOVED 3300 127.0.0.1:" + std::to_string(ports[0]));
  CHECK(first.Run({"SET", "a", "v"}) == "-MOVED 15495 127.0.0.1:" + std::to_string(ports[1]));
  CHECK(second.Run({"SET", "a", "w"}) == "OK");
  CHECK(first.Run({"CLUSTER", "SLOTS"}) == second.Run({"CLUSTER", "SLOTS"}));
  CHECK(first.Run({"CLUSTER", "MYID"}) != second.Run({"CLUSTER", "MYID"}));
  CHECK(one.log().find("cluster: this is node one, one of 2, with 8192 slots") != std::string::npos);
}

TEST_CASE("a file that is wrong keeps the daemon from starting, with a line that says why") {
  CHECK(SaidOf("node a 127.0.0.1:7001 0-99999\n") ==
        "mayfly: cluster-config-file cluster.conf:1: 0-99999: slots are <slot> or <first>-<last>, from 0 to "
        "16383\n");
  CHECK(SaidOf("node a 127.0.0.1:7001 0\nnode b 127.0.0.1:7002 0\n") ==
        "mayfly: cluster-config-file cluster.conf:2: slot 0 belongs to a already\n");
  CHECK(SaidOf("node a 127.0.0.1:7002 0\n") ==
        "mayfly: cluster-config-file cluster.conf: no node with port 7001: which of them is this one? Say it "
        "by "
        "cluster-announce-human-nodename <name>\n");
  const Ended ended =
      Daemon::RunToEnd({"--cluster-enabled", "yes", "--cluster-config-file", "/no/such.conf"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.output.find("mayfly: cluster-config-file /no/such.conf: No such file or directory\n") !=
        std::string::npos);
}

TEST_CASE("SIGHUP reads the file again: a slot goes from one daemon to the other while both serve") {
  const Folder folder;
  const uint16_t ports[] = {FreePort(), FreePort()};
  const auto write = [&](const std::string& slots_of_one, const std::string& slots_of_two) {
    std::ofstream(folder / "cluster.conf")
        << "node one 127.0.0.1:" << ports[0] << ' ' << slots_of_one << "\nnode two 127.0.0.1:" << ports[1]
        << ' ' << slots_of_two << '\n';
  };
  write("0-8191", "8192-16383");
  const std::vector<std::string> shared = {"--cluster-enabled", "yes", "--cluster-config-file",
                                           folder / "cluster.conf", "--port"};
  const auto on = [&](uint16_t port) {
    std::vector<std::string> options = shared;
    options.push_back(std::to_string(port));
    return options;
  };
  const Daemon one(on(ports[0]));
  const Daemon two(on(ports[1]));
  Client first(one);
  Client second(two);
  const Wire waiter = Wire::Tcp(ports[0]);
  const std::string moved = "-MOVED 3300 127.0.0.1:" + std::to_string(ports[1]);
  REQUIRE(first.Run({"MSET", "b", "1", "{b}2", "2"}) == "OK");
  REQUIRE(first.Run({"SET", "bar", "stays"}) == "OK");
  REQUIRE(waiter.Send("BLPOP {b}list 0\r\n"));
  REQUIRE(Eventually(
      [&] { return first.Run({"INFO", "clients"}).find("blocked_clients:1") != std::string::npos; }));
  write("0-3299 3301-8191", "3300 8192-16383");
  two.Signal(SIGHUP);
  CHECK(Eventually([&] { return second.Run({"SET", "b", "2"}) == "OK"; }));
  one.Signal(SIGHUP);
  CHECK(waiter.Read(moved.size() + 2) == moved + "\r\n");
  CHECK(first.Run({"GET", "b"}) == moved);
  CHECK(first.Run({"GET", "bar"}) == "stays");
  CHECK(Eventually([&] { return first.Run({"DBSIZE"}) == ":1"; }));
  CHECK(one.log().find(
            "cluster: this is node one, one of 2, with 8191 slots; slots that came: 0, that went: 1") !=
        std::string::npos);
  write("0-3299", "8192-16384");
  one.Signal(SIGHUP);
  CHECK(Eventually([&] {
    return one.log().find("the cluster stays as it is: cluster-config-file " + (folder / "cluster.conf") +
                          ":2: 8192-16384: slots are") != std::string::npos;
  }));
  CHECK(first.Run({"GET", "bar"}) == "stays");
}

TEST_CASE("--cluster-mode emulated makes a cluster of one daemon, where its client has found it") {
  const Daemon daemon({"--cluster-mode", "emulated"});
  Client client(daemon);
  CHECK(client.Run({"MSET", "a", "1", "b", "2"}) == "OK");
  CHECK(client.Run({"CLUSTER", "SLOTS"})
            .starts_with("[[:0 :16383 [127.0.0.1 :" + std::to_string(daemon.port()) + " "));
}

TEST_CASE("--shards makes a cluster of daemons on ports in a row, and a signal ends them all") {
  TwoShards shards;
  CHECK(shards.First("SET b v") == "+OK\r\n");
  CHECK(shards.First("GET a") == "-MOVED 15495 127.0.0.1:" + std::to_string(shards.second_port()) + "\r\n");
  CHECK(shards.Second("SET a v") == "+OK\r\n");
  CHECK(shards.First("CLUSTER SLOTS") == shards.Second("CLUSTER SLOTS"));
  shards.daemon().Signal(SIGTERM);
  CHECK(shards.daemon().Wait().exit_code == 0);
  CHECK(shards.First("PING").empty());
  CHECK(shards.Second("PING").empty());
}

TEST_CASE("--shards passes SIGHUP on, and nobody loses a slot or a key") {
  TwoShards shards;
  REQUIRE(shards.First("SET b v") == "+OK\r\n");
  shards.daemon().Signal(SIGHUP);
  for (const char* name : {"shard-1", "shard-2"})
    CHECK(Eventually([&] {
      return shards.daemon().log().find("cluster: this is node " + std::string(name) +
                                        ", one of 2, with 8192 slots; slots that came: 0, that went: 0") !=
             std::string::npos;
    }));
  CHECK(shards.First("GET b") == "$1\r\nv\r\n");
}

TEST_CASE("a shard that is killed starts again, and the other one keeps its keys") {
  TwoShards shards;
  REQUIRE(shards.First("SET b v") == "+OK\r\n");
  REQUIRE(shards.Second("SET a v") == "+OK\r\n");
  const std::string before = shards.First("INFO server");
  const pid_t victim = TwoShards::PidIn(shards.Second("INFO server"));
  REQUIRE(kill(victim, SIGKILL) == 0);
  CHECK(Eventually([&] { return shards.Second("GET a") == "$-1\r\n"; }));
  CHECK(TwoShards::PidIn(shards.Second("INFO server")) != victim);
  CHECK(TwoShards::PidIn(shards.First("INFO server")) == TwoShards::PidIn(before));
  CHECK(shards.First("GET b") == "$1\r\nv\r\n");
  CHECK(shards.daemon().log().find("ended by signal 9: it starts again in 100 ms\n") != std::string::npos);
}

TEST_CASE("a signal ends --shards while a shard that keeps ending waits for its next start") {
  TwoShards shards;
  // The newest process of the second shard.
  const auto victim = [&] {
    const std::string log = shards.daemon().log();
    const size_t line = log.rfind("shard 2 starts on port ");
    return std::stoi(log.substr(log.find("as process ", line) + 11));
  };
  for (const char* const wait : {"100", "200", "400", "800", "1600"}) {
    pid_t ended = victim();
    REQUIRE(kill(ended, SIGKILL) == 0);
    const std::string line = std::string("it starts again in ") + wait + " ms\n";
    REQUIRE(Eventually([&] { return shards.daemon().log().find(line) != std::string::npos; }));
    if (std::string(wait) != "1600") REQUIRE(Eventually([&] { return victim() != ended; }));
  }
  shards.daemon().Signal(SIGTERM);
  CHECK(shards.daemon().Wait().exit_code == 0);
}

TEST_CASE("a shard that was told to end stays ended, and the last one ends the program") {
  TwoShards shards;
  CHECK(shards.Second("SHUTDOWN").empty());
  CHECK(Eventually([&] { return shards.daemon().log().find(", was told to end") != std::string::npos; }));
  CHECK(shards.First("PING") == "+PONG\r\n");
  CHECK(shards.Second("PING").empty());
  CHECK(shards.First("SHUTDOWN").empty());
  CHECK(shards.daemon().Wait().exit_code == 0);
}

TEST_CASE(
    "a shard leaves its ports, the machine's memory and the conf file to the program that has started it") {
  const Folder folder;
  std::ofstream(folder / "my.conf") << "maxmemory auto\n";
  const TwoShards shards({folder / "my.conf"});
  const std::string failed = "-ERR CONFIG SET failed (possibly related to argument '";
  CHECK(shards.First("CONFIG SET port 1") ==
        failed +
            "port') - this daemon is a shard: where it listens is decided by the program that --shards has "
            "started\r\n");
  CHECK(shards.First("CONFIG SET cluster-announce-port 1")
            .starts_with(failed + "cluster-announce-port') - this"));
  CHECK(shards.Second("CONFIG SET maxmemory auto") ==
        failed +
            "maxmemory') - this daemon is a shard: its part of the machine's memory has to be a number of "
            "bytes\r\n");
  CHECK(shards.Second("CONFIG SET maxmemory 60%").starts_with(failed));
  CHECK(shards.Second("CONFIG SET maxmemory 64mb maxkeys 5") == "+OK\r\n");
  CHECK(shards.Second("CONFIG SET port " + std::to_string(shards.second_port())) == "+OK\r\n");
  CHECK(shards.Second("CONFIG REWRITE") ==
        "-ERR this daemon is a shard, and the conf file is for all of them: change it there\r\n");
}

TEST_CASE("the service manager is told that --shards is ready when all shards serve") {
  const Folder folder;
  const testing::DatagramSocket manager(folder / "notify");
  TwoShards shards({"--supervised", "systemd"}, {"NOTIFY_SOCKET=" + (folder / "notify")});
  CHECK(Eventually([&] { return shards.daemon().log().find("all 2 shards serve") != std::string::npos; }));
  CHECK(manager.Take() == "READY=1\nSTATUS=Ready to accept connections");
  const std::string log = shards.daemon().log();
  const size_t ready = log.find("all 2 shards serve");
  const size_t first = log.find("Ready to accept connections");
  const size_t second = log.find("Ready to accept connections", first + 1);
  CHECK((second != std::string::npos && second < ready));
  shards.daemon().Signal(SIGTERM);
  CHECK(shards.daemon().Wait().exit_code == 0);
  CHECK(manager.Take() == "STATUS=Saving before the end\nEXTEND_TIMEOUT_USEC=3600000000");
  CHECK(manager.Take() == "STOPPING=1\nSTATUS=Stopping");
  CHECK(manager.Take() == "");
}

TEST_CASE("--shards does not begin with a port that is taken, or none, or a cluster that is given") {
  const Daemon daemon;
  const Ended taken =
      Daemon::RunToEnd({"--shards", "1", "--port", std::to_string(daemon.port()), "--bind", "127.0.0.1"});
  CHECK(taken.exit_code == 1);
  CHECK(taken.output.find("ended with exit code 1 at its start\n") != std::string::npos);
  CHECK(Daemon::RunToEnd({"--shards", "2", "--port", "0"}).output.find("shards needs a port or a tls-port") !=
        std::string::npos);
  CHECK(Daemon::RunToEnd({"--shards", "2", "--port", "65535"})
            .output.find("shards needs a port for each daemon") != std::string::npos);
  CHECK(Daemon::RunToEnd({"--cluster-enabled", "yes", "--cluster-mode", "emulated"})
            .output.find("cluster-mode emulated: this daemon plays a cluster alone") != std::string::npos);
  CHECK(Daemon::RunToEnd({"--shards", "2", "--cluster-mode", "emulated"})
            .output.find("shards makes a cluster of its own") != std::string::npos);
}

}  // namespace mayfly
