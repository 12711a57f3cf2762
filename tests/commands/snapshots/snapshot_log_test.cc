// What the log says of saves and loads, and the figures of INFO beside it.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log/log.h"
#include "commands/memory/failing_allocation.h"
#include "commands/replicas/replica_world.h"
#include "snapshot/format/crc64.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"
#include "support/folder.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

using Lines = std::vector<std::string>;
namespace opcode = rdb::opcode;

// A file of Redis 7.0, with a right checksum.
class FileText {
 public:
  explicit FileText(std::string_view head = "REDIS0010") : bytes_(head) {}

  rdb::Out& out() { return out_; }
  void Aux(std::string_view name, std::string_view value) {
    out_.Byte(opcode::kAux);
    out_.String(name);
    out_.String(value);
  }
  void Database(uint64_t index) {
    out_.Byte(opcode::kDatabase);
    out_.Length(index);
  }
  void Deadline(int64_t unix_ms) {
    out_.Byte(opcode::kDeadlineMs);
    out_.Millis(unix_ms);
  }
  void String(std::string_view key) {
    out_.Byte(rdb::type::kString);
    out_.String(key);
    out_.String("v");
  }
  // A set in which a member is twice.
  void BadSet(std::string_view key) {
    out_.Byte(rdb::type::kSet);
    out_.String(key);
    out_.Length(2);
    for (int i = 0; i < 2; ++i) out_.String("m");
  }
  void EmptySet(std::string_view key) {
    out_.Byte(rdb::type::kSet);
    out_.String(key);
    out_.Length(0);
  }
  void ModuleValue(std::string_view key) {
    out_.Byte(rdb::type::kModule);
    out_.String(key);
    for (const uint64_t number : {uint64_t{1}, rdb::module_part::kEnd}) out_.Length(number);
  }
  void ModuleRecord() {
    out_.Byte(opcode::kModuleAux);
    for (const uint64_t number : {uint64_t{1}, rdb::module_part::kEnd}) out_.Length(number);
  }
  void Library(std::string_view text) {
    out_.Byte(opcode::kFunction);
    out_.String(text);
  }
  std::string Whole() {
    std::string whole = bytes_ + static_cast<char>(opcode::kEnd);
    rdb::Out(whole).Checksum(rdb::Crc64(0, whole));
    return whole;
  }

 private:
  std::string bytes_;
  rdb::Out out_{bytes_};
};

class SnapshotLogTest : public SnapshotTest {
 public:
  SnapshotLogTest() { server().server.log = &log_; }
  ~SnapshotLogTest() { server().server.log = nullptr; }

  // The lines since the last call, each with its mark: '*' for a notice, '#' for a warning.
  Lines Said() {
    std::ifstream file(path_);
    Lines all;
    for (std::string line; std::getline(file, line);) {
      size_t at = 0;
      for (int word = 0; word < 5; ++word) at = line.find(' ', at) + 1;
      all.push_back(line.substr(at));
    }
    Lines fresh(all.begin() + static_cast<std::ptrdiff_t>(told_), all.end());
    told_ = all.size();
    return fresh;
  }
  // The lines that a load of this file adds after "loading ...", as a start loads it.
  Lines Load(const std::string& bytes) {
    disk.Put(kSnapshotPath, bytes);
    Said();
    snapshots().LoadSoon(now());
    FinishLoad();
    Lines lines = Said();
    REQUIRE_FALSE(lines.empty());
    CHECK(lines[0] == "* loading ./dump.rdb, " + std::to_string(bytes.size()) + " bytes");
    lines.erase(lines.begin());
    return lines;
  }
  static std::string Loaded(int keys, size_t bytes, int expired = 0, int overtaken = 0) {
    return "* loaded " + std::to_string(keys) + " keys of " + std::to_string(bytes) + " bytes in 0 ms; " +
           std::to_string(expired) + " had expired, " + std::to_string(overtaken) +
           " were changed or flushed by clients meanwhile, or come twice in the file";
  }

 private:
  Folder folder_;
  const std::string path_ = folder_ / "log";
  size_t told_ = 0;
  Log log_{server().clock, Log::Level::kNotice, path_};
};

const std::string kKeptLine =
    "# something of the file was left out, and the next save takes its place: it is kept as "
    "./dump.rdb.left-out, too";

}  // namespace

// ---- loads

TEST_CASE_METHOD(SnapshotLogTest, "the log and INFO say what a load has done with each thing in a file") {
  struct Row {
    std::function<void(FileText&)> write;
    Lines lines = {};  // after that with the counts
    int keys = 0;
    int expired = 0;
    int overtaken = 0;
    const char* skipped = "0";
    bool kept = false;
  };
  const auto over = [this](FileText& file) { file.Deadline(WallMs() - 1); };
  const std::string library = "#!lua name=lib\nredis.register_function('f', function() return 1 end)";
  const std::vector<Row> rows = {
      {.write = [](FileText&) {}},
      {.write = [](FileText& file) { file.String("k"); }, .keys = 1},
      {.write =
           [&](FileText& file) {
             over(file);
             file.String("k");
           },
       .expired = 1},
      {.write =
           [](FileText& file) {
             file.String("k");
             file.String("k");
           },
       .keys = 1,
       .overtaken = 1},
      {.write = [](FileText& file) { file.EmptySet("k"); },
       .lines = {"# skipped 1 keys without members"},
       .skipped = "1"},
      {.write = [](FileText& file) { file.ModuleValue("k"); },
       .lines = {"# skipped 1 keys with values of modules", kKeptLine},
       .skipped = "1",
       .kept = true},
      {.write = [](FileText& file) { file.ModuleRecord(); },
       .lines = {"# skipped 1 records of modules", kKeptLine},
       .kept = true},
      {.write = [&](FileText& file) { file.Library(library); },
       .lines = {"* loaded 1 libraries of functions"}},
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    Run({"FLUSHALL"});
    Run({"FUNCTION", "FLUSH"});
    disk.Remove(kSnapshotPath + ".left-out");
    FileText file;
    rows[i].write(file);
    const std::string bytes = file.Whole();
    Lines wanted = {Loaded(rows[i].keys, bytes.size(), rows[i].expired, rows[i].overtaken)};
    wanted.insert(wanted.end(), rows[i].lines.begin(), rows[i].lines.end());
    CHECK(Load(bytes) == wanted);
    CHECK(Info("rdb_last_load_keys_loaded") == std::to_string(rows[i].keys));
    CHECK(Info("rdb_last_load_keys_expired") == std::to_string(rows[i].expired));
    CHECK(Info("rdb_last_load_keys_skipped") == rows[i].skipped);
    CHECK(Info("rdb_last_load_bytes") == std::to_string(bytes.size()));
    CHECK(disk.files().contains(kSnapshotPath + ".left-out") == rows[i].kept);
    CHECK(stats().saves.load_problem == "");
  }
}

TEST_CASE_METHOD(SnapshotLogTest,
                 "a load tells of ten refused values and libraries, and counts all of them") {
  FileText file;
  for (int i = 0; i < 12; ++i) {
    file.Library("no library");
    file.BadSet("bad" + std::to_string(i));
  }
  const std::string bytes = file.Whole();
  const Lines lines = Load(bytes);
  const auto number_with = [&](std::string_view begin) {
    return std::ranges::count_if(lines, [&](const std::string& line) { return line.starts_with(begin); });
  };
  CHECK(number_with("# a library of functions is left out: ") == 10);
  CHECK(number_with("# a key of the file is left out: byte ") == 10);
  CHECK(lines.size() == 24);
  CHECK(lines[20] == Loaded(0, bytes.size()));
  CHECK(lines[21] == "# left out 12 keys with values that cannot be read");
  CHECK(lines[22] == "# left out 12 libraries of functions that cannot be loaded");
  CHECK(lines[23] == kKeptLine);
  CHECK(Info("rdb_last_load_keys_skipped") == "12");
  // The next load counts, and tells, from the beginning.
  disk.Remove(kSnapshotPath + ".left-out");
  CHECK(Load(bytes) == lines);
}

TEST_CASE_METHOD(SnapshotLogTest,
                 "the log names the fields of Mayfly's own that a load cannot read, at most ten") {
  FileText file;
  file.Aux("mayfly-ver", "0.1.0");
  file.Aux("explog-next", "x");
  file.Aux("explog", "xyz");
  file.String("before");
  file.Aux("m", "\x40");
  file.String("k\n");
  for (int i = 0; i < 10; ++i) {
    file.Aux("i", "x");
    file.String("key" + std::to_string(i));
  }
  const std::string bytes = file.Whole();
  const Lines lines = Load(bytes);
  const std::string begin = "# a field of the snapshot file is left out, for it cannot be read: ";
  REQUIRE(lines.size() == 13);
  CHECK(lines[0] == begin + "explog-next");
  CHECK(lines[1] == begin + "explog");
  CHECK(lines[2] == begin + "terms, of the key k\\x0a");
  CHECK(lines[3] == begin + "the time of use, of the key key0");
  CHECK(lines[9] == begin + "the time of use, of the key key6");
  CHECK(lines[10] == Loaded(12, bytes.size()));
  CHECK(lines[11] == "# left out what this version cannot read of 13 keys, or of the file itself");
  CHECK(lines[12] == kKeptLine);
  Run({"FLUSHALL"});
  CHECK(Load(bytes) == lines);
}

TEST_CASE_METHOD(SnapshotLogTest, "the log says when a load ends early, why, and what becomes of the file") {
  SetOption("rdbcompression", "no");
  FillWith(10);
  REQUIRE(Run({"SAVE"}) == Ok());
  const std::string bytes = disk.files().at(kSnapshotPath);
  Run({"FLUSHALL"});
  const std::string cut = bytes.substr(0, bytes.size() - 1);
  SECTION("of damage") {
    const Lines lines = Load(cut);
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].starts_with("# the load has ended early: ./dump.rdb is damaged at byte "));
    CHECK(lines[0].ends_with(": the file ends too early"));
    CHECK(lines[1].starts_with("* loaded 10 keys of "));
    CHECK(lines[2] == "# the file's name ends with .damaged now");
    CHECK(stats().saves.load_problem.starts_with("./dump.rdb is damaged at byte "));
    Run({"FLUSHALL"});
    CHECK(Load(bytes).size() == 1);
    CHECK(stats().saves.load_problem == "");
  }
  SECTION("of damage, and the file cannot be renamed") {
    disk.Put(kSnapshotPath, cut);
    Said();
    disk.piece = cut.size();
    disk.FailAt(5, EROFS);  // after an opening, two reads and a close
    snapshots().LoadSoon(now());
    FinishLoad();
    CHECK(Said().back() ==
          "# the file keeps its name, so that the next save takes its place: Read-only file system");
    CHECK(disk.files().contains(kSnapshotPath));
  }
  SECTION("of a version") {
    std::string newer = bytes;
    newer.replace(5, 4, "0099");
    const Lines lines = Load(newer);
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == "# the load has ended early: ./dump.rdb has version 99, which is not known");
    CHECK(lines[2] == "# the file's name ends with .unknown now");
  }
  SECTION("of a file that cannot be opened") {
    Said();
    disk.FailAt(1, EACCES);
    snapshots().LoadSoon(now());
    CHECK(Said() == Lines{"# nothing is loaded: cannot open ./dump.rdb: Permission denied",
                          "# the file's name ends with .unread now"});
  }
  SECTION("for want of room") {
    SetOption("maxkeys", "4");
    const Lines lines = Load(bytes);
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].starts_with("* loaded 4 keys of "));
    CHECK(lines[1] == "* the load has ended before the end of the file: maxmemory or maxkeys is reached");
    CHECK(lines[2] == kKeptLine);
  }
  SECTION("for want of room, and the file cannot be kept") {
    SetOption("maxkeys", "4");
    for (const char* end : {".left-out", ".left-out-2", ".left-out-3"}) disk.Put(kSnapshotPath + end, end);
    const Lines lines = Load(bytes);
    REQUIRE(lines.size() == 3);
    CHECK(lines[2] ==
          "# something of the file was left out, and the next save takes its place: it cannot be kept under "
          "another name: there are such files already");
    disk.Remove(kSnapshotPath + ".left-out-3");
    Run({"FLUSHALL"});
    CHECK(Load(bytes).back() == kKeptLine.substr(0, kKeptLine.find(".left-out")) + ".left-out-3, too");
  }
}

TEST_CASE_METHOD(SnapshotLogTest,
                 "keys of namespaces beyond the most that databases can have are left out, and counted") {
  std::string option;
  for (int i = 0; i < 16; ++i) option += " n" + std::to_string(i) + " prefix " + std::to_string(i) + ":";
  REQUIRE(Run({"CONFIG", "SET", "namespace", option.substr(1)}) == Ok());
  FileText file;
  for (int database = 0; database < 16; ++database) {
    file.Database(static_cast<uint64_t>(database));
    for (int i = 0; i < 16; ++i) file.String(std::to_string(i) + ":k");
  }
  const std::string bytes = file.Whole();
  const Lines lines = Load(bytes);
  int64_t keys = 0;
  for (int database = 0; database < 16; ++database) {
    Run({"SELECT", std::to_string(database)});
    keys += Run({"DBSIZE"}).integer;
  }
  Run({"SELECT", "0"});
  REQUIRE(keys < 256);
  CHECK(lines ==
        Lines{Loaded(static_cast<int>(keys), bytes.size()),
              "# left out " + std::to_string(256 - keys) + " keys: there are too many namespaces for them",
              kKeptLine});
  CHECK(Info("rdb_last_load_keys_skipped") == std::to_string(256 - keys));
}

TEST_CASE_METHOD(SnapshotLogTest, "stale values that a load brings are counted beside its keys") {
  Run({"SET", "k", "v", "PX", "10", "STALE", "60000"});
  AdvanceTime(10);
  REQUIRE(Run({"SAVE"}) == Ok());
  const std::string bytes = disk.files().at(kSnapshotPath);
  Run({"FLUSHALL"});
  CHECK(Load(bytes) == Lines{Loaded(0, bytes.size()), "* loaded 1 stale values"});
}

TEST_CASE_METHOD(SnapshotLogTest,
                 "hashes whose fields are all over are counted as expired, whoever wrote the file") {
  for (const bool ours : {false, true}) {
    CAPTURE(ours);
    Run({"FLUSHALL"});
    FileText file("REDIS0012");
    if (ours) file.Aux("mayfly-ver", "0.1.0");
    file.out().Byte(rdb::type::kHashTtl);
    file.out().String("hash");
    file.out().Millis(WallMs() - 1000);
    file.out().Length(1);
    file.out().Length(1);
    for (const char* text : {"f", "v"}) file.out().String(text);
    file.String("k");
    const std::string bytes = file.Whole();
    CHECK(Load(bytes) == Lines{Loaded(1, bytes.size(), 1)});
    CHECK(Info("rdb_last_load_keys_expired") == "1");
    CHECK(Info("rdb_last_load_keys_skipped") == "0");
  }
}

TEST_CASE_METHOD(SnapshotLogTest, "INFO shows how far a load is, and nothing of it afterwards") {
  SetOption("rdbcompression", "no");
  for (int i = 0; i < 100; ++i) Run({"SET", "key:" + std::to_string(i), std::string(1000, 'x')});
  Run({"SET", "over", "v", "PX", "500"});
  REQUIRE(Run({"SAVE"}) == Ok());
  const auto size = static_cast<double>(disk.files().at(kSnapshotPath).size());
  Run({"FLUSHALL"});
  LetTimePass(1500);
  disk.piece = 1000;
  const int64_t began_s = WallMs() / 1000;
  snapshots().LoadSoon(now());
  CHECK(Info("loading_total_bytes") == std::to_string(static_cast<int64_t>(size)));
  CHECK(Info("loading_loaded_bytes") == "0");
  CHECK(Info("loading_loaded_perc") == "0.00");
  CHECK(Info("loading_eta_seconds") == "1");
  while (Run({"DBSIZE"}).integer < 25) Slice(1);
  REQUIRE(snapshots().loading());
  LetTimePass(10'000);
  const double done = std::stod(Info("loading_loaded_bytes"));
  CHECK(done > 25'000);
  CHECK(done < 40'000);
  CHECK(Info("loading_start_time") == std::to_string(began_s));
  CHECK(Info("loading_loaded_perc").substr(0, 4) == std::to_string(100 * done / size).substr(0, 4));
  const double left_s = 10 * (size - done) / done;
  CHECK(std::abs(std::stod(Info("loading_eta_seconds")) - left_s) <= 0.5);
  CHECK(Info("rdb_last_load_keys_loaded") == std::to_string(Run({"DBSIZE"}).integer));
  FinishLoad();
  CHECK(Info("rdb_last_load_time_sec") == "10");
  CHECK(Info("rdb_last_load_keys_loaded") == "100");
  CHECK(Info("rdb_last_load_keys_expired") == "1");
  CHECK(Run({"INFO", "persistence"}).text.find("loading_") == Run({"INFO", "persistence"}).text.npos);
  CHECK(Said().back() ==
        "* loaded 100 keys of " + std::to_string(static_cast<int64_t>(size)) +
            " bytes in 10000 ms; 1 had expired, 0 were changed or flushed by clients meanwhile, "
            "or come twice in the file");
}

TEST_CASE_METHOD(SnapshotLogTest,
                 "the log says that a load ends because what clients remove can no longer be noted") {
  FillWith(3000);
  REQUIRE(Run({"SAVE"}) == Ok());
  Run({"FLUSHALL"});
  disk.piece = 1000;
  snapshots().LoadSoon(now());
  while (Run({"DBSIZE"}).integer == 0) Slice();
  REQUIRE(snapshots().loading());
  {
    const FailingAllocation failing(1);
    Snapshots::NoteGone(server().server, keyspace(), "still to come");
  }
  REQUIRE(AllocationFailed());
  Said();
  FinishLoad();
  const Lines lines = Said();
  REQUIRE(lines.size() == 3);
  CHECK(lines[1] ==
        "# the load has ended before the end of the file: clients have removed more keys and tags than "
        "10000000, or there was no memory to note one");
  CHECK(lines[2] == kKeptLine);
}

namespace {

class LoggingReplicaTest : public ReplicaTest {
 public:
  LoggingReplicaTest() { server().server.log = &log_; }
  ~LoggingReplicaTest() { server().server.log = nullptr; }
  bool HasLogged(std::string_view text) {
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) {
      if (line.ends_with(text)) return true;
    }
    return false;
  }

 private:
  Folder folder_;
  const std::string path_ = folder_ / "log";
  Log log_{server().clock, Log::Level::kNotice, path_};
};

}  // namespace

TEST_CASE_METHOD(LoggingReplicaTest,
                 "keys of a master's databases that do not exist here are left out, counted and logged") {
  FileText file;
  file.String("here");
  file.Database(16);
  file.String("there");
  file.String("there, too");
  file.Database(15);
  file.String("in the last one");
  Sync(file.Whole());
  CHECK(Run({"EXISTS", "here"}) == Integer(1));
  Run({"SELECT", "15"});
  CHECK(Run({"DBSIZE"}) == Integer(1));
  CHECK(Info("rdb_last_load_keys_loaded") == "2");
  CHECK(Info("rdb_last_load_keys_skipped") == "2");
  CHECK(HasLogged("# left out 2 keys of databases that do not exist here, or of other nodes' slots"));
  CHECK(HasLogged("come twice in the file"));
}

// ---- saves

TEST_CASE_METHOD(SnapshotLogTest, "the log says when a save begins and how it ends") {
  FillWith(7);
  Said();
  Run({"BGSAVE"});
  CHECK(Said() == Lines{"* saving 7 keys"});
  CHECK(Info("current_save_keys_total") == "7");
  CHECK(Info("current_save_keys_processed") == "0");
  CHECK(Info("rdb_current_bgsave_time_sec") == "0");
  LetTimePass(2500);
  CHECK(Info("rdb_current_bgsave_time_sec") == "2");
  FinishSave();
  const auto size = [this] { return std::to_string(disk.files().at(kSnapshotPath).size()); };
  CHECK(Said() == Lines{"* saved 7 keys, " + size() + " bytes, in 2500 ms"});
  CHECK(Info("rdb_last_bgsave_time_sec") == "2");
  CHECK(stats().saves.last_took_ms == 2500);
  CHECK(Info("rdb_last_save_bytes") == size());
  CHECK(Info("rdb_current_bgsave_time_sec") == "-1");
  CHECK(Info("current_save_keys_total") == "0");
  CHECK(Info("current_save_keys_processed") == "0");
  Run({"SAVE"});
  CHECK(Said() == Lines{"* saved 7 keys, " + size() + " bytes, in 0 ms"});
  CHECK(Info("rdb_last_bgsave_time_sec") == "0");

  Run({"BGSAVE"});
  Run({"BGSAVE", "CANCEL"});
  FinishSave();
  CHECK(Said() == Lines{"* saving 7 keys", "* the save was cancelled"});
  CHECK(stats().saves.last_problem == "");

  const std::string since = Info("rdb_last_save_time");
  LetTimePass(5000);
  for (const char* how : {"BGSAVE", "SAVE"}) {
    disk.FailAt(1, ENOSPC);
    Run({how});
    FinishSave();
    CHECK(Said().back().starts_with("# the save has failed: cannot make ./temp-"));
    CHECK(stats().saves.last_problem.ends_with(": No space left on device"));
    CHECK(Info("rdb_last_bgsave_status") == "err");
    CHECK(Info("rdb_last_save_time") == since);
    CHECK(Info("rdb_last_save_keys") == "7");
  }
  CHECK(Run({"SAVE"}) == Ok());
  CHECK(stats().saves.last_problem == "");
  CHECK(Info("rdb_last_save_time") == std::to_string(WallMs() / 1000));
  CHECK(Run({"LASTSAVE"}) == Integer(WallMs() / 1000));
}

TEST_CASE_METHOD(SnapshotLogTest, "without save points a failed save is not tried again") {
  FillWith(3);
  disk.FailAt(1, ENOSPC);
  Run({"BGSAVE"});
  FinishSave();
  REQUIRE(Info("rdb_last_bgsave_status") == "err");
  for (int i = 0; i < 10; ++i) {
    AdvanceTime(10'000);
    FinishSave();
  }
  CHECK(Info("rdb_saves") == "0");
  CHECK(disk.files().empty());
  CHECK(Run({"SET", "k", "v"}) == Ok());
}

TEST_CASE_METHOD(SnapshotLogTest, "a save point of no change, too, saves only if something was changed") {
  if (Run({"CONFIG", "SET", "save", "10 0"}) != Ok()) return;
  AdvanceTime(100'000);
  FinishSave();
  CHECK(Info("rdb_saves") == "0");
  Run({"SET", "k", "v"});
  AdvanceTime(10'000);
  FinishSave();
  CHECK(Info("rdb_saves") == "1");
}

TEST_CASE_METHOD(SnapshotLogTest,
                 "a load after one that FLUSHALL has ended is as any other: damage stops the start") {
  SetOption("save", "3600 1");
  FillWith(1000);
  REQUIRE(Run({"SAVE"}) == Ok());
  const std::string bytes = disk.files().at(kSnapshotPath);
  disk.piece = 500;
  snapshots().LoadSoon(now());
  REQUIRE(snapshots().loading());
  CHECK(Run({"FLUSHALL"}) == Ok());
  FinishLoad();
  SetOption("rdb-load-damaged", "no");
  Load(bytes.substr(0, bytes.size() - 1));
  CHECK(server().server.shutdown_requested);
  CHECK(snapshots().refused().starts_with("./dump.rdb is damaged at byte "));
}

TEST_CASE_METHOD(SnapshotLogTest, "the log says what FLUSHALL has done to a file that it cannot replace") {
  SetOption("stop-writes-on-bgsave-error", "no");
  FillWith(3);
  REQUIRE(Run({"SAVE"}) == Ok());
  SetOption("save", "3600 1");
  Said();
  disk.FailAt(1, ENOSPC);
  CHECK(Run({"FLUSHALL"}) == Ok());
  Lines lines = Said();
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].starts_with("# the save has failed: cannot make "));
  CHECK(lines[1] == "# removed ./dump.rdb, whose keys were flushed");
  // The folder is not synced.
  disk.FailAt(0, 0);
  REQUIRE(Run({"SAVE"}) == Ok());
  Said();
  disk.FailFrom(1, EIO);
  CHECK(Run({"FLUSHALL"}) == Ok());
  CHECK(Said().back() ==
        "# a restart brings flushed keys back: ./dump.rdb can be neither replaced nor removed: "
        "Input/output error");
  // There was none.
  CHECK(Run({"FLUSHALL"}) == Ok());
  lines = Said();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].starts_with("# the save has failed: "));
}

TEST_CASE_METHOD(SnapshotLogTest, "the log says what becomes of a snapshot that a client reads") {
  FillWith(3);
  TestClient& reader = Connect();
  reader.session().peer = "10.0.0.7:1234";
  Said();
  CHECK(reader.Run({"REPLCONF", "capa", "eof", "rdb-only", "1"}) == Ok());
  CHECK(reader.RunRaw("SYNC\r\n").empty());
  std::string stream;
  for (int turn = 0; turn < 1000 && snapshots().saving(); ++turn) {
    AdvanceTime(2);
    Slice();
    stream += reader.RunRaw("");
  }
  Lines lines = Said();
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "* sending a snapshot to 10.0.0.7:1234");
  CHECK(
      lines[1].starts_with("* sent a snapshot of 3 keys, " + std::to_string(stream.size()) + " bytes, in "));
  CHECK(Info("rdb_saves") == "0");
  CHECK(Info("rdb_last_save_keys") == "0");

  TestClient& second = Connect();
  CHECK(second.Run({"REPLCONF", "capa", "eof", "rdb-only", "1"}) == Ok());
  CHECK(second.RunRaw("SYNC\r\n").empty());
  Said();
  CHECK(Run({"BGSAVE", "CANCEL"}) == Simple("Background saving cancelled"));
  FinishSave();
  CHECK(Said() == Lines{"# no snapshot was sent: cancelled"});
  CHECK(second.session().Has(Mode::kDropped));
}

// ---- the start and the end

TEST_CASE_METHOD(SnapshotLogTest, "at the end the log says how many keys or changes no file has") {
  const auto end = [this] {
    Said();
    snapshots().End();
    return Said();
  };
  CHECK(end() == Lines{});
  FillWith(3);
  CHECK(end() == Lines{"* dropping 3 keys: nothing was saved"});
  Run({"DEL", "key:0", "key:1", "key:2"});
  CHECK(end() == Lines{});
  FillWith(3);
  REQUIRE(Run({"SAVE"}) == Ok());
  CHECK(end() == Lines{});
  Run({"SET", "key:0", "w"});
  Run({"DEL", "key:1"});
  CHECK(end() == Lines{"* dropping 2 changes since the file was saved; there are 2 keys"});

  const std::string bytes = disk.files().at(kSnapshotPath);
  SnapshotLogTest other;
  other.Load(bytes);
  const auto end_of_other = [&] {
    other.Said();
    other.snapshots().End();
    return other.Said();
  };
  CHECK(end_of_other() == Lines{});
  other.Run({"SET", "new", "v"});
  CHECK(end_of_other() == Lines{"* dropping 1 changes since the file was loaded; there are 4 keys"});
  other.disk.piece = 10;
  other.snapshots().LoadSoon(other.now());
  REQUIRE(other.snapshots().loading());
  const Lines lines = end_of_other();
  REQUIRE(lines.size() == 3);
  CHECK(lines[1] == "* nothing is saved during a load: the file stays what it is");
  CHECK_FALSE(other.snapshots().loading());
}

TEST_CASE_METHOD(SnapshotLogTest, "a start says that nothing will be saved, or cannot be") {
  const auto told = [this] {
    Said();
    snapshots().TellOfSavePoints();
    return Said();
  };
  const Lines nothing = {
      "* nothing will be saved: there are no save points. The keys go with this process, unless a client "
      "sends SAVE, BGSAVE or SHUTDOWN SAVE"};
  CHECK(told() == nothing);
  SetOption("shutdown-on-sigterm", "save");
  CHECK(told() == Lines{});
  SetOption("shutdown-on-sigterm", "nosave");
  CHECK(told() == nothing);
  SetOption("save", "3600 1");
  CHECK(told() == Lines{});
  disk.FailAt(1, EACCES);
  Lines lines = told();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].starts_with("# nothing can be saved: the user "));
  CHECK(
      lines[0].ends_with(" of this process cannot write into ./: Permission denied; give it that folder, "
                         "name another by dir, or set save \"\""));
  SetOption("save", "");
  SetOption("shutdown-on-sigterm", "save");
  disk.FailAt(1, EACCES);
  CHECK(told() == Lines{});
}

}  // namespace mayfly::testing
