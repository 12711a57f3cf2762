// The processes of --shards as the system sees them: processors, groups, signals, a dead parent, a port that is taken.
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/wire.h"
#include "support/catch.h"
#include "support/datagram_socket.h"
#include "support/folder.h"
#include "support/free_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace mayfly::shard_place {
namespace {

// Empty if nobody listens.
std::string Ask(uint16_t port, const std::string& line) {
  try {
    const Wire wire = Wire::Tcp(port);
    if (!wire.Send(line + "\r\n")) return "";
    wire.EndOutput();
    return wire.ReadToEnd();
  } catch (const std::runtime_error&) {
    return "";
  }
}

// The daemons of --shards 2; the port after a free one may be taken.
class TwoShards {
 public:
  explicit TwoShards(std::vector<std::string> options = {},
                     const std::vector<std::string>& environment = {}) {
    options.insert(options.end(), {"--shards", "2"});
    for (int tries = 10; daemon_ == nullptr; --tries) {
      REQUIRE(tries > 0);
      try {
        daemon_ = std::make_unique<Daemon>(options, Surroundings{.environment = environment});
      } catch (const std::runtime_error&) {
        continue;
      }
      if (!Eventually([&] { return Ask(second_port(), "PING") == kPong; })) daemon_.reset();
    }
  }
  Daemon& daemon() { return *daemon_; }
  uint16_t first_port() const { return daemon_->port(); }
  uint16_t second_port() const { return static_cast<uint16_t>(daemon_->port() + 1); }
  bool Says(const std::string& text) const { return daemon_->log().find(text) != std::string::npos; }
  static pid_t PidAt(uint16_t port) {
    const std::string info = Ask(port, "INFO server");
    const std::string name = "process_id:";
    return static_cast<pid_t>(std::stol(info.substr(info.find(name) + name.size())));
  }

 private:
  std::unique_ptr<Daemon> daemon_;
};

std::vector<int> ProcessorsOf(pid_t pid) {
  cpu_set_t set;
  REQUIRE(sched_getaffinity(pid, sizeof set, &set) == 0);
  std::vector<int> processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) processors.push_back(cpu);
  }
  return processors;
}

}  // namespace

TEST_CASE("each shard has a processor of its own, as far as there are enough, and a group of its own") {
  TwoShards shards;
  const pid_t pids[] = {TwoShards::PidAt(shards.first_port()), TwoShards::PidAt(shards.second_port())};
  const std::vector<int> all = ProcessorsOf(shards.daemon().pid());
  CHECK(all == ProcessorsOf(getpid()));
  for (size_t i = 0; i < 2; ++i) {
    CHECK(ProcessorsOf(pids[i]) == std::vector<int>{all[i % all.size()]});
    CHECK(getpgid(pids[i]) == pids[i]);
    CHECK(shards.Says("shard " + std::to_string(i + 1) + " starts on port " +
                      std::to_string(shards.first_port() + i) + " as process " + std::to_string(pids[i]) +
                      "\n"));
  }
  const std::string some_share = "there are " + std::to_string(all.size()) + " processors for 2 shards";
  CHECK(shards.Says(some_share) == (all.size() < 2));
}

TEST_CASE("SIGINT ends all shards as SIGTERM does, and the log has its name") {
  TwoShards shards;
  shards.daemon().Signal(SIGINT);
  CHECK(shards.daemon().Wait().exit_code == 0);
  CHECK(shards.Says("received SIGINT, stopping all shards"));
  CHECK(Ask(shards.first_port(), "PING").empty());
  CHECK(Ask(shards.second_port(), "PING").empty());
}

TEST_CASE("when the program that has started the shards is killed, they end, too") {
  TwoShards shards;
  const uint16_t ports[] = {shards.first_port(), shards.second_port()};
  shards.daemon().Signal(SIGKILL);
  shards.daemon().Wait();
  for (const uint16_t port : ports) CHECK(Eventually([&] { return Ask(port, "PING").empty(); }));
}

TEST_CASE("a shard that cannot begin ends those that have begun, and the program says which one it was") {
  const Daemon taken;
  const std::string first_port = std::to_string(taken.port() - 1);
  const Ended ended = Daemon::RunToEnd({"--shards", "2", "--port", first_port, "--bind", "127.0.0.1"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.output.find("mayfly: shard 2, port " + std::to_string(taken.port()) +
                          " ended with exit code 1 at its start\n") != std::string::npos);
  CHECK(Ask(static_cast<uint16_t>(taken.port() - 1), "PING").empty());
  CHECK(Ask(taken.port(), "PING") == kPong);
}

TEST_CASE("a shard whose port is taken while it is down is started until it has its port again") {
  TwoShards shards;
  REQUIRE(Ask(shards.first_port(), "SET b v") == "+OK\r\n");
  const pid_t victim = TwoShards::PidAt(shards.second_port());
  shards.daemon().Signal(SIGSTOP);
  REQUIRE(kill(victim, SIGKILL) == 0);
  const int thief = socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  setsockopt(thief, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(shards.second_port());
  CHECK(Eventually([&] { return bind(thief, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0; }));
  CHECK(listen(thief, 1) == 0);
  shards.daemon().Signal(SIGCONT);
  CHECK(Eventually([&] { return shards.Says(", ended with exit code 1: it starts again in 200 ms\n"); }));
  CHECK(Ask(shards.first_port(), "GET b") == "$1\r\nv\r\n");
  close(thief);
  CHECK(Eventually([&] { return Ask(shards.second_port(), "PING") == kPong; }));
  shards.daemon().Signal(SIGTERM);
  CHECK(shards.daemon().Wait().exit_code == 0);
}

TEST_CASE("the log names files of shards that are no more, and not those of shards that are there") {
  const Folder folder;
  const uint16_t port = FreePort();
  const auto file = [&](int n) { return (folder / "dump.rdb.") + std::to_string(port + n); };
  const auto warning = [&](int n) {
    return "the keys of " + file(n) + " are not loaded: with shards 1 no shard has the port " +
           std::to_string(port + n) + "\n";
  };
  std::ofstream(file(1)) << "x";
  std::ofstream(file(128)) << "x";
  std::ofstream(file(129)) << "x";  // that far nobody looks
  const std::vector<std::string> options = {
      "--dir", folder.path(), "--port", std::to_string(port), "--shards", "1"};
  {
    const Daemon daemon(options);
    CHECK(daemon.log().find(warning(1)) != std::string::npos);
    CHECK(daemon.log().find(warning(128)) != std::string::npos);
    CHECK(daemon.log().find(warning(0)) == std::string::npos);
    CHECK(daemon.log().find(warning(2)) == std::string::npos);
    CHECK(daemon.log().find(warning(129)) == std::string::npos);
    CHECK(Ask(port, "SET k v") == "+OK\r\n");
    CHECK(Ask(port, "SAVE") == "+OK\r\n");
  }
  const Daemon again(options);
  CHECK(again.log().find(warning(0)) == std::string::npos);
  CHECK(Eventually([&] { return Ask(port, "GET k") == "$1\r\nv\r\n"; }));
}

TEST_CASE("the program with shards has the pidfile, and cannot read options for all of them from its input") {
  const Folder folder;
  const std::string file = folder / "pid";
  {
    Daemon daemon({"--shards", "1", "--pidfile", file});
    std::string text;
    std::getline(std::ifstream(file) >> std::ws, text);
    CHECK(text == std::to_string(daemon.pid()));
    daemon.Signal(SIGTERM);
    CHECK(daemon.Wait().exit_code == 0);
    CHECK(access(file.c_str(), F_OK) != 0);
  }
  const Ended ended = Daemon::RunToEnd({"-", "--shards", "2", "--port", std::to_string(FreePort())});
  CHECK(ended.exit_code == 1);
  CHECK(
      ended.output.find("mayfly: shards: the daemons cannot read their options from standard input, too\n") !=
      std::string::npos);
}

TEST_CASE("the program with shards tells the watchdog that it lives, and no shard does") {
  const Folder folder;
  const testing::DatagramSocket manager(folder / "notify");
  TwoShards shards({"--supervised", "systemd"},
                   {"NOTIFY_SOCKET=" + (folder / "notify"), "WATCHDOG_USEC=100000"});
  int signs = 0;
  bool ready = false;
  CHECK(Eventually([&] {
    for (std::string told = manager.Take(); !told.empty(); told = manager.Take()) {
      if (told == "WATCHDOG=1") ++signs;
      ready = ready || told.starts_with("READY=1");
    }
    return signs >= 10 && ready;
  }));
  shards.daemon().Signal(SIGTERM);
  CHECK(shards.daemon().Wait().exit_code == 0);
}

}  // namespace mayfly::shard_place
