// What is not to be lost, and what is not to come back: files that a load cannot load whole, flushes beside a save or a load, and
// saves that are cancelled at their end.
#include <cerrno>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/log/log.h"
#include "commands/memory/failing_allocation.h"
#include "commands/replicas/follow_world.h"
#include "commands/snapshots/disk_gate.h"
#include "snapshot/file_check.h"
#include "snapshot/format/crc64.h"
#include "snapshot/format/dump_footer.h"
#include "snapshot/format/rdb_in.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"
#include "snapshot/key_terms.h"

namespace mayfly::testing {
namespace {

namespace opcode = rdb::opcode;

const std::string kKept = kSnapshotPath + ".left-out";

// A file of Redis 7.0 with what `write` appends, between the strings "before" and "after".
std::string FileOf(const std::function<void(rdb::Out&)>& write, bool right_checksum = true) {
  std::string bytes = "REDIS0010";
  rdb::Out out(bytes);
  const auto string = [&out](std::string_view key) {
    out.Byte(rdb::type::kString);
    out.String(key);
    out.String("v");
  };
  string("before");
  write(out);
  string("after");
  out.Byte(opcode::kEnd);
  out.Checksum(rdb::Crc64(0, bytes) ^ (right_checksum ? 0 : 1));
  return bytes;
}

// A value of this type named "bad".
std::function<void(rdb::Out&)> Bad(uint8_t type, const std::function<void(rdb::Out&)>& value) {
  return [=](rdb::Out& out) {
    out.Byte(type);
    out.String("bad");
    value(out);
  };
}

void Texts(rdb::Out& out, std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) out.String(text);
}

// The keys of a server that starts with this file.
int64_t KeysOf(const std::string& bytes) {
  SnapshotTest other;
  other.disk.Put(kSnapshotPath, bytes);
  REQUIRE(other.snapshots().LoadNow({}, other.now()) == "");
  return other.Run({"DBSIZE"}).integer;
}

class LossTest : public MasterTest {
 public:
  LossTest() { server().server.log = &log_; }
  ~LossTest() { server().server.log = nullptr; }

  // Loads the file as a start does.
  void Start(const std::string& bytes) {
    disk.Put(kSnapshotPath, bytes);
    Run({"FLUSHALL"});
    snapshots().LoadSoon(now());
    FinishLoad();
  }
  std::string File() { return disk.files().at(kSnapshotPath); }
  bool HasFile(const std::string& path) { return disk.files().contains(path); }
  std::string Check(const std::string& bytes) {
    disk.Put("./checked.rdb", bytes);
    return CheckSnapshotFile(disk, "./checked.rdb", now(),
                             [this](const std::string& line) { lines += line + "\n"; });
  }

  std::string lines;  // of Check

 private:
  Log log_{server().clock, Log::Level::kNotice, "/dev/null"};
};

}  // namespace

// ---- FLUSHALL

TEST_CASE_METHOD(LossTest,
                 "FLUSHALL with save points answers when the file has no key, also while a save runs") {
  SetOption("save", "3600 1");
  FillWith(1000);
  Run({"SAVE"});
  REQUIRE(KeysOf(File()) == 1000);
  Run({"BGSAVE"});
  Slice();
  CHECK(snapshots().saving());
  CHECK(Run({"FLUSHALL"}) == Ok());
  CHECK(KeysOf(File()) == 0);
  FinishSave();
  CHECK(KeysOf(File()) == 0);
  CHECK(Run({"SET", "k", "v"}) == Ok());
  CHECK(Run({"SAVE"}) == Ok());
  CHECK(KeysOf(File()) == 1);
}

TEST_CASE_METHOD(LossTest,
                 "FLUSHALL empties the file while a replica or a client gets a snapshot, which goes on") {
  SetOption("save", "3600 1");
  FillWith(5000);
  Run({"SAVE"});
  TestClient& reader = Connect();
  const bool alone = GENERATE(false, true);
  CAPTURE(alone);
  CHECK(reader.Run({"REPLCONF", "capa", "eof"}) == Ok());
  if (alone) CHECK(reader.Run({"REPLCONF", "rdb-only", "1"}) == Ok());
  std::string snapshot = reader.RunRaw("PSYNC ? -1\r\n");
  for (int i = 0; i < 20 && !snapshots().saving(); ++i) Slice();
  REQUIRE(snapshots().saving());
  CHECK(Run({"FLUSHALL"}) == Ok());
  CHECK(snapshots().saving());
  CHECK(KeysOf(File()) == 0);
  for (int turn = 0; turn < 100'000 && snapshots().saving(); ++turn) {
    AdvanceTime(2);
    Slice();
    snapshot += reader.RunRaw("");
  }
  CHECK(snapshot.find("key:4999") != std::string::npos);
}

TEST_CASE_METHOD(LossTest,
                 "FLUSHALL empties the file that is being loaded, and its damage is no matter any more") {
  SetOption("save", "3600 1");
  FillWith(5000);
  Run({"SAVE"});
  std::string bytes = File();
  bytes.resize(bytes.size() - 20);
  disk.piece = 1000;
  Run({"CONFIG", "SET", "save", ""});
  Run({"FLUSHALL"});
  SetOption("save", "3600 1");
  disk.Put(kSnapshotPath, bytes);
  snapshots().LoadSoon(now());
  Slice();
  REQUIRE(snapshots().loading());
  CHECK(Run({"FLUSHALL"}) == Ok());
  CHECK(KeysOf(File()) == 0);
  FinishLoad();
  FinishSave();
  CHECK(Run({"DBSIZE"}) == Integer(0));
  CHECK(KeysOf(File()) == 0);
  CHECK_FALSE(HasFile(kSnapshotPath + ".damaged"));
}

TEST_CASE_METHOD(FollowTest, "a FLUSHALL of the master also empties the file of its replica") {
  follower.SetOption("save", "3600 1");
  Run({"SET", "k", "v"});
  Run({"SET", "in another database", "v"});
  Run({"MOVE", "in another database", "3"});
  Follow();
  follower.Run({"SAVE"});
  REQUIRE(KeysOf(follower.disk.files().at(kSnapshotPath)) == 1);
  const std::string_view how = GENERATE("alone", "in a transaction", "from a script");
  CAPTURE(how);
  if (how == "alone") CHECK(Run({"FLUSHALL"}) == Ok());
  if (how == "in a transaction") {
    CHECK(Run({"MULTI"}) == Ok());
    CHECK(Run({"SET", "lost", "v"}) == Simple("QUEUED"));
    CHECK(Run({"FLUSHALL"}) == Simple("QUEUED"));
    CHECK(Run({"EXEC"}) == Array({Ok(), Ok()}));
  }
  if (how == "from a script") CHECK(Run({"EVAL", "return redis.call('FLUSHALL')", "0"}) == Ok());
  Carry();
  CHECK(KeysOf(follower.disk.files().at(kSnapshotPath)) == 0);
  CHECK(follower.Run({"DBSIZE"}) == Integer(0));
}

TEST_CASE_METHOD(FollowTest, "a FLUSHALL reaches a replica where clients call it by another name") {
  REQUIRE(follower.server().commands.Rename("flushall", "secret") == std::nullopt);
  follower.SetOption("save", "3600 1");
  Run({"SET", "k", "v"});
  Follow();
  follower.Run({"SAVE"});
  CHECK(Run({"FLUSHALL"}) == Ok());
  Carry();
  CHECK(KeysOf(follower.disk.files().at(kSnapshotPath)) == 0);
  CHECK(Link("master_failed_commands") == "0");
}

TEST_CASE_METHOD(LossTest, "if the disk is full, FLUSHALL removes the file with the keys") {
  SetOption("save", "3600 1");
  SetOption("stop-writes-on-bgsave-error", "no");
  FillWith(100);
  Run({"SAVE"});
  disk.FailFrom(1, ENOSPC);
  CHECK(Run({"FLUSHALL"}) == Ok());
  CHECK_FALSE(HasFile(kSnapshotPath));
  disk.FailAt(0, 0);
  AdvanceTime(Snapshots::kRetryMs);  // the save that is still to come
  FinishSave();
  CHECK(KeysOf(File()) == 0);
}

TEST_CASE_METHOD(LossTest, "libraries of functions outlive a FLUSHALL beside a snapshot for a client") {
  SetOption("save", "3600 1");
  FillWith(5000);
  Run({"FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 'one' end)"});
  TestClient& reader = Connect();
  CHECK(reader.Run({"REPLCONF", "capa", "eof", "rdb-only", "1"}) == Ok());
  reader.RunRaw("PSYNC ? -1\r\n");
  REQUIRE(snapshots().saving());
  CHECK(Run({"FLUSHALL"}) == Ok());
  Run({"FUNCTION", "FLUSH"});
  CHECK(Run({"FCALL", "f", "0"}).kind == Reply::Kind::kError);
  snapshots().Cancel();
  FinishSave();
  REQUIRE(snapshots().LoadNow({}, now()) == "");
  CHECK(Run({"FCALL", "f", "0"}) == Bulk("one"));
}

TEST_CASE_METHOD(LossTest,
                 "libraries of functions that a load brings after a FLUSHALL are in the next file") {
  Run({"FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 'one' end)"});
  FillWith(100);
  Run({"SAVE"});
  Run({"FLUSHALL"});
  Run({"FUNCTION", "FLUSH"});
  SetOption("save", "3600 1");
  disk.piece = 20;
  snapshots().LoadSoon(now());
  REQUIRE(snapshots().loading());
  CHECK(Run({"FLUSHALL"}) == Ok());
  FinishLoad();
  CHECK(Run({"FCALL", "f", "0"}) == Bulk("one"));
  AdvanceTime(Snapshots::kRetryMs);
  FinishSave();
  SnapshotTest other;
  other.disk.Put(kSnapshotPath, File());
  REQUIRE(other.snapshots().LoadNow({}, other.now()) == "");
  CHECK(other.Run({"FCALL", "f", "0"}) == Bulk("one"));
  CHECK(other.Run({"DBSIZE"}) == Integer(0));
}

// ---- DRAIN

TEST_CASE_METHOD(LossTest,
                 "tasks that DRAIN has let go, and that have no entry yet, are let go in a file, too") {
  const int tasks = GENERATE(2000, 12'000);  // in the order of their deadlines, and in any order
  for (int i = 0; i < tasks; ++i)
    Run({"SET", "task:" + std::to_string(i), "v", "EX", "1000", "INTO", "jobs"});
  CHECK(Run({"DRAIN", "jobs"}) == Integer(tasks));
  REQUIRE(Run({"XLEN", "jobs"}).integer < tasks);
  CHECK(Run({"SAVE"}) == Ok());
  SnapshotTest other;
  other.disk.Put(kSnapshotPath, File());
  other.LetTimePass(static_cast<uint64_t>(WallMs() - other.WallMs()));
  REQUIRE(other.snapshots().LoadNow({}, other.now()) == "");
  other.AdvanceTime(0);
  CHECK(other.Run({"XLEN", "jobs"}) == Integer(tasks));
}

// ---- BGSAVE CANCEL

TEST_CASE_METHOD(LossTest, "BGSAVE CANCEL after the last chunk keeps the old file") {
  FillWith(10);
  Run({"SAVE"});
  const std::string old = File();
  DiskGate gate(disk, "sync");
  FillWith(20);
  Run({"BGSAVE"});
  while (!gate.reached()) Slice();
  CHECK(Run({"BGSAVE", "CANCEL"}) == Simple("Background saving cancelled"));
  gate.Open();
  FinishSave();
  CHECK((File() == old));
  CHECK(disk.files().size() == 1);
}

TEST_CASE_METHOD(LossTest, "BGSAVE CANCEL while the file takes its place is too late, and says so") {
  FillWith(10);
  Run({"SAVE"});
  DiskGate gate(disk, "rename");
  FillWith(20);
  Run({"BGSAVE"});
  while (!gate.reached()) Slice();
  CHECK(Run({"BGSAVE", "CANCEL"}) ==
        Error("ERR Background saving is currently not in progress or scheduled"));
  gate.Open();
  FinishSave();
  CHECK(KeysOf(File()) == 20);
  CHECK(Info("rdb_last_bgsave_status") == "ok");
}

// ---- what a load leaves out

TEST_CASE_METHOD(LossTest, "a file with a database that does not exist here ends the start, as in Redis") {
  const std::string bytes = FileOf([](rdb::Out& out) {
    out.Byte(opcode::kDatabase);
    out.Length(20);
  });
  for (const char* damaged : {"yes", "no"}) {
    LossTest starting;
    starting.SetOption("rdb-load-damaged", damaged);
    starting.SetOption("save", "1 1");
    starting.disk.Put(kSnapshotPath, bytes);
    starting.snapshots().LoadSoon(starting.now());
    starting.FinishLoad();
    CHECK(starting.server().server.shutdown_requested);
    CHECK(starting.snapshots().refused() ==
          "./dump.rdb has keys of database 20, and the option databases is 16, too small for this file");
    CHECK_FALSE(starting.snapshots().SavesToStop({.save = true}));
    CHECK((starting.File() == bytes));
    CHECK(starting.disk.files().size() == 1);
  }
}

TEST_CASE_METHOD(LossTest, "a file that memory has no room for is kept under a second name") {
  FillWith(100);
  Run({"SAVE"});
  const std::string bytes = File();
  SetOption("maxkeys", "100");
  Start(bytes);
  CHECK(Run({"DBSIZE"}) == Integer(100));
  CHECK_FALSE(HasFile(kKept));  // nothing was left out
  SetOption("maxkeys", "50");
  Start(bytes);
  CHECK(Run({"DBSIZE"}) == Integer(50));
  CHECK((File() == bytes));  // a start without a save before has the same keys again
  CHECK((disk.files().at(kKept) == bytes));
  CHECK(Run({"SAVE"}) == Ok());
  CHECK((disk.files().at(kKept) == bytes));
  Start(bytes);
  CHECK_FALSE(HasFile(kKept + "-2"));  // it is the same file
  for (int i = 0; i < 5; ++i) {        // others have other names, up to three
    Run({"CONFIG", "SET", "maxkeys", "0"});
    FillWith(100 + static_cast<size_t>(i));
    Run({"SAVE"});
    SetOption("maxkeys", "50");
    Start(File());
  }
  CHECK(HasFile(kKept + "-3"));
  CHECK_FALSE(HasFile(kKept + "-4"));
  CHECK((disk.files().at(kKept) == bytes));
}

TEST_CASE_METHOD(LossTest,
                 "without memory to note a removal a load brings no more keys, and the file is kept") {
  FillWith(3000);
  Run({"SAVE"});
  const std::string bytes = File();
  Run({"FLUSHALL"});
  SetOption("rdb-load-damaged", "no");
  disk.piece = 1000;
  snapshots().LoadSoon(now());
  while (Run({"DBSIZE"}).integer == 0) Slice();
  REQUIRE(snapshots().loading());
  const Reply loaded = Run({"DBSIZE"});
  {
    const FailingAllocation failing(1);
    Snapshots::NoteGone(server().server, keyspace(), "still to come");
  }
  REQUIRE(AllocationFailed());
  FinishLoad();
  CHECK(Run({"DBSIZE"}) == loaded);
  CHECK(snapshots().refused().empty());
  CHECK_FALSE(server().server.shutdown_requested);
  CHECK((disk.files().at(kKept) == bytes));
}

TEST_CASE_METHOD(LossTest, "with rdb-load-damaged no it is all keys or no start, whatever is left out") {
  const std::vector<std::function<void(rdb::Out&)>> left_out = {Bad(rdb::type::kSet,
                                                                    [](rdb::Out& out) {
                                                                      out.Length(2);
                                                                      Texts(out, {"a", "a"});
                                                                    }),
                                                                Bad(rdb::type::kModule,
                                                                    [](rdb::Out& out) {
                                                                      out.Length(0x1234567812345678);
                                                                      out.Length(rdb::module_part::kEnd);
                                                                    }),
                                                                [](rdb::Out& out) {
                                                                  out.Byte(opcode::kFunction);
                                                                  out.String("no library");
                                                                }};
  for (const auto& write : left_out) {
    LossTest starting;
    starting.SetOption("rdb-load-damaged", "no");
    const std::string bytes = FileOf(write);
    starting.Start(bytes);
    CHECK(starting.snapshots().refused().starts_with("./dump.rdb has more than can be loaded here"));
    CHECK((starting.File() == bytes));
    CHECK(starting.disk.files().size() == 1);
    LossTest going_on;
    going_on.Start(bytes);
    CHECK(going_on.snapshots().refused().empty());
    CHECK((going_on.disk.files().at(kKept) == bytes));
    CHECK(going_on.Run({"EXISTS", "before", "after"}) == Integer(2));
  }
}

TEST_CASE_METHOD(LossTest,
                 "what only a newer Mayfly knows of a key is left out by a load, and no save seals that") {
  const std::string field = GENERATE("m", "new");
  CAPTURE(field);
  const std::string bytes = FileOf([&](rdb::Out& out) {
    out.Byte(opcode::kAux);
    Texts(out, {"mayfly-ver", "9.0.0"});
    out.Byte(opcode::kAux);
    Texts(out, {field, "\x40"});
  });
  Start(bytes);
  CHECK(Run({"EXISTS", "before", "after"}) == Integer(2));
  CHECK(Run({"SAVE"}) == Ok());
  CHECK((File() != bytes));
  REQUIRE(HasFile(kKept));
  CHECK((disk.files().at(kKept) == bytes));
  CHECK(Check(File()) == "");
  LossTest strict;
  strict.SetOption("rdb-load-damaged", "no");
  strict.Start(bytes);
  CHECK(strict.snapshots().refused().starts_with("./dump.rdb has more than can be loaded here"));
  CHECK((strict.File() == bytes));
}

TEST_CASE_METHOD(LossTest, "a refused value does not end the load if the checksum of the file is right") {
  const auto list = [](rdb::Out& out) {
    out.Length(1);
    out.Length(9);  // an unknown kind of node
    out.String("x");
  };
  const auto pending_of_nobody = [](rdb::Out& out) {
    for (const uint64_t number : {0, 0, 5, 1, 1}) out.Length(number);  // no nodes; length, last ID; a group
    out.String("g");
    for (const uint64_t number : {5, 1, 1}) out.Length(number);  // its last ID; a pending entry
    for (const uint64_t half : {5, 1}) {
      for (int shift = 56; shift >= 0; shift -= 8) out.Byte(static_cast<uint8_t>(half >> shift));
    }
    out.Millis(1);
    for (const uint64_t number : {1, 0}) out.Length(number);  // one delivery; no consumers
  };
  const std::vector<std::function<void(rdb::Out&)>> values = {
      Bad(rdb::type::kSet,
          [](rdb::Out& out) {
            out.Length(3);
            Texts(out, {"a", "a", "b"});
          }),
      Bad(rdb::type::kHash,
          [](rdb::Out& out) {
            out.Length(2);
            Texts(out, {"f", "v", "f", "w"});
          }),
      Bad(rdb::type::kZset,
          [](rdb::Out& out) {
            out.Length(2);
            for (const double score : {0.0 / 0.0, 1.0}) {
              out.String("m" + std::to_string(score));
              out.Double(score);
            }
          }),
      Bad(rdb::type::kHashListpack, [](rdb::Out& out) { out.String("no listpack"); }),
      Bad(rdb::type::kSetIntset, [](rdb::Out& out) { out.String("no intset"); }),
      Bad(rdb::type::kZsetListpack, [](rdb::Out& out) { out.String("no listpack"); }),
      Bad(rdb::type::kQuicklist2, list),
      Bad(rdb::type::kStream, pending_of_nobody),
  };
  for (size_t i = 0; i < values.size(); ++i) {
    CAPTURE(i);
    Start(FileOf(values[i]));
    CHECK(Run({"EXISTS", "before", "after"}) == Integer(2));
    CHECK(Run({"EXISTS", "bad"}) == Integer(0));
    CHECK(Info("rdb_last_load_keys_skipped") == "1");
    CHECK(HasFile(kSnapshotPath));
    CHECK(Check(FileOf(values[i])) == "./checked.rdb has 1 keys that a load leaves out");
    CHECK(lines.find("key bad: a damaged value") != std::string::npos);
    // Otherwise it is damage.
    const std::string problem = Check(FileOf(values[i], /*right_checksum=*/false));
    CHECK(problem.starts_with("./checked.rdb is damaged at byte "));
    CHECK(problem.ends_with(", key bad: a damaged value"));
    Start(FileOf(values[i], /*right_checksum=*/false));
    CHECK(HasFile(kSnapshotPath + ".damaged"));
  }
}

TEST_CASE_METHOD(LossTest, "what a file says of a refused key is not true of the key after it") {
  const auto with_facts = [&](rdb::Out& out) {
    out.Byte(opcode::kAux);
    Texts(out, {"mayfly-ver", "1"});
    out.Byte(opcode::kDatabase);
    out.Length(3);
    out.Byte(opcode::kDeadlineMs);
    out.Millis(WallMs() + 100'000);
    out.Byte(opcode::kIdle);
    out.Length(5000);
    out.Byte(opcode::kAux);
    Texts(out, {KeyTerms::kField, std::string_view("\x08\x01\x01t", 4)});  // a tag
    Bad(rdb::type::kSet, [](rdb::Out& value) {
      value.Length(2);
      Texts(value, {"a", "a"});
    })(out);
  };
  Start(FileOf(with_facts));
  CHECK(Info("rdb_last_load_keys_skipped") == "1");
  Run({"SELECT", "3"});  // the database goes on
  CHECK(Run({"KEYS", "*"}) == Bulks({"after"}));
  CHECK(Run({"TTL", "after"}) == Integer(-1));
  CHECK(Run({"OBJECT", "IDLETIME", "after"}) == Integer(0));
  CHECK(Run({"INVALIDATE", "t"}) == Integer(0));
  AdvanceTime(100'000);
  CHECK(Run({"GET", "after"}) == Bulk("v"));
}

TEST_CASE_METHOD(LossTest,
                 "what a file says of a key with a module's value is not true of the key after it") {
  Start(FileOf([&](rdb::Out& out) {
    out.Byte(opcode::kDatabase);
    out.Length(3);
    out.Byte(opcode::kDeadlineMs);
    out.Millis(WallMs() + 100'000);
    Bad(rdb::type::kModule, [](rdb::Out& value) {
      value.Length(0x1234567812345678);
      value.Length(rdb::module_part::kEnd);
    })(out);
  }));
  CHECK(Info("rdb_last_load_keys_skipped") == "1");
  Run({"SELECT", "3"});
  CHECK(Run({"KEYS", "*"}) == Bulks({"after"}));
  CHECK(Run({"TTL", "after"}) == Integer(-1));
}

TEST_CASE_METHOD(LossTest,
                 "a stream that says a wrong length has its true one, from a file and from a payload") {
  SetOption("rdbcompression", "no");
  for (int i = 1; i <= 3; ++i) Run({"XADD", "s", std::to_string(i) + "-0", "f", "v"});
  std::string payload = Run({"DUMP", "s"}).text;
  payload.resize(payload.size() - rdb::kDumpFooterBytes);
  rdb::In in(std::string_view(payload).substr(1));
  uint64_t nodes = 0;
  std::string_view text;
  REQUIRE(in.Length(nodes) == rdb::ReadStatus::kOk);
  REQUIRE(in.String(text) == rdb::ReadStatus::kOk);
  REQUIRE(in.String(text) == rdb::ReadStatus::kOk);
  REQUIRE(payload.at(1 + in.at()) == 3);
  payload[1 + in.at()] = 63;
  Start(FileOf([&](rdb::Out& out) {
    out.Byte(static_cast<uint8_t>(payload[0]));
    out.String("stream");
    out.Bytes(std::string_view(payload).substr(1));
  }));
  CHECK(Run({"XLEN", "stream"}) == Integer(3));
  CHECK(Run({"EXISTS", "before", "after"}) == Integer(2));
  CHECK_FALSE(HasFile(kKept));
  rdb::AppendDumpFooter(payload, rdb::version::kRedis70);
  CHECK(Run({"RESTORE", "restored", "0", payload}) == Ok());
  CHECK(Run({"XLEN", "restored"}) == Integer(3));
  CHECK(Run({"DEBUG", "DIGEST-VALUE", "restored"}) == Run({"DEBUG", "DIGEST-VALUE", "stream"}));
}

TEST_CASE_METHOD(LossTest, "a file that is followed by itself is damaged at its end") {
  FillWith(10);
  Run({"SAVE"});
  const std::string once = File();
  CHECK(Check(once) == "");
  CHECK(Check(once + once).ends_with(": bytes follow its end"));
  Start(once + once);
  CHECK(Run({"DBSIZE"}) == Integer(10));
  CHECK(HasFile(kSnapshotPath + ".damaged"));
}

// ---- a key once

TEST_CASE_METHOD(LossTest, "the check of a file finds a key that is there twice") {
  const auto twice = [](rdb::Out& out) {
    out.Byte(rdb::type::kString);
    Texts(out, {"before", "again"});
  };
  CHECK(Check(FileOf(twice)) == "./checked.rdb has 1 keys twice");
  CHECK(lines.find("there twice: key before of database 0\n") != std::string::npos);
  CHECK(Check(FileOf([&](rdb::Out& out) {
          out.Byte(opcode::kDatabase);
          out.Length(1);
          twice(out);
        })) == "");
}

TEST_CASE_METHOD(LossTest, "a key with a window whose deadline comes beside a save is in the file once") {
  constexpr int kKeys = 300;
  for (int i = 0; i < kKeys; ++i) {
    Run({"SET", "old:" + std::to_string(i), "v", "PX", "1000", "STALE", "60000"});
    Run({"SET", "new:" + std::to_string(i), "v", "PX", "1001", "STALE", "60000"});
    Run({"SET", "gone:" + std::to_string(i), "v", "PX", "500", "STALE", "60000"});
  }
  AdvanceTime(500);
  Run({"DEBUG", "SET-ACTIVE-EXPIRE", "0"});
  AdvanceTime(500);  // old: is due now, and not freed
  for (int save = 0; save < 2; ++save) {
    Run({"BGSAVE"});
    Slice();
    AdvanceTime(1);                       // and so is new:
    for (int i = 0; i < kKeys; i += 2) {  // a lookup frees them
      Run({"GET", "old:" + std::to_string(i)});
      Run({"GET", "new:" + std::to_string(i)});
    }
    FinishSave();
    CHECK(Check(File()) == "");
    CHECK(lines.find("keys: 900\n") != std::string::npos);
  }
}

TEST_CASE_METHOD(LossTest, "stale values stay at home: a replica of another kind gets none") {
  Run({"SET", "stale", "v", "PX", "10", "STALE", "60000"});
  Run({"SET", "key", "v"});
  AdvanceTime(10);
  FakeReplica& redis = NewReplica();
  redis.Greet("7001");
  AskForAll(redis);
  CHECK(redis.file.find("stale") == std::string::npos);
  CHECK(redis.file.find("key") != std::string::npos);
  redis.Confirm();
  FakeReplica& mayfly = NewReplica();
  mayfly.GreetAsMayfly();
  AskForAll(mayfly);
  CHECK(mayfly.file.find("stale") != std::string::npos);
}

}  // namespace mayfly::testing
