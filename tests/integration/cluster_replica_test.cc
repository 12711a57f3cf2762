// Daemons of a cluster with replicas, as real processes: a planned handover and the death of a master, by another file.
#include <signal.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "support/catch.h"
#include "support/folder.h"
#include "support/free_port.h"

namespace mayfly {
namespace {

// A client that writes one key after another, where redirections send it.
class FollowingWriter {
 public:
  explicit FollowingWriter(uint16_t port) : thread_([this, port] { Write(port); }) {}
  FollowingWriter(const FollowingWriter&) = delete;
  FollowingWriter& operator=(const FollowingWriter&) = delete;
  ~FollowingWriter() { Stop(); }
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  // Of the slot of "b", 3300.
  static std::string Key(size_t number) { return "{b}" + std::to_string(number); }
  // So many keys were acknowledged, from 0 on.
  size_t acknowledged() const noexcept { return acknowledged_; }
  uint16_t port() const noexcept { return port_; }

 private:
  void Write(uint16_t port) {
    port_ = port;
    auto client = std::make_unique<Client>(Client::ToPort(port));
    while (!stop_) {
      const std::string reply =
          client->Run({"SET", Key(acknowledged_), std::to_string(acknowledged_), "EX", "1000"});
      if (reply == "OK") ++acknowledged_;
      if (!reply.starts_with("-MOVED")) continue;
      port_ = static_cast<uint16_t>(std::stoul(reply.substr(reply.rfind(':') + 1)));
      client = std::make_unique<Client>(Client::ToPort(port_));
    }
  }

  std::atomic<bool> stop_ = false;
  std::atomic<size_t> acknowledged_ = 0;
  std::atomic<uint16_t> port_ = 0;
  std::thread thread_;
};

// Four nodes: "one" and "two" have half of the slots each, "three" and "four" are replicas of the first.
class FourNodes {
 public:
  FourNodes() {
    for (uint16_t& port : ports_) port = FreePort();
    Lead(0);
    for (size_t i = 0; i < kNodes; ++i) Start(i);
    for (const size_t replica : {2, 3}) REQUIRE(IsLinked(replica));
  }

  // The file says that this node has the first half of the slots, and the others of its shard are its replicas.
  void Lead(size_t master) {
    std::ofstream file(folder_ / "cluster.conf");
    for (const size_t i : {size_t{0}, size_t{1}, size_t{2}, size_t{3}}) {
      file << "node " << kNames[i] << " 127.0.0.1:" << ports_[i] << ' ';
      if (i == 1)
        file << "8192-16383\n";
      else if (i == master)
        file << "0-8191\n";
      else
        file << "replica-of=" << kNames[master] << '\n';
    }
  }
  void Start(size_t i) {
    daemons_[i].reset();
    daemons_[i] = std::make_unique<Daemon>(std::vector<std::string>{
        "--port", std::to_string(ports_[i]), "--cluster-enabled", "yes", "--cluster-config-file",
        folder_ / "cluster.conf", "--enable-debug-command", "yes"});
  }
  bool IsLinked(size_t i) {
    return Eventually([&] { return At(i).Info("master_link_status") == "up"; });
  }
  bool IsEqual(size_t replica, size_t master) {
    return Eventually(
        [&] { return At(replica).Run({"DEBUG", "DIGEST"}) == At(master).Run({"DEBUG", "DIGEST"}); });
  }
  // The node reads the file.
  void Read(size_t i) {
    REQUIRE(At(i).Run({"CONFIG", "SET", "cluster-config-file", folder_ / "cluster.conf"}) == "OK");
  }
  Client At(size_t i) { return Client::ToPort(ports_[i]); }
  Daemon& daemon(size_t i) { return *daemons_[i]; }
  uint16_t port(size_t i) const { return ports_[i]; }
  void Kill(size_t i) {
    daemons_[i]->Signal(SIGKILL);
    daemons_[i]->Wait();
  }

 private:
  static constexpr size_t kNodes = 4;
  static constexpr const char* kNames[kNodes] = {"one", "two", "three", "four"};

  Folder folder_;
  uint16_t ports_[kNodes] = {};
  std::unique_ptr<Daemon> daemons_[kNodes];
};

}  // namespace

TEST_CASE("a handover by the file loses no acknowledged write, and the old master follows the new one") {
  FourNodes nodes;
  FollowingWriter writer(nodes.port(0));
  REQUIRE(Eventually([&] { return writer.acknowledged() > 200; }));
  const size_t before = writer.acknowledged();

  nodes.Lead(2);
  Client old_master = nodes.At(0);
  REQUIRE(old_master.Run({"CLIENT", "PAUSE", "10000", "WRITE"}) == "OK");
  REQUIRE(old_master.Run({"WAIT", "2", "5000"}) == ":2");
  nodes.Read(2);
  nodes.Read(0);
  REQUIRE(old_master.Run({"CLIENT", "UNPAUSE"}) == "OK");
  nodes.Read(3);
  nodes.daemon(1).Signal(SIGHUP);

  CHECK(Eventually([&] { return writer.acknowledged() > before + 200; }));
  writer.Stop();
  CHECK(writer.port() == nodes.port(2));
  for (const size_t replica : {0, 3}) {
    CHECK(nodes.IsLinked(replica));
    CHECK(nodes.IsEqual(replica, 2));
    CHECK(nodes.At(replica).Info("role") == "slave");
    Client reader = nodes.At(replica);
    CHECK(reader.Run({"GET", "{b}0"}) == "-MOVED 3300 127.0.0.1:" + std::to_string(nodes.port(2)));
    CHECK(reader.Run({"READONLY"}) == "OK");
    CHECK(reader.Run({"GET", "{b}0"}) == "0");
  }
  CHECK(nodes.At(3).InfoNumber("master_full_syncs") == 1);  // the first, from the old master
  CHECK(nodes.At(3).InfoNumber("master_partial_syncs") == 1);
  Client master = nodes.At(2);
  for (size_t i = 0; i < writer.acknowledged(); ++i) {
    if (const std::string value = master.Run({"GET", FollowingWriter::Key(i)}); value != std::to_string(i)) {
      CAPTURE(i, value);
      FAIL("an acknowledged write is lost");
    }
  }
  CHECK(Eventually([&] {
    return nodes.At(1).Run({"GET", "b"}) == "-MOVED 3300 127.0.0.1:" + std::to_string(nodes.port(2));
  }));
  CHECK(nodes.At(1).Run({"CLUSTER", "SLOTS"}) == nodes.At(0).Run({"CLUSTER", "SLOTS"}));
}

TEST_CASE(
    "a replica takes the place of a dead master by the file, and the dead one follows it when it is back") {
  FourNodes nodes;
  {
    Client master = nodes.At(0);
    for (int i = 0; i < 100; ++i) REQUIRE(master.Run({"SET", "{b}" + std::to_string(i), "v"}) == "OK");
    REQUIRE(master.Run({"WAIT", "2", "5000"}) == ":2");
  }
  nodes.Kill(0);
  nodes.Lead(3);
  for (const size_t i : {3, 2, 1}) nodes.daemon(i).Signal(SIGHUP);
  Client master = nodes.At(3);
  CHECK(Eventually([&] { return master.Run({"SET", "{b}new", "v"}) == "OK"; }));
  CHECK(master.Run({"DBSIZE"}) == ":101");
  nodes.Start(0);
  for (const size_t replica : {0, 2}) {
    CHECK(nodes.IsLinked(replica));
    CHECK(nodes.IsEqual(replica, 3));
  }
  CHECK(nodes.At(2).InfoNumber("master_partial_syncs") == 1);
  CHECK(nodes.daemon(0).log().find("cluster: this is node one, one of 4, a replica of four") !=
        std::string::npos);
}

}  // namespace mayfly
