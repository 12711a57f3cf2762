// A replica whose disk fails, or whose master's snapshot breaks off: what it has, what it says, and from where it goes on.
#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/log/log.h"
#include "commands/replicas/replica_world.h"
#include "snapshot/format/crc64.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"
#include "support/folder.h"

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

// A replica with a log, whose master is of a newer version.
class NewerMasterTest : public ReplicaLoadTest {
 public:
  NewerMasterTest() { server().server.log = &log_; }
  ~NewerMasterTest() { server().server.log = nullptr; }

  // The file with this version in its head, and with the right checksum.
  static std::string OfVersion(std::string_view version, std::string file) {
    file.replace(std::string_view("REDIS").size(), version.size(), version);
    file.resize(file.size() - sizeof(uint64_t));
    rdb::Out(file).Checksum(rdb::Crc64(0, file));
    return file;
  }
  std::string NewerFile() { return OfVersion("0099", FileWith({{"SET", "a", "1"}})); }
  // The lines of the log since the last call.
  std::vector<std::string> Said() {
    std::ifstream file(path_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(told_));
    told_ += lines.size();
    return lines;
  }
  static bool Has(const std::vector<std::string>& lines, std::string_view text) {
    return std::ranges::any_of(lines,
                               [text](const std::string& line) { return line.find(text) != line.npos; });
  }

 private:
  Folder folder_;
  const std::string path_ = folder_ / "log";
  size_t told_ = 0;
  Log log_{server().clock, Log::Level::kNotice, path_};
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

TEST_CASE_METHOD(
    NewerMasterTest,
    "a replica says that its master's keys have taken the place of its own when they have, and not before") {
  const std::string newer = NewerFile();
  const std::string file = FileWith({{"SET", "a", "1"}});
  Run({"SET", "old", "x"});
  Connect();
  SendFile(newer);
  CHECK(Run({"GET", "old"}) == Bulk("x"));
  std::vector<std::string> lines = Said();
  CHECK(Has(lines, " * received " + std::to_string(newer.size()) + " bytes, which are loaded now"));
  CHECK(Has(lines, "has version 99, which is not known"));
  CHECK_FALSE(Has(lines, "the place of"));
  AdvanceTime(MasterLink::kRetryMs);
  Greet();
  SendFile(file);
  CHECK(Run({"GET", "old"}) == Null());
  CHECK(
      Said().back().ends_with(" * the link to the master is up: its keys have taken the place of all others, "
                              "and its stream begins at byte "
                              "100"));
}

TEST_CASE_METHOD(
    NewerMasterTest,
    "a replica whose master's snapshot has an unknown version keeps its functions, as its keys") {
  const std::string newer = NewerFile();
  const auto library = [](const std::string& name) {
    return "#!lua name=" + name + "\nredis.register_function('" + name + "', function() return 'one' end)";
  };
  Run({"FUNCTION", "LOAD", library("theirs")});
  const std::string file = FileWith({});
  Run({"FUNCTION", "FLUSH"});
  Run({"FUNCTION", "LOAD", library("own")});
  Connect();
  SendFile(newer);
  CHECK(Run({"FUNCTION", "LIST"}).elements.size() == 1);
  AdvanceTime(MasterLink::kRetryMs);
  Greet();
  SendFile(file);
  REQUIRE(Run({"FUNCTION", "LIST"}).elements.size() == 1);
  CHECK(Run({"FUNCTION", "LIST", "LIBRARYNAME", "theirs"}).elements.size() == 1);
}

TEST_CASE_METHOD(NewerMasterTest,
                 "a snapshot of an unknown version is asked for again after pauses that double, up to a "
                 "minute, until all is well") {
  const std::string newer = NewerFile();
  const std::string file = FileWith({{"SET", "a", "1"}});
  Run({"SET", "old", "x"});
  Connect();
  uint64_t pause_ms = MasterLink::kRetryMs;
  for (size_t attempt = 1; attempt <= 9; ++attempt) {
    CAPTURE(attempt);
    SendFile(newer);
    CHECK(Replication("master_link_status") == "down");
    CHECK(Run({"GET", "old"}) == Bulk("x"));
    AdvanceTime(pause_ms - 1);
    CHECK(targets.count() == attempt);
    AdvanceTime(1);
    REQUIRE(targets.count() == attempt + 1);
    Greet();
    pause_ms = std::min(2 * pause_ms, MasterLink::kMostRetryMs);
  }
  CHECK(pause_ms == MasterLink::kMostRetryMs);
  SendFile(file);
  CHECK(Replication("master_link_status") == "up");
  master().HangUp();
  for (size_t attempt = 11; attempt <= 12; ++attempt) {  // from the first pause on
    AdvanceTime(MasterLink::kRetryMs);
    REQUIRE(targets.count() == attempt);
    Greet("");
    SendFile(newer);
  }
}

TEST_CASE_METHOD(
    NewerMasterTest,
    "a broken connection is tried each second also between snapshots that are not known, and does not "
    "shorten their pauses") {
  const std::string newer = NewerFile();
  Connect();
  SendFile(newer);
  AdvanceTime(MasterLink::kRetryMs);
  Greet();
  master().HangUp();
  AdvanceTime(MasterLink::kRetryMs);
  REQUIRE(targets.count() == 3);
  Greet();
  SendFile(newer);
  AdvanceTime(2 * MasterLink::kRetryMs - 1);
  CHECK(targets.count() == 3);
  AdvanceTime(1);
  CHECK(targets.count() == 4);
}

TEST_CASE_METHOD(NewerMasterTest,
                 "REPLICAOF ends the pause after a snapshot that is not known, whichever master it names") {
  const std::string newer = NewerFile();
  const bool same = GENERATE(true, false);
  CAPTURE(same);
  Connect();
  for (int attempt = 0; attempt < 4; ++attempt) {
    SendFile(newer);
    AdvanceTime(MasterLink::kRetryMs << attempt);
    Greet();
  }
  SendFile(newer);
  const size_t asked = targets.count();
  AdvanceTime(MasterLink::kRetryMs);
  REQUIRE(targets.count() == asked);
  CHECK(Run({"REPLICAOF", same ? "there" : "elsewhere", "7000"}) ==
        (same ? Simple("OK Already connected to specified master") : Ok()));
  AdvanceTime(0);
  REQUIRE(targets.count() == asked + 1);
  Greet();
  SendFile(newer);
  AdvanceTime(MasterLink::kRetryMs);
  CHECK(targets.count() == asked + 2);
}

TEST_CASE_METHOD(NewerMasterTest,
                 "the log says once that a master's snapshot is not known, and again at each longer pause") {
  const std::string newer = NewerFile();
  Said();
  Connect();
  SendFile(newer);
  std::vector<std::string> lines = Said();
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].ends_with(" * following the master there:7000"));
  CHECK(lines[1].ends_with(" * the master sends all its keys"));
  CHECK(lines[2].ends_with(" bytes, which are loaded now"));
  CHECK(lines[3].find(" # no link to the master there:7000: its snapshot cannot be loaded: ") !=
        std::string::npos);
  CHECK(lines[3].ends_with(" has version 99, which is not known; the next attempt is in 1 s"));
  for (const int pause_s : {2, 4, 8, 16, 32, 60, 60, 60}) {
    AdvanceTime(MasterLink::kMostRetryMs);
    Greet();
    SendFile(newer);
    lines = Said();
    REQUIRE(lines.size() == 1);  // at the longest pause, one in a minute
    CHECK(lines[0].ends_with("; the next attempt is in " + std::to_string(pause_s) + " s"));
  }
}

TEST_CASE_METHOD(
    NewerMasterTest,
    "a value of an unknown type is asked for again after longer pauses, too; the keys before it stay, "
    "and the log names what is left out once") {
  FileWith({});
  const std::string bytes = [] {
    std::string text = "REDIS0010";
    rdb::Out out(text);
    const auto field = [&out](std::string_view name, std::string_view value) {
      out.Byte(rdb::opcode::kAux);
      out.String(name);
      out.String(value);
    };
    field("mayfly-ver", "9.0.0");
    field("new", "of the file");
    for (const uint8_t type : {rdb::type::kString, uint8_t{200}}) {
      out.Byte(type);
      out.String("key of type " + std::to_string(type));
      out.String("v");
    }
    out.Byte(rdb::opcode::kEnd);
    out.Checksum(rdb::Crc64(0, text));
    return text;
  }();
  Run({"SET", "old", "x"});
  Connect();
  SendFile(bytes);
  CHECK(Run({"DBSIZE"}) == Integer(2));
  CHECK(Run({"GET", "old"}) == Bulk("x"));
  std::vector<std::string> lines = Said();
  CHECK(Has(lines, "# a field of the snapshot file is left out, for it cannot be read: new"));
  CHECK(
      lines.back().ends_with(", key key of type 200: a value of the unknown type 200 (after 1 keys, which "
                             "are loaded); the next attempt is "
                             "in 1 s"));
  AdvanceTime(MasterLink::kRetryMs);
  Greet();
  SendFile(bytes);
  lines = Said();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].ends_with("; the next attempt is in 2 s"));
}

TEST_CASE_METHOD(NewerMasterTest,
                 "a record of a module is asked for again after longer pauses if rdb-skip-unknown is no") {
  SetOption("rdb-skip-unknown", "no");
  std::string bytes = "REDIS0010";
  rdb::Out out(bytes);
  out.Byte(rdb::opcode::kModuleAux);
  for (const uint64_t number : {uint64_t{1}, rdb::module_part::kEnd}) out.Length(number);
  out.Byte(rdb::opcode::kEnd);
  out.Checksum(rdb::Crc64(0, bytes));
  Connect();
  for (const size_t pause_s : {1, 2, 4}) {
    SendFile(bytes);
    CHECK(Said().back().ends_with(", and rdb-skip-unknown is no; the next attempt is in " +
                                  std::to_string(pause_s) + " s"));
    AdvanceTime(pause_s * 1000);
    Greet();
  }
}

}  // namespace mayfly::testing
