// What a save holds in memory while the disk, or the client that reads the snapshot, is slow: a bound, and all of it is counted.
#include <algorithm>
#include <memory>
#include <string>

#include "commands/replicas/replica_world.h"
#include "replication/transfer.h"
#include "snapshot/saver.h"
#include "support/snapshot_test.h"
#include "support/stuck_disk.h"

namespace mayfly::testing {
namespace {

constexpr size_t kCopyBytes = 100'000;

class SaveLimitsTest : public SnapshotTest {
 public:
  SaveLimitsTest() {
    server().server.snapshots = std::make_unique<Snapshots>(server().server, stuck);
    SetOption("rdbcompression", "no");
  }
  ~SaveLimitsTest() {
    stuck.LetGo();
    server().server.snapshots.reset();
  }
  // Keys that share one text: each takes its own room in the file, and hardly any here.
  void FillWithCopies(size_t keys) {
    Run({"SET", "k0", std::string(kCopyBytes, 'x')});
    for (size_t i = 1; i < keys; ++i) REQUIRE(Run({"COPY", "k0", "k" + std::to_string(i)}) == Integer(1));
  }
  uint64_t Counted() { return server().hubs.accounts.Sum(); }

  StuckDisk stuck;
};

}  // namespace

TEST_CASE_METHOD(SaveLimitsTest, "a save goes no more than a few megabytes ahead of the disk") {
  constexpr size_t kKeys = 300;
  FillWithCopies(kKeys);
  const uint64_t before = Counted();
  REQUIRE(Run({"BGSAVE"}) == Simple("Background saving started"));
  for (int i = 0; i < 1000; ++i) Slice(1'000'000);
  CHECK(Counted() - before > Saver::kPauseBytes);
  CHECK(Counted() - before < Saver::kPauseBytes + Saver::kChunkBytes + 2 * kCopyBytes);
  CHECK(stats().saves.keys_done < 50);
  stuck.LetGo();
  FinishSave();
  CHECK(Info("rdb_last_bgsave_status") == "ok");
  CHECK(Info("rdb_last_save_keys") == std::to_string(kKeys));
  CHECK(Counted() == before);
}

TEST_CASE_METHOD(SaveLimitsTest, "nor does it with many small values, or with one large value of each kind") {
  SECTION("small values") {
    for (int i = 0; i < 10'000; ++i) Run({"SET", "k" + std::to_string(i), std::string(1000, 'x')});
  }
  SECTION("a text") { Run({"SET", "text", std::string(20'000'000, 'x')}); }
  SECTION("a hash") {
    for (int i = 0; i < 2000; ++i) Run({"HSET", "hash", std::to_string(i), std::string(5000, 'x')});
  }
  SECTION("a list") {
    for (int i = 0; i < 2000; ++i) Run({"RPUSH", "list", std::string(5000, 'x')});
  }
  const uint64_t before = Counted();
  REQUIRE(Run({"BGSAVE"}) == Simple("Background saving started"));
  for (int i = 0; i < 1000; ++i) Slice(1'000'000);
  CHECK(Counted() - before > Saver::kPauseBytes);
  CHECK(Counted() - before < Saver::kPauseBytes + 2 * Saver::kChunkBytes);
  stuck.LetGo();
  FinishSave();
  CHECK(Info("rdb_last_bgsave_status") == "ok");
  CHECK(Counted() == before);
}

TEST_CASE_METHOD(SaveLimitsTest,
                 "a step of a save ends after some bytes of values, however many keys it may visit") {
  for (int i = 0; i < 100; ++i)
    Run({"RPUSH", "list" + std::to_string(i), std::string(20'000, 'x'), std::string(20'000, 'y')});
  stuck.LetGo();
  REQUIRE(Run({"BGSAVE"}) == Simple("Background saving started"));
  Slice(1000);
  CHECK(stats().saves.keys_done >= 1);
  CHECK(stats().saves.keys_done <= 3);
  FinishSave();
}

TEST_CASE_METHOD(SaveLimitsTest,
                 "if changes outrun a slow disk by 256 MB, the save fails, and memory is not filled") {
  constexpr size_t kKeys = Saver::kMostWaitingBytes / kCopyBytes + 100;
  FillWithCopies(kKeys);
  const uint64_t before = Counted();
  REQUIRE(Run({"BGSAVE"}) == Simple("Background saving started"));
  uint64_t most = 0;
  std::string requests;
  for (size_t i = 0; i < kKeys; ++i) {
    Run({"DEL", "k" + std::to_string(i)});
    if (i % 16 != 0) continue;
    Slice(1);
    most = std::max(most, Counted() - before);
  }
  CHECK(most > Saver::kMostWaitingBytes / 2);
  CHECK(most < Saver::kMostWaitingBytes + (size_t{4} << 20));
  stuck.LetGo();
  FinishSave();
  CHECK(stats().saves.last_problem == "the disk is slower than the changes");
  CHECK(Info("rdb_last_bgsave_status") == "err");
  CHECK(Counted() == before);
  CHECK(Run({"BGSAVE"}) == Simple("Background saving started"));
  FinishSave();
  CHECK(Info("rdb_last_bgsave_status") == "ok");
}

TEST_CASE_METHOD(SaveLimitsTest,
                 "values that only the save has any more are counted until they are in the file") {
  for (int i = 0; i < 3000; ++i) Run({"HSET", "hash", "f" + std::to_string(i), std::string(100, 'v')});
  Run({"SET", "text", std::string(600'000, 't')});
  const uint64_t before = Counted();
  REQUIRE(Run({"BGSAVE"}) == Simple("Background saving started"));
  Run({"DEL", "hash"});
  Slice(1);
  const uint64_t with_hash = Counted();
  CHECK(with_hash - before > 300'000);
  Run({"DEL", "text"});
  Slice(1);
  CHECK(Counted() - with_hash > 500'000);
  stuck.LetGo();
  FinishSave();
  CHECK(Info("rdb_last_bgsave_status") == "ok");
  CHECK(Counted() == before);
}

// ---- a replica whose disk is slow

namespace {

class SlowReplicaTest : public ReplicaTest {
 public:
  SlowReplicaTest() { server().server.master_link = std::make_unique<MasterLink>(server().server, stuck); }
  ~SlowReplicaTest() {
    stuck.LetGo();
    server().server.master_link.reset();
  }
  StuckDisk stuck;
};

}  // namespace

TEST_CASE_METHOD(SlowReplicaTest,
                 "a replica with a slow disk takes some megabytes of the snapshot, counts them, and lets the "
                 "master wait") {
  constexpr size_t kFileBytes = size_t{20} << 20;
  const uint64_t before = server().hubs.accounts.Sum();
  Connect();
  AnswerFull();
  master().Answer("$" + std::to_string(kFileBytes) + "\r\n");
  const std::string piece(size_t{1} << 20, 'x');
  size_t sent = 0;
  for (; sent < kFileBytes && master().unread() == 0; sent += piece.size()) master().Answer(piece);
  CHECK(sent >= Transfer::kMostWaitingBytes);
  CHECK(sent <= Transfer::kMostWaitingBytes + 2 * piece.size());
  CHECK(server().hubs.accounts.Sum() - before >= Transfer::kMostWaitingBytes - piece.size());
  CHECK(Replication("master_sync_in_progress") == "1");
}

}  // namespace mayfly::testing
