// Edges of saves and loads: no name for the file, values without a living member, a client's snapshot that is complete, requests
// beside a load, and memory that a load holds.
#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/log/log.h"
#include "commands/memory/failing_allocation.h"
#include "snapshot/disk/file_reader.h"
#include "snapshot/file_check.h"
#include "snapshot/format/crc64.h"
#include "snapshot/format/dump_footer.h"
#include "snapshot/format/rdb_in.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"
#include "snapshot/saver.h"
#include "support/folder.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

class SnapshotEdgesTest : public SnapshotTest {
 public:
  SnapshotEdgesTest() { server().server.log = &log_; }
  ~SnapshotEdgesTest() { server().server.log = nullptr; }

  // What the log has, line by line.
  std::vector<std::string> LogLines() {
    std::ifstream file(path_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  bool HasLogged(std::string_view text) { return CountLogged(text) != 0; }
  std::ptrdiff_t CountLogged(std::string_view text) {
    return std::ranges::count_if(LogLines(), [&](const std::string& line) { return line.ends_with(text); });
  }
  // A file that is loaded in many slices.
  void BeginLoad() {
    disk.piece = 500;
    snapshots().LoadSoon(now());
    REQUIRE(snapshots().loading());
  }
  bool stops() { return server().server.shutdown_requested; }

 private:
  Folder folder_;
  const std::string path_ = folder_ / "log";
  Log log_{server().clock, Log::Level::kNotice, path_};
};

}  // namespace

// ---- no name for the file

TEST_CASE_METHOD(SnapshotEdgesTest,
                 "without a name for the file nothing is saved, and each way to save says so") {
  StartWith("dbfilename", "");
  SetOption("save", "10 1");
  FillWith(3);
  const Reply refused = Error("ERR dbfilename is empty");
  CHECK(Run({"SAVE"}) == refused);
  CHECK(Run({"BGSAVE"}) == refused);
  CHECK(Run({"BGSAVE", "SCHEDULE"}) == refused);
  CHECK(Run({"FLUSHALL"}) == Ok());
  CHECK(disk.files().empty());
  CHECK(snapshots().LoadNow({}, now()) == "dbfilename is empty");
  snapshots().LoadSoon(now());
  CHECK_FALSE(snapshots().loading());
  // A save point tries again after some seconds, not in each turn.
  CHECK(LogLines().empty());
  Run({"SET", "k", "v"});
  for (int ms = 0; ms < 22'000; ms += 100) AdvanceTime(100);
  CHECK(CountLogged("# the save has failed: dbfilename is empty") == 3);
  CHECK(disk.files().empty());
}

TEST_CASE_METHOD(SnapshotEdgesTest,
                 "a stop that is to save, and has no name for the file, is none, and the log says why") {
  StartWith("dbfilename", "");
  SetOption("stop-writes-on-bgsave-error", "no");
  TestClient& chief = Connect();
  Run({"SET", "k", "v"});
  SECTION("in slices") {
    CHECK(chief.RunRaw("SHUTDOWN SAVE\r\n").empty());
    for (int turn = 0; turn < 4; ++turn) AdvanceTime(0);
    CHECK(chief.RunRaw("") == "-ERR Errors trying to SHUTDOWN. Check logs.\r\n");
    CHECK_FALSE(stops());
    CHECK(HasLogged("# the save has failed: dbfilename is empty"));
  }
  SECTION("at once") {
    CHECK(chief.Run({"SHUTDOWN", "NOW", "SAVE"}) == Error("ERR Errors trying to SHUTDOWN. Check logs."));
    CHECK_FALSE(stops());
  }
  SECTION("forced") {
    CHECK(chief.Run({"SHUTDOWN", "NOW", "SAVE", "FORCE"}) == NoReply());
    CHECK(stops());
    CHECK(HasLogged("# stopping without the save (force)"));
    return;
  }
  CHECK(HasLogged(
      "# not stopping, because the save has failed: SHUTDOWN NOSAVE, or the word force, stops without it"));
}

TEST_CASE_METHOD(SnapshotEdgesTest,
                 "the log says that a stop gives a running save up, and nothing of one that does not run") {
  const bool saves = GENERATE(false, true);
  CAPTURE(saves);
  FillWith(1000);
  if (saves) Run({"BGSAVE"});
  TestClient& chief = Connect();
  CHECK(chief.RunRaw("SHUTDOWN SAVE\r\n").empty());
  AdvanceTime(0);
  FinishSave();
  for (int turn = 0; turn < 3; ++turn) AdvanceTime(0);
  CHECK(stops());
  CHECK(HasLogged("* a running save is given up: the server saves to stop") == saves);
  CHECK_FALSE(HasLogged("* the save was cancelled"));
  CHECK(CountLogged("* saving 1000 keys") == (saves ? 2 : 1));
}

// ---- BGSAVE's words

TEST_CASE_METHOD(SnapshotEdgesTest, "BGSAVE takes one word, SCHEDULE or CANCEL, in any case") {
  FillWith(300);
  const Reply syntax = Error("ERR syntax error");
  for (const std::vector<std::string>& request :
       std::vector<std::vector<std::string>>{{"BGSAVE", "NOW"},
                                             {"BGSAVE", ""},
                                             {"BGSAVE", "SCHEDULE", "SCHEDULE"},
                                             {"BGSAVE", "SCHEDULE", "CANCEL"},
                                             {"BGSAVE", "CANCEL", "CANCEL"}}) {
    CHECK(Run(request) == syntax);
    CHECK_FALSE(snapshots().saving());
  }
  CHECK(Run({"SAVE", "x"}) == Error("ERR wrong number of arguments for 'save' command"));
  CHECK(Run({"BGSAVE", "schedule"}) == Simple("Background saving started"));
  CHECK(snapshots().saving());
  const Reply running = Error("ERR Background save already in progress");
  CHECK(Run({"BGSAVE", "SCHEDULE"}) == running);
  CHECK(Run({"BGSAVE", "CANCEL", "x"}) == syntax);
  Run({"MULTI"});
  Run({"BGSAVE"});
  CHECK(Run({"EXEC"}) == Array({running}));
  CHECK(Run({"BGSAVE", "cancel"}) == Simple("Background saving cancelled"));
  CHECK(Run({"SAVE"}) == running);  // of which something is left to do
  FinishSave();
  CHECK(disk.files().empty());
  for (int ms = 0; ms < 20'000; ms += 1000) {
    AdvanceTime(1000);
    CHECK_FALSE(snapshots().saving());  // nothing was scheduled
  }
}

TEST_CASE_METHOD(SnapshotEdgesTest, "a save that is scheduled begins once, also without save points") {
  FillWith(300);
  Run({"BGSAVE"});
  Slice();
  Run({"BGSAVE", "CANCEL"});
  for (int i = 0; i < 3; ++i) CHECK(Run({"BGSAVE"}) == Simple("Background saving scheduled"));
  FinishSave();
  for (int turn = 0; turn < 5; ++turn) {
    AdvanceTime(1);
    FinishSave();
  }
  CHECK(Info("rdb_saves") == "1");
  CHECK(Info("rdb_last_save_keys") == "300");
}

// ---- what is in a file

TEST_CASE_METHOD(SnapshotEdgesTest, "a file says who made it, when, and with how much memory") {
  FillWith(3);
  for (const char* compression : {"yes", "no"}) {
    SetOption("rdbcompression", compression);
    REQUIRE(Run({"SAVE"}) == Ok());
    std::vector<std::string> lines;
    CHECK(CheckSnapshotFile(disk, kSnapshotPath, now(),
                            [&](const std::string& line) { lines.push_back(line); }) == "");
    REQUIRE(lines.size() == 12);
    CHECK(lines[0] == "version: 10");
    CHECK(lines[1].starts_with("field redis-ver: 7."));
    CHECK(lines[2] == "field redis-bits: 64");
    CHECK(lines[3] == "field ctime: " + std::to_string(WallMs() / 1000));
    CHECK(lines[4].starts_with("field used-mem: "));
    CHECK(std::stoull(lines[4].substr(16)) > 1000);
    CHECK(lines[5] == "field aof-base: 0");
    CHECK(lines[6].starts_with("field mayfly-ver: 0."));
    CHECK(lines[7] == "keys: 3");
    CHECK(lines[11] == "checksum: OK");
  }
}

TEST_CASE_METHOD(
    SnapshotEdgesTest,
    "a large value whose members are all over is not in the file, and its neighbours have their idle times") {
  const std::string type = GENERATE("hash", "set", "zset");
  CAPTURE(type);
  const bool in_slices = GENERATE(false, true);
  CAPTURE(in_slices);
  for (int i = 0; i < 2000; ++i) {
    const std::string member = "m" + std::to_string(i) + std::string(50, 'x');
    if (type == "hash") {
      Run({"HSET", "dead", member, "v"});
      Run({"HPEXPIRE", "dead", "100000", "FIELDS", "1", member});
    } else if (type == "set") {
      Run({"SADDEX", "dead", "100", member});
    } else {
      Run({"ZADD", "dead", "1", member});
      Run({"EXPIREMEMBER", "dead", member, "100"});
    }
  }
  LetTimePass(6'400);
  Run({"SET", "cold", "v"});
  Run({"DEBUG", "SET-ACTIVE-EXPIRE", "0"});
  LetTimePass(64'000);
  Run({"SET", "hot", "v"});
  LetTimePass(64'000);  // more than the members have
  if (in_slices) {
    CHECK(Run({"BGSAVE"}) == Simple("Background saving started"));
    FinishSave();
  } else {
    CHECK(Run({"SAVE"}) == Ok());
  }
  CHECK(Info("rdb_last_save_keys") == "2");
  SnapshotTest other;
  other.LetTimePass(1'000'000);
  other.disk.Put(kSnapshotPath, disk.files().at(kSnapshotPath));
  REQUIRE(other.snapshots().LoadNow({}, other.now()) == "");
  CHECK(other.Run({"DBSIZE"}) == Integer(2));
  CHECK(other.Run({"OBJECT", "IDLETIME", "hot"}) == Integer(64));
  CHECK(other.Run({"OBJECT", "IDLETIME", "cold"}) == Integer(128));
}

TEST_CASE_METHOD(SnapshotEdgesTest,
                 "INFO shows how many keys a running save has, of how many in all databases") {
  SetOption("rdbcompression", "no");
  for (const char* database : {"0", "5"}) {
    Run({"SELECT", database});
    FillWith(500);
  }
  CHECK(Run({"BGSAVE"}) == Simple("Background saving started"));
  CHECK(Info("current_save_keys_total") == "1000");
  CHECK(Info("current_save_keys_processed") == "0");
  int64_t last = 0;
  int steps = 0;
  for (; snapshots().saving(); Slice(16)) {
    const int64_t done = std::stoll(Info("current_save_keys_processed"));
    CHECK(done >= last);
    CHECK(done <= 1000);
    steps += done > last ? 1 : 0;
    last = done;
  }
  CHECK(steps > 10);
  CHECK(Info("rdb_last_save_keys") == "1000");
  CHECK(Info("current_save_keys_processed") == "0");
}

TEST_CASE_METHOD(SnapshotEdgesTest,
                 "a large value that only the save has had is freed in slices, and not at once") {
  for (int i = 0; i < 3000; ++i) Run({"HSET", "hash", "f" + std::to_string(i), std::string(100, 'v')});
  CHECK(Run({"BGSAVE"}) == Simple("Background saving started"));
  Slice(1);
  CHECK(Run({"DEL", "hash"}) == Integer(1));
  const uint64_t before = server().databases.waiting_bytes();
  CHECK(before < 100'000);
  FinishSave();
  CHECK(server().databases.waiting_bytes() > before + 300'000);
  while (server().databases.FreeSome(100)) {
  }
  CHECK(server().databases.waiting_bytes() == 0);
}

// ---- a snapshot for a client

TEST_CASE_METHOD(SnapshotEdgesTest, "BGSAVE CANCEL is too late for a snapshot that a client has whole") {
  FillWith(3);
  TestClient& reader = Connect();
  CHECK(reader.Run({"REPLCONF", "capa", "eof", "rdb-only", "1"}) == Ok());
  CHECK(reader.RunRaw("SYNC\r\n").empty());
  std::string stream;
  for (int turn = 0; turn < 10;
       ++turn) {  // no thread and no alarm is heard: the save does not know of the end
    if (server().sliced_work.waits())
      server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, 1000);
    AdvanceTime(2);
    stream += reader.RunRaw("");
  }
  REQUIRE(snapshots().saving());
  REQUIRE(stream.size() > 100);
  CHECK(Run({"BGSAVE", "CANCEL"}) ==
        Error("ERR Background saving is currently not in progress or scheduled"));
  FinishSave();
  CHECK_FALSE(HasLogged("# no snapshot was sent: cancelled"));
  CHECK_FALSE(reader.session().Has(Mode::kDropped));
}

TEST_CASE_METHOD(SnapshotEdgesTest,
                 "whichever allocation fails while FLUSHALL empties the file beside a client's snapshot, no "
                 "key stays in it") {
  SetOption("save", "3600 1");
  SetOption("stop-writes-on-bgsave-error", "no");
  std::set<std::string> problems;
  for (size_t nth = 1;; ++nth) {
    CAPTURE(nth);
    FillWith(300);
    REQUIRE(Run({"SAVE"}) == Ok());
    TestClient& reader = Connect();
    CHECK(reader.Run({"REPLCONF", "capa", "eof", "rdb-only", "1"}) == Ok());
    CHECK(reader.RunRaw("SYNC\r\n").empty());
    REQUIRE(snapshots().saving());
    server().databases.FlushAll(now());
    bool threw = false;
    {
      const FailingAllocation failing(nth);
      try {
        snapshots().NoteAllFlushed(now());
      } catch (const std::bad_alloc&) {
        threw = true;
      }
    }
    const bool failed = AllocationFailed();
    if (!threw) {
      problems.insert(stats().saves.last_problem);
      const auto files = disk.files();
      if (files.contains(kSnapshotPath)) {
        CHECK(std::string_view(files.at(kSnapshotPath)).find("key:") == std::string_view::npos);
      }
      CHECK(failed == (stats().saves.last_problem != ""));
    }
    snapshots().Cancel();
    FinishSave();
    if (!failed) break;
  }
  CHECK(problems.contains(""));
  CHECK(problems.contains("out of memory"));
}

// ---- beside a load

TEST_CASE_METHOD(SnapshotEdgesTest, "during a load nothing is saved, and nobody gets a snapshot") {
  FillWith(2000);
  REQUIRE(Run({"SAVE"}) == Ok());
  const std::string file = disk.files().at(kSnapshotPath);
  Run({"FLUSHALL"});
  BeginLoad();
  for (const std::vector<std::string>& request : std::vector<std::vector<std::string>>{
           {"SAVE"}, {"BGSAVE"}, {"BGSAVE", "SCHEDULE"}, {"DEBUG", "RELOAD"}}) {
    CAPTURE(request[0]);
    CHECK(Run(request).kind == Reply::Kind::kError);
  }
  CHECK(snapshots().SaveSoon(now()) == "the file is being loaded");
  CHECK(snapshots().SaveNow(now()) == "the file is being loaded");
  TestClient& reader = Connect();
  CHECK(snapshots().SendSoon(reader.session(), {}, now()) == "the file is being loaded");
  CHECK_FALSE(snapshots().saving());
  FinishLoad();
  CHECK(Run({"DBSIZE"}) == Integer(2000));
  CHECK((disk.files().at(kSnapshotPath) == file));
  CHECK(Info("rdb_saves") == "1");
}

TEST_CASE_METHOD(SnapshotEdgesTest, "what a load holds in memory is counted until it ends, however it ends") {
  SetOption("rdbcompression", "no");
  for (int i = 0; i < 30; ++i) Run({"SET", "k" + std::to_string(i), std::string(100'000, 'x')});
  REQUIRE(Run({"SAVE"}) == Ok());
  Run({"FLUSHALL"});
  const uint64_t before = server().hubs.accounts.Sum();
  constexpr uint64_t kAhead = FileReader::kAhead * FileReader::kChunkBytes;
  snapshots().LoadSoon(now());
  CHECK(server().hubs.accounts.Sum() - before >= kAhead);
  uint64_t most = 0;
  while (Run({"DBSIZE"}).integer < 10) {
    Slice(1);
    most = std::max(most, server().hubs.accounts.Sum() - before);
  }
  CHECK(most >= kAhead + 50'000);
  // With what clients remove meanwhile, and what of the file is ahead.
  const uint64_t without_claims = server().hubs.accounts.Sum();
  for (int i = 0; i < 150'000; ++i)
    Snapshots::NoteGone(server().server, keyspace(), "absent" + std::to_string(i));
  Slice(1);
  CHECK(server().hubs.accounts.Sum() > without_claims + 500'000);
  SECTION("at its end") { FinishLoad(); }
  SECTION("by a stop") { snapshots().End(); }
  SECTION("by damage") {
    snapshots().End();
    disk.Put(kSnapshotPath, disk.files().at(kSnapshotPath).substr(0, 1'000'000));
    snapshots().LoadSoon(now());
    FinishLoad();
  }
  CHECK(server().hubs.accounts.Sum() == before);
}

TEST_CASE_METHOD(SnapshotEdgesTest,
                 "a RESTORE whose deadline is over keeps the file's key from coming, too") {
  Run({"SET", "k", "file"});
  Run({"SET", "l", "file"});
  Run({"SET", "m", "file"});
  REQUIRE(Run({"SAVE"}) == Ok());
  Run({"HSET", "hash", "f", "v"});
  Run({"HPEXPIRE", "hash", "10", "FIELDS", "1", "f"});
  const std::string over = Run({"DUMP", "hash"}).text;
  const std::string text = Run({"DUMP", "k"}).text;
  Run({"FLUSHALL"});
  LetTimePass(20);
  disk.piece = 1;
  snapshots().LoadSoon(now());
  CHECK(Run({"RESTORE", "k", "1", text, "ABSTTL"}) == Ok());
  CHECK(Run({"RESTORE", "l", "0", over}) == Ok());
  FinishLoad();
  CHECK(Run({"EXISTS", "k", "l"}) == Integer(0));
  CHECK(Run({"GET", "m"}) == Bulk("file"));
}

// ---- streams that say a wrong length

TEST_CASE_METHOD(SnapshotEdgesTest, "the log names streams that say a wrong length, in a load at most ten") {
  SetOption("rdbcompression", "no");
  for (int i = 1; i <= 3; ++i) Run({"XADD", "s", std::to_string(i) + "-0", "f", "v"});
  std::string payload = Run({"DUMP", "s"}).text;
  const std::string right = payload;
  payload.resize(payload.size() - rdb::kDumpFooterBytes);
  rdb::In in(std::string_view(payload).substr(1));
  uint64_t nodes = 0;
  std::string_view text;
  REQUIRE(in.Length(nodes) == rdb::ReadStatus::kOk);
  for (int i = 0; i < 2; ++i) REQUIRE(in.String(text) == rdb::ReadStatus::kOk);
  payload[1 + in.at()] = 63;
  std::string bytes = "REDIS0010";
  rdb::Out out(bytes);
  for (int i = 0; i < 12; ++i) {
    out.Byte(static_cast<uint8_t>(payload[0]));
    out.String("s" + std::to_string(i));
    out.Bytes(std::string_view(payload).substr(1));
  }
  out.Byte(rdb::opcode::kEnd);
  out.Checksum(rdb::Crc64(0, bytes));
  disk.Put(kSnapshotPath, bytes);
  REQUIRE(snapshots().LoadNow({}, now()) == "");
  const std::string end = " says a wrong length in the file; its true length counts";
  CHECK(CountLogged(end) == 10);
  CHECK(HasLogged("# the stream s0" + end));
  CHECK(HasLogged("# the stream s9" + end));
  CHECK(Run({"XLEN", "s11"}) == Integer(3));
  rdb::AppendDumpFooter(payload, rdb::version::kRedis70);
  CHECK(Run({"RESTORE", "t", "0", payload}) == Ok());
  const std::string restored = ": the stream says a wrong length, and has its true length now";
  CHECK(HasLogged("# RESTORE of t" + restored));
  CHECK(Run({"RESTORE", "u", "0", right}) == Ok());
  CHECK(CountLogged(restored) == 1);
}

}  // namespace mayfly::testing
