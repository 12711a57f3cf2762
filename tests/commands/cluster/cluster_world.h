// Several servers of one cluster, without a loop: each reads the same file, and those that are replicas follow the masters that
// the file names. Bytes between the servers are carried by the test.
//
//   ClusterWorld world("node one h:7001 0-16383\nnode two h:7002 replica-of=one\n");
//   world.Settle();
//   world.at("one").Run({"SET", "b", "v"});
//   world.Write("...");
//   world.at("two").ReadFile();
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "exec/cluster/cluster_reload.h"
#include "replication/master_link.h"
#include "replication/replication_start.h"
#include "server/cluster/cluster.h"
#include "support/fake_target.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {

class ClusterMember : public SnapshotTest {
 public:
  // `file`: the text of the file, for as long as this exists.
  ClusterMember(const std::string& name, const std::string& file) : file_(file) {
    server().files.read_again = [this](const std::string&, std::string& text) -> config::Problem {
      text = file_;
      return std::nullopt;
    };
    StartWith("cluster-announce-human-nodename", name);
    ClusterMap map;
    REQUIRE_FALSE(map.Read("cluster.conf", file));
    REQUIRE_FALSE(map.FindSelf("cluster.conf", {.name = name, .hosts = {}}));
    port_ = map.self().port;
    cluster_ = std::make_unique<Cluster>(std::move(map), false, server().changes);
    server().executor.Join(*cluster_);
    server().server.master_link = std::make_unique<MasterLink>(server().server, disk);
    reload_ = std::make_unique<ClusterReload>(server().server);
    StartReplication(server().server);
  }
  ~ClusterMember() {
    peer_.reset();
    reload_.reset();
    server().server.master_link.reset();
  }

  Cluster& cluster() noexcept { return *cluster_; }
  uint16_t port() const noexcept { return port_; }
  // As CONFIG SET cluster-config-file, or SIGHUP.
  void ReadFile() { REQUIRE(Run({"CONFIG", "SET", "cluster-config-file", "cluster.conf"}) == Ok()); }
  void TakeHangUpSignal() { reload_->Reload(); }
  std::string Field(const std::string& section, const std::string& field) {
    const std::string text = Run({"INFO", section}).text;
    const size_t at = text.find("\n" + field + ":");
    if (at == std::string::npos) return "";
    const size_t begin = at + field.size() + 2;
    return text.substr(begin, text.find('\r', begin) - begin);
  }
  std::string Replication(const std::string& field) { return Field("replication", field); }
  Reply Digest() { return Run({"DEBUG", "DIGEST"}); }

  FakeTargets targets{server()};
  bool dead = false;  // nobody can connect to it

 private:
  friend class ClusterWorld;

  const std::string& file_;
  uint16_t port_ = 0;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<ClusterReload> reload_;
  std::unique_ptr<TestClient> peer_;  // the other end of the link to the master; null: none
  TestServer* master_ = nullptr;
  size_t connected_ = 0;
};

class ClusterWorld {
 public:
  explicit ClusterWorld(std::string file) : file_(std::move(file)) {
    ClusterMap map;
    REQUIRE_FALSE(map.Read("cluster.conf", file_));
    for (const ClusterNode& node : map.nodes()) {
      names_.push_back(node.name);
      members_.push_back(std::make_unique<ClusterMember>(node.name, file_));
    }
  }
  ~ClusterWorld() {
    for (const auto& member : members_) Hang(*member);
  }

  void Write(std::string file) { file_ = std::move(file); }
  ClusterMember& at(std::string_view name) {
    for (size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return *members_[i];
    }
    FAIL("there is no node " << name);
    return *members_.front();
  }
  // Time passes everywhere, and bytes are carried until nobody has any.
  void Pass(uint64_t ms) {
    for (const auto& member : members_) member->AdvanceTime(ms);
    Carry();
  }
  // Until all replicas have all that their masters have.
  void Settle() {
    constexpr int kTurns = 10'000;
    constexpr int kQuickTurns = 500;
    for (int i = 0; i < kTurns && !AllLinked(); ++i) {
      Pass(2);
      if (i < kQuickTurns) continue;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // polls: a thread writes what they receive
    }
    REQUIRE(AllLinked());
    Pass(MasterLink::kTellMs);
    Pass(MasterLink::kTellMs);
  }

 private:
  bool AllLinked() const {
    for (const auto& member : members_) {
      const LinkFigures& link = member->server().link;
      if (!member->dead && link.follows() && !link.up()) return false;
    }
    return true;
  }
  void Carry() {
    constexpr int kIdle = 3;
    for (int idle = 0; idle < kIdle; ++idle) {
      for (const auto& member : members_) {
        if (CarryLink(*member)) idle = 0;
      }
      for (const auto& member : members_) member->Slice();
    }
  }
  // True if something was carried.
  bool CarryLink(ClusterMember& member) {
    if (member.targets.count() == 0) return false;
    FakeTarget& link = member.targets.last();
    if (link.closed()) return Hang(member), false;
    if (member.connected_ != member.targets.count()) return Connect(member, link), true;
    if (member.peer_ == nullptr) return false;
    if (member.peer_->session().closes()) {
      Hang(member);
      link.HangUp();
      return true;
    }
    const std::string down = member.peer_->RunRaw(link.TakeBytes());
    if (!down.empty()) link.Answer(down);
    return !down.empty();
  }
  void Connect(ClusterMember& member, FakeTarget& link) {
    Hang(member);
    member.connected_ = member.targets.count();
    for (const auto& other : members_) {
      if (other->port() != link.port || other->dead) continue;
      member.master_ = &other->server();
      member.peer_ = std::make_unique<TestClient>(*member.master_);
      return link.Accept();
    }
    link.Refuse();
  }
  static void Hang(ClusterMember& member) {
    if (member.peer_ == nullptr) return;
    member.peer_.reset();
    member.master_->RunWoken();
  }

  std::string file_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<ClusterMember>> members_;
};

}  // namespace mayfly::testing
