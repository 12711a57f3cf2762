// A replica whose disk fails, or whose master's snapshot breaks off: what it has, what it says, and from where it goes on.
#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "commands/replica_world.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"

namespace mayfly::testing {
namespace {

class ReplicaLoadTest : public ReplicaTest {
 public:
  void SendFile(const std::string& file) {
    AnswerFull();
    master().Answer("$" + std::to_string(file.size()) + "\r\n" + file);
    FinishSync();
  }
  // A file without a checksum, whose last record cannot be read.
  std::string BrokenFile() {
    std::string bytes = FileWith({{"SET", "a", "1"}, {"SET", "b", "2"}});
    bytes.resize(bytes.size() - 9);
    rdb::Out out(bytes);
    out.Byte(rdb::type::kHash);
    out.String("broken");
    out.Length(2);
    out.String("field");
    out.Byte(rdb::opcode::kEnd);
    out.Checksum(0);
    return bytes;
  }
};

}  // namespace

TEST_CASE_METHOD(
    ReplicaLoadTest,
    "after a load that broke off a replica asks for all keys: half of them belong to no stream") {
  const std::string broken = BrokenFile();
  Sync(FileWith({{"SET", "old", "1"}}), 100);
  Command({"SET", "older", "1"});
  master().HangUp();
  AdvanceTime(MasterLink::kRetryMs);
  Greet("");
  SendFile(broken);
  CHECK(Replication("master_link_status") == "down");
  AdvanceTime(MasterLink::kRetryMs);
  Greet("PSYNC ? -1");
  // Nor after an error of the disk while the file was read.
  master().Answer("+CONTINUE\r\n");
  CHECK(Replication("master_link_status") == "down");
}

TEST_CASE_METHOD(ReplicaLoadTest,
                 "a replica whose load is broken off by another REPLICAOF asks for all keys") {
  std::vector<Words> requests;
  for (int i = 0; i < 500; ++i) requests.push_back({"SET", "k" + std::to_string(i), "new"});
  const std::string file = FileWith(requests);
  Sync(FileWith({{"SET", "old", "1"}}), 100);
  master().HangUp();
  AdvanceTime(MasterLink::kRetryMs);
  Greet("");
  AnswerFull();
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file);
  WorkUntil([this] { return snapshots().loading(); });
  REQUIRE(snapshots().loading());
  CHECK(Run({"REPLICAOF", "elsewhere", "7000"}) == Ok());
  CHECK_FALSE(snapshots().loading());
  AdvanceTime(0);
  Greet("PSYNC ? -1");
}

TEST_CASE_METHOD(
    ReplicaLoadTest,
    "whichever call of a replica's disk fails, it says so, and asks again until it has all keys") {
  std::vector<Words> requests;
  for (int i = 0; i < 300; ++i) requests.push_back({"SET", "k" + std::to_string(i), std::string(1000, 'v')});
  SetOption("rdbcompression", "no");
  const std::string file = FileWith(requests);
  Run({"SET", "old", "x"});
  size_t failures = 0;
  for (size_t call = 1;; ++call) {
    CAPTURE(call);
    const std::map<std::string, std::string> files = disk.files();
    disk.FailAt(call, call % 2 == 0 ? EIO : ENOSPC);
    if (call == 1)
      Connect();
    else
      Greet("");
    SendFile(file);
    if (Replication("master_link_status") == "up") {
      CHECK(call >= disk.calls());  // the last call closes the file that was read
      break;
    }
    ++failures;
    disk.FailAt(0, 0);
    CHECK(Replication("master_link_status") == "down");
    CHECK((disk.files() == files));  // nothing is left
    AdvanceTime(MasterLink::kRetryMs);
    REQUIRE(targets.count() == failures + 1);
  }
  CHECK(failures > 8);
  CHECK(Replication("master_link_status") == "up");
  CHECK(Run({"DBSIZE"}) == Integer(300));
  CHECK(Run({"GET", "old"}) == Null());
  disk.FailAt(0, 0);
}

}  // namespace mayfly::testing
