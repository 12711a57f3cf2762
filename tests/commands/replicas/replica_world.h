// A server that follows a master whose every byte the test decides (support/fake_target.h).
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "replication/master_link.h"
#include "support/fake_target.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {

inline const std::string kHistory(40, 'a');

class ReplicaTest : public SnapshotTest {
 public:
  ReplicaTest() { server().server.master_link = std::make_unique<MasterLink>(server().server, disk); }
  ~ReplicaTest() { server().server.master_link.reset(); }

  // The bytes of a file with these keys. REQUIRES: there is no key.
  std::string FileWith(const std::vector<Words>& requests) {
    for (const Words& request : requests) Run(request);
    REQUIRE(Run({"SAVE"}) == Ok());
    REQUIRE(Run({"FLUSHALL"}) == Ok());
    return disk.files().at(kSnapshotPath);
  }
  FakeTarget& master() { return targets.last(); }
  // Until the master is asked for its keys: by this request, or by any if it is empty.
  void Greet(const std::string& sync = "PSYNC ? -1") {
    master().Accept();
    CHECK(master().Take() == "PING");
    master().Answer("+PONG\r\n");
    CHECK(master().Take() == "REPLCONF listening-port 6379");
    master().Answer("+OK\r\n");
    CHECK(master().Take() == "REPLCONF capa eof capa psync2 capa mayfly capa cutoffs");
    master().Answer("+OK\r\n");
    const std::string asked = master().Take();
    CHECK((sync.empty() ? asked.starts_with("PSYNC ") : asked == sync));
  }
  void Connect(const std::string& sync = "PSYNC ? -1") {
    CHECK(Run({"REPLICAOF", "there", "7000"}) == Ok());
    AdvanceTime(0);
    REQUIRE(targets.count() != 0);
    Greet(sync);
  }
  void AnswerFull(int64_t offset = 100) {
    master().Answer("+FULLRESYNC " + kHistory + " " + std::to_string(offset) + "\r\n");
  }
  // Works until `is_so()`. A thread writes the file.
  template <typename Condition>
  void WorkUntil(Condition is_so) {
    constexpr int kMostTries = 1'000'000;
    for (int i = 0; i < kMostTries && !is_so(); ++i) {
      Slice();
      std::this_thread::yield();
    }
  }
  // Until the file is written and loaded.
  void FinishSync() {
    WorkUntil([this] { return Replication("master_sync_in_progress") != "1" && !snapshots().loading(); });
  }
  void Sync(const std::string& file, int64_t offset = 100, const std::string& sync = "PSYNC ? -1") {
    Connect(sync);
    AnswerFull(offset);
    master().Answer("$" + std::to_string(file.size()) + "\r\n" + file);
    FinishSync();
    CHECK(Replication("master_link_status") == "up");
    CHECK(master().Take() == "REPLCONF ACK " + std::to_string(offset));
  }
  // As Sync, of a master that is a Mayfly.
  void SyncWithMayfly(const std::string& file, int64_t offset = 0) {
    CHECK(Run({"REPLICAOF", "there", "7000"}) == Ok());
    AdvanceTime(0);
    master().Accept();
    master().Answer("+PONG\r\n");
    master().Answer("+OK\r\n");
    master().Answer("+OK mayfly\r\n");
    master().Take();
    AnswerFull(offset);
    master().Answer("$" + std::to_string(file.size()) + "\r\n" + file);
    FinishSync();
    REQUIRE(Replication("master_link_status") == "up");
  }
  std::string Replication(const std::string& field) {
    const std::string text = Run({"INFO", "replication"}).text;
    const size_t at = text.find("\n" + field + ":");
    if (at == std::string::npos) return "";
    const size_t begin = at + field.size() + 2;
    return text.substr(begin, text.find('\r', begin) - begin);
  }
  void Command(const Words& words) { master().Answer(EncodeRequest(words)); }

  FakeTargets targets{server()};
};

}  // namespace mayfly::testing
