// The program of --shards as an operator sees it: files that no shard loads, signals, and how it ends.
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "integration/client.h"
#include "integration/daemon.h"
#include "support/catch.h"
#include "support/datagram_socket.h"
#include "support/folder.h"

namespace mayfly {
namespace {

// The process that answers, a shard.
pid_t ShardOf(const Daemon& daemon) {
  Client client(daemon);
  const std::string info = client.Run({"INFO", "server"});
  const std::string name = "process_id:";
  return static_cast<pid_t>(std::stol(info.substr(info.find(name) + name.size())));
}

bool AllServe(const Daemon& daemon) {
  return Eventually([&] { return daemon.log().find("all 1 shards serve") != std::string::npos; });
}

int ProcessorsOf(pid_t pid) {
  cpu_set_t set;
  CPU_ZERO(&set);
  REQUIRE(sched_getaffinity(pid, sizeof set, &set) == 0);
  return CPU_COUNT(&set);
}

}  // namespace

TEST_CASE("a shard has one processor and a process group of its own, and ends if its program is killed") {
  Daemon daemon({"--shards", "1"});
  REQUIRE(AllServe(daemon));
  const pid_t shard = ShardOf(daemon);
  REQUIRE(shard != daemon.pid());
  CHECK(getpgid(shard) == shard);
  CHECK(daemon.log().find("shard 1 starts on port " + std::to_string(daemon.port()) + " as process " +
                          std::to_string(shard) + "\n") != std::string::npos);
  CHECK(ProcessorsOf(shard) == 1);
  CHECK(ProcessorsOf(daemon.pid()) == ProcessorsOf(0));
  daemon.Signal(SIGKILL);
  CHECK(Eventually([&] { return daemon.log().find("eceived SIGTERM") != std::string::npos; }));
}

TEST_CASE("the service manager hears from --shards that it is alive, as often as it wants to") {
  const Folder folder;
  const testing::DatagramSocket manager(folder / "notify");
  Daemon daemon(
      {"--shards", "1", "--supervised", "systemd"},
      Surroundings{.environment = {"NOTIFY_SOCKET=" + (folder / "notify"), "WATCHDOG_USEC=200000"}});
  REQUIRE(AllServe(daemon));
  for (int i = 0; i < 3; ++i) CHECK(Eventually([&] { return manager.Take() == "WATCHDOG=1"; }));
}

TEST_CASE("--shards warns of the snapshot files that no shard loads, and of no others") {
  const Folder folder;
  const Daemon daemon;  // has the port, so that the shard ends at once
  const auto file = [&](int after) { return (folder / "dump.rdb.") + std::to_string(daemon.port() + after); };
  for (const int after : {0, 1, 128, 129}) std::ofstream(file(after)) << "x";
  std::ofstream(folder / "dump.rdb") << "x";
  std::ofstream(folder / ("." + std::to_string(daemon.port() + 1))) << "x";
  const auto said = [&](const std::string& dbfilename) {
    const Ended ended = Daemon::RunToEnd({"--shards", "1", "--port", std::to_string(daemon.port()), "--bind",
                                          "127.0.0.1", "--dir", folder.path(), "--dbfilename", dbfilename});
    CHECK(ended.exit_code == 1);
    return ended.output;
  };
  const auto warning = [&](int after) {
    return "the keys of " + file(after) + " are not loaded: with shards 1 no shard has the port " +
           std::to_string(daemon.port() + after) + "\n";
  };
  const std::string output = said("dump.rdb");
  CHECK(output.find(warning(1)) != std::string::npos);
  CHECK(output.find(warning(128)) != std::string::npos);
  size_t warnings = 0;
  for (size_t at = output.find("are not loaded"); at != std::string::npos;
       at = output.find("are not loaded", at + 1))
    ++warnings;
  CHECK(warnings == 2);
  CHECK(output.find("shard 1, port " + std::to_string(daemon.port()) +
                    " ended with exit code 1 at its start") != std::string::npos);
  CHECK(said("").find("are not loaded") == std::string::npos);
  CHECK(said("other.rdb").find("are not loaded") == std::string::npos);
}

TEST_CASE("SIGINT ends --shards as SIGTERM does, and the log says which one it was") {
  const bool interrupted = GENERATE(true, false);
  Daemon daemon({"--shards", "1"});
  REQUIRE(Eventually([&] { return daemon.log().find("all 1 shards serve") != std::string::npos; }));
  daemon.Signal(interrupted ? SIGINT : SIGTERM);
  CHECK(daemon.Wait().exit_code == 0);
  CHECK(daemon.log().find(std::string("received ") + (interrupted ? "SIGINT" : "SIGTERM") +
                          ", stopping all shards") != std::string::npos);
  CHECK(daemon.log().find("it starts again") == std::string::npos);
}

TEST_CASE("the number of the program of --shards is in its pidfile, and no shard writes there") {
  const Folder folder;
  Daemon daemon({"--shards", "1", "--pidfile", folder / "pid"});
  REQUIRE(Eventually([&] { return daemon.log().find("all 1 shards serve") != std::string::npos; }));
  std::string text;
  std::getline(std::ifstream(folder / "pid"), text);
  Client client(daemon);
  const std::string info = client.Run({"INFO", "server"});
  CHECK(info.find("process_id:" + text + "\r\n") == std::string::npos);
  CHECK(info.find("\r\ntcp_port:" + std::to_string(daemon.port()) + "\r\n") != std::string::npos);
  REQUIRE_FALSE(text.empty());
  CHECK(kill(std::stoi(text), SIGTERM) == 0);
  CHECK(daemon.Wait().exit_code == 0);
}

}  // namespace mayfly
