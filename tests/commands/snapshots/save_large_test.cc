// A save with large values: they are written in slices, and clients change, remove and move them meanwhile. What the file has is
// compared with a file that SAVE has written at the same moment.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cache/types/hash_value.h"
#include "cache/types/list_value.h"
#include "cache/types/set_value.h"
#include "cache/types/sorted_set_value.h"
#include "cache/types/stream/stream_value.h"
#include "commands/memory/failing_allocation.h"
#include "support/snapshot_test.h"
#include "support/value_words.h"

namespace mayfly::testing {
namespace {

const std::string kSavedFile = "./dump.rdb";

std::string SavedDeadline(Expiry deadline, Now now) {
  if (deadline.kind == Expiry::Kind::kNever) return "";
  return "@" + std::to_string(deadline.On(Expiry::Kind::kWall, now));
}

// Shows the parts of each member in a line.
class MemberLines final : public MemberVisitor {
 public:
  void Visit(std::span<const std::string_view> parts) override {
    std::string line;
    for (const std::string_view part : parts) line += std::string(part) + "|";
    lines.push_back(line);
  }
  std::vector<std::string> lines;
};

std::vector<std::string> DescribeSaved(const Entry& entry, Now now) {
  std::vector<std::string> lines;
  if (entry.encoding() == Encoding::kInteger) return {std::to_string(entry.integer())};
  if (entry.encoding() != Encoding::kRich) return {std::string(entry.text())};
  const RichValue& value = *entry.rich();
  switch (value.type) {
    case ValueType::kHash:
      static_cast<const HashValue&>(value).ForEachLiveAt(
          now, [&](std::string_view name, std::string_view text, Expiry deadline) {
            lines.push_back(std::string(name) + "=" + std::string(text) + SavedDeadline(deadline, now));
          });
      break;
    case ValueType::kSet:
      static_cast<const SetValue&>(value).ForEachLiveAt(now, [&](std::string_view name, Expiry deadline) {
        lines.push_back(std::string(name) + SavedDeadline(deadline, now));
      });
      break;
    case ValueType::kSortedSet:
      static_cast<const SortedSetValue&>(value).ForEachLiveAt(
          now, [&](std::string_view name, double score, Expiry deadline) {
            lines.push_back(std::to_string(score) + " " + std::string(name) + SavedDeadline(deadline, now));
          });
      break;
    default: {
      MemberLines shown;
      value.ForEachMember(shown);
      lines = shown.lines;
      if (value.type == ValueType::kStream) {
        const auto& stream = static_cast<const StreamValue&>(value);
        lines.push_back(std::to_string(stream.last_id().ms) + "+" + std::to_string(stream.added()));
        const ValueWords groups = WordsOfGroups(stream);
        lines.insert(lines.end(), groups.begin(), groups.end());
      }
      return lines;
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

bool IsValidValue(const Entry& entry) {
  if (entry.encoding() != Encoding::kRich) return true;
  const RichValue& value = *entry.rich();
  switch (value.type) {
    case ValueType::kHash:
      return static_cast<const HashValue&>(value).Validate();
    case ValueType::kSet:
      return static_cast<const SetValue&>(value).Validate();
    case ValueType::kSortedSet:
      return static_cast<const SortedSetValue&>(value).Validate();
    case ValueType::kList:
      return static_cast<const ListValue&>(value).Validate();
    default:
      return static_cast<const StreamValue&>(value).Validate();
  }
}

using SavedState = std::map<std::string, std::vector<std::string>>;

class LargeSaveTest : public SnapshotTest {
 public:
  static constexpr int kMembers = 1500;

  static std::string Name(uint64_t i) { return "member:" + std::to_string(i); }
  std::string Text() { return std::string(30 + random() % 40, static_cast<char>('a' + random() % 26)); }
  std::string Some(uint64_t range = kMembers + 200) { return Name(random() % range); }

  void Fill() {
    FillWith(60);
    for (int i = 0; i < kMembers; ++i) {
      Run({"HSET", "hash", Name(i), Text()});
      Run({"HSET", "timed-hash", Name(i), Text()});
      Run({"SADD", "set", Text() + Name(i)});
      Run({"SADD", "timed-set", Name(i), "other " + Name(i), Text()});
      Run({"ZADD", "zset", std::to_string(i % 100), Text() + Name(i)});
      Run({"ZADD", "timed-zset", std::to_string(i % 100), Name(i), "7", Text()});
      Run({"RPUSH", "list", Text(), Name(i)});
      Run({"XADD", "stream", std::to_string(i + 1) + "-1", "field", Text(), "other", Name(i)});
      if (i % 3 == 0) Run({"HPEXPIRE", "timed-hash", Deadline(), "FIELDS", "1", Name(i)});
      if (i % 3 == 1) Run({"EXPIREMEMBER", "timed-set", Name(i), Deadline(), "ms"});
      if (i % 3 == 2) Run({"EXPIREMEMBER", "timed-zset", Name(i), Deadline(), "ms"});
    }
    Run({"XDEL", "stream", "7-1", "500-1", "1400-1"});
    for (const std::string group : {"workers", "others"}) {
      Run({"XGROUP", "CREATE", "stream", group, "0"});
      Run({"XREADGROUP", "GROUP", group, "a", "COUNT", "700", "STREAMS", "stream", ">"});
      Run({"XREADGROUP", "GROUP", group, "b", "COUNT", "500", "STREAMS", "stream", ">"});
    }
    Run({"SET", "text", std::string(600'000, 't'), "PX", "5000000"});
    Run({"SELECT", "1"});
    for (int i = 0; i < kMembers; ++i) Run({"HSET", "hash", Name(i), Text()});
    Run({"SET", "small", "v"});
    Run({"SELECT", "0"});
    for (const auto& [key, lines] : StateNow()) REQUIRE_FALSE(lines.empty());
  }
  std::string Deadline() { return std::to_string(20 + random() % 4000); }

  SavedState StateNow() {
    SavedState state;
    for (unsigned i = 0; i < 3; ++i) {
      const Keyspace& keys = keyspace(i);
      keys.table().ForEach([&](HeapRef ref) {
        const Entry& entry = *keys.At(ref);
        if (!keys.Absent(entry, now()) &&
            !(entry.encoding() == Encoding::kRich && entry.rich()->AllDue(now())))
          state[std::to_string(i) + std::string(entry.key())] = DescribeSaved(entry, now());
      });
    }
    return state;
  }
  bool AllValid() {
    bool valid = true;
    for (unsigned i = 0; i < 3; ++i) {
      const Keyspace& keys = keyspace(i);
      keys.table().ForEach([&](HeapRef ref) { valid = valid && IsValidValue(*keys.At(ref)); });
    }
    return valid;
  }
  // The state that this file brings back.
  SavedState Loaded(const std::string& file) {
    disk.Put(kSavedFile, file);
    Run({"FLUSHALL"});
    REQUIRE(snapshots().LoadNow({}, now()) == "");
    CHECK(AllValid());
    return StateNow();
  }
  // Sends a request, and lets the loop go on until there is a reply.
  Reply Ask(const std::vector<std::string>& words) {
    Reply reply = Run(words);
    waited = reply == NoReply();
    while (reply == NoReply()) {
      Slice();
      server().clock.AdvanceTime(1);
      server().executor.RefreshNow();
      server().hubs.alarms.Wake(server().executor.now(), nullptr);
      server().RunWoken();
      const std::vector<Reply> replies = client().Received();
      if (!replies.empty()) reply = replies[0];
    }
    return reply;
  }
  void ChangeSomething();
  void ChangeHash();
  void ChangeSets();
  void ChangeList();
  void ChangeStream();
  void ChangeGroups();
  void ChangeText();
  void ChangeKeys();

  std::mt19937_64 random{Catch::rngSeed() + 7};
  bool waited = false;
  uint64_t stream_id = 1'000'000;
};

void LargeSaveTest::ChangeHash() {
  const std::string key = random() % 2 == 0 ? "hash" : "timed-hash";
  switch (random() % 7) {
    case 0:
      Ask({"HDEL", key, Some(), Some()});
      break;
    case 1:
      Ask({"HPEXPIRE", key, Deadline(), "FIELDS", "1", Some()});
      break;
    case 2:
      Ask({"HPERSIST", key, "FIELDS", "1", Some()});
      break;
    case 3:
      Ask({"HINCRBY", key, "number", "1"});
      break;
    default:
      Ask({"HSET", key, Some(), Text(), Some(), Text()});
  }
}

void LargeSaveTest::ChangeSets() {
  switch (random() % 12) {
    case 0:
      Ask({"SPOP", "set", "3"});
      break;
    case 1:
      Ask({"SADD", "timed-set", Some(), Text()});
      break;
    case 2:
      Ask({"SREM", "timed-set", Some(), "other " + Some()});
      break;
    case 3:
      Ask({"EXPIREMEMBER", "timed-set", Some(), Deadline(), "ms"});
      break;
    case 4:
      Ask({"ZADD", "zset", "5", Text()});
      break;
    case 5:
      Ask({"ZINCRBY", "timed-zset", "3", Some()});
      break;
    case 6:
      Ask({"EXPIREMEMBER", "timed-zset", Some(), Deadline(), "ms"});
      break;
    case 7:
      Ask({"ZPOPMIN", "zset", "2"});
      break;
    case 8:
      Ask({"ZREM", "timed-zset", Some()});
      break;
    case 9:
      Ask({"ZREMRANGEBYRANK", "timed-zset", "10", "12"});
      break;
    case 10:
      Ask({"SMOVE", "timed-set", "set", Some()});
      break;
    default:
      Ask({"ZCARD", "timed-zset"});
  }
}

void LargeSaveTest::ChangeList() {
  switch (random() % 9) {
    case 0:
      Ask({"LPUSH", "list", "new", Text()});
      break;
    case 1:
      Ask({"RPUSH", "list", Text(), "new"});
      break;
    case 2:
      Ask({"LPOP", "list", "5"});
      break;
    case 3:
      Ask({"RPOP", "list"});
      break;
    case 4:
      Ask({"RPOPLPUSH", "list", "list"});
      break;
    case 5:
      Ask({"LSET", "list", "700", "set"});
      break;
    case 6:
      Ask({"LTRIM", "list", "3", "-4"});
      break;
    case 7:
      Ask({"LREM", "list", "1", Some()});
      break;
    default:
      Ask({"LINSERT", "list", "BEFORE", Some(), "inserted"});
  }
}

void LargeSaveTest::ChangeStream() {
  switch (random() % 4) {
    case 0:
      Ask({"XADD", "stream", std::to_string(++stream_id) + "-1", "field", Text()});
      break;
    case 1:
      Ask({"XADD", "stream", "MAXLEN", "1300", std::to_string(++stream_id) + "-1", "field", Text()});
      break;
    case 2:
      Ask({"XDEL", "stream", std::to_string(1 + random() % kMembers) + "-1"});
      break;
    default:
      Ask({"XTRIM", "stream", "MAXLEN", "1200"});
  }
}

void LargeSaveTest::ChangeGroups() {
  const std::string group = random() % 2 == 0 ? "workers" : "others";
  const std::string consumer(1, static_cast<char>('a' + random() % 4));
  const std::string id = std::to_string(1 + random() % kMembers) + "-1";
  switch (random() % 8) {
    case 0:
      Ask({"XACK", "stream", group, id});
      break;
    case 1:
      Ask({"XCLAIM", "stream", group, consumer, "0", id, "FORCE"});
      break;
    case 2:
      Ask({"XAUTOCLAIM", "stream", group, consumer, "0", id, "COUNT", "5", "JUSTID"});
      break;
    case 3:
      Ask({"XGROUP", "DELCONSUMER", "stream", group, consumer});
      break;
    case 4:
      Ask({"XGROUP", "DESTROY", "stream", "passing"});
      break;
    case 5:
      Ask({"XGROUP", "CREATE", "stream", "passing", id});
      break;
    case 6:
      Ask({"XDELEX", "stream", "DELREF", "IDS", "1", id});
      break;
    default:
      Ask({"XREADGROUP", "GROUP", group, consumer, "COUNT", "3", "STREAMS", "stream", ">"});
  }
}

void LargeSaveTest::ChangeText() {
  switch (random() % 4) {
    case 0:
      Ask({"APPEND", "text", Text()});
      break;
    case 1:
      Ask({"SETRANGE", "text", std::to_string(random() % 500'000), Text()});
      break;
    case 2:
      Ask({"SETBIT", "text", "77", "1"});
      break;
    default:
      Ask({"SET", "text", std::string(500'000, 'n')});
  }
}

void LargeSaveTest::ChangeKeys() {
  static const std::vector<std::string> kKeys = {"hash", "timed-hash", "set",    "timed-set", "zset",
                                                 "list", "timed-zset", "stream", "text"};
  const std::string key = kKeys[random() % kKeys.size()];
  switch (random() % 12) {
    case 0:
      Ask({random() % 2 == 0 ? "DEL" : "UNLINK", key});
      break;
    case 1:
      Ask({"RENAME", key, "renamed " + key});
      break;
    case 2:
      Ask({"SET", key, "instead"});
      Ask({"DEL", key});
      break;
    case 3:
      Ask({"COPY", key, "copy of " + key, "REPLACE"});
      break;
    case 4:
      Ask({"PEXPIRE", key, "1"});
      break;
    case 5:
      Ask({"MULTI"});
      Ask({"LSET", "list", "100", "in EXEC"});
      Ask({"APPEND", "text", "in EXEC"});
      Ask({"HSET", "hash", Some(), "in EXEC"});
      Ask({"XTRIM", "stream", "MAXLEN", "1100"});
      Ask({"EXEC"});
      break;
    case 6:
      Ask({"EVAL", "return redis.pcall('LSET', 'list', 50, 'in Lua')", "0"});
      break;
    case 7:
      if (random() % 4 == 0) Ask({"FLUSHALL"});
      break;
    case 8:
      Ask({"SWAPDB", "0", "1"});
      break;
    case 9:
      Ask({"MOVE", key, "2"});
      break;
    default:
      FillWith(random() % 60);
  }
}

void LargeSaveTest::ChangeSomething() {
  switch (random() % 13) {
    case 0:
    case 1:
    case 2:
      return ChangeHash();
    case 3:
    case 4:
    case 5:
      return ChangeSets();
    case 6:
    case 7:
      return ChangeList();
    case 8:
      return ChangeStream();
    case 9:
      return ChangeGroups();
    case 10:
      return ChangeText();
    case 11:
      AdvanceTime(random() % 60);
      return;
    default:
      if (random() % 8 == 0) ChangeKeys();
  }
}

}  // namespace

TEST_CASE_METHOD(LargeSaveTest,
                 "a save has every value as it was at the beginning, member by member, whatever clients do") {
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round, Catch::rngSeed());
    Run({"FLUSHALL"});
    Fill();
    AdvanceTime(random() % 500);  // some members are due
    REQUIRE(Run({"SAVE"}) == Ok());
    const std::string whole = disk.files().at(kSavedFile);
    REQUIRE(Run({"BGSAVE"}) == Simple("Background saving started"));
    const uint64_t changes = random() % 12;
    while (snapshots().saving()) {
      for (uint64_t i = random() % (changes + 1); i != 0; --i) ChangeSomething();
      for (uint64_t i = random() % 3; i != 0; --i) Slice(1 + random() % 20);
    }
    CHECK(Info("rdb_last_bgsave_status") == "ok");
    CHECK(AllValid());
    const std::string sliced = disk.files().at(kSavedFile);
    CHECK(Info("rdb_saves") == std::to_string(2 * (round + 1)));
    StepWallClockUnnoticed(-3'600'000);  // so that members that were due meanwhile are loaded, too
    const SavedState wanted = Loaded(whole);
    const SavedState got = Loaded(sliced);
    CHECK(wanted.size() > 70);
    for (const auto& [key, lines] : wanted) {
      CAPTURE(key);
      CHECK(got.contains(key));
      if (got.contains(key)) CHECK((got.at(key) == lines));
    }
    CHECK(got.size() == wanted.size());
  }
}

TEST_CASE_METHOD(LargeSaveTest, "members of a half-saved sorted set that are due at once are in the file") {
  constexpr int kTimed = 4000;
  for (int i = 0; i < kTimed; ++i) {
    Run({"ZADD", "zset", std::to_string(i), Name(i)});
    Run({"EXPIREMEMBER", "zset", Name(i), "100"});
  }
  Run({"ZADD", "zset", "1", "stays"});
  REQUIRE(Run({"SAVE"}) == Ok());
  const std::string whole = disk.files().at(kSavedFile);
  Run({"BGSAVE"});
  for (int i = 0; i < 10; ++i) Slice(1);
  LetTimePass(100'000);
  // A request that names the key would wait (zset_due_test.cc).
  CHECK(Ask({"EVAL", "return redis.call('ZCARD', 'zset')", "0"}) == Integer(1));
  FinishSave();
  const std::string sliced = disk.files().at(kSavedFile);
  StepWallClockUnnoticed(-3'600'000);
  const SavedState wanted = Loaded(whole);
  CHECK(wanted.at("0zset").size() == kTimed + 1);
  CHECK((Loaded(sliced) == wanted));
}

TEST_CASE_METHOD(LargeSaveTest,
                 "a save that is cancelled in the middle of large values is no harm to the next") {
  Fill();
  for (int round = 0; round < 8; ++round) {
    Run({"BGSAVE"});
    for (uint64_t i = random() % 120; i != 0; --i) {
      ChangeHash();
      ChangeSets();
      ChangeList();
      Slice(1);
    }
    if (snapshots().saving()) {
      Run({"BGSAVE", "CANCEL"});
      for (int i = 0; i < 10; ++i) ChangeHash();
    }
    FinishSave();
    CHECK(AllValid());
    const SavedState wanted = StateNow();
    REQUIRE(Run({"BGSAVE"}) == Simple("Background saving started"));
    while (snapshots().saving()) {
      ChangeHash();
      ChangeSets();
      Slice(3);
    }
    CHECK((Loaded(disk.files().at(kSavedFile)) == wanted));
  }
}

TEST_CASE_METHOD(LargeSaveTest,
                 "memory that runs out among large values fails the save, and does no other harm") {
  Fill();
  size_t failed = 0;
  for (int round = 0; round < 60; ++round) {
    Run({"BGSAVE"});
    for (uint64_t i = random() % 60; i != 0; --i) {
      ChangeHash();
      ChangeSets();
      Slice(1);
    }
    {
      const FailingAllocation failing(1 + random() % 4);
      Slice(1);
    }
    failed += AllocationFailed() ? 1 : 0;
    ChangeHash();
    FinishSave();
    CHECK(AllValid());
  }
  CHECK(failed > 5);
  const SavedState wanted = StateNow();
  REQUIRE(Run({"BGSAVE"}) == Simple("Background saving started"));
  FinishSave();
  CHECK((Loaded(disk.files().at(kSavedFile)) == wanted));
}

TEST_CASE_METHOD(LargeSaveTest, "SAVE ends a running save, with large values half in its file") {
  Fill();
  Run({"BGSAVE"});
  for (int i = 0; i < 30; ++i) {
    ChangeHash();
    Slice(1);
  }
  REQUIRE(snapshots().saving());
  const SavedState wanted = StateNow();
  CHECK(snapshots().SaveNow(now()) == "");
  CHECK(AllValid());
  CHECK((Loaded(disk.files().at(kSavedFile)) == wanted));
}

TEST_CASE_METHOD(LargeSaveTest, "a write to a half-saved hash costs the save one field, not the hash") {
  for (int i = 0; i < 20'000; ++i) Run({"HSET", "hash", Name(i), Text()});
  REQUIRE(Run({"MEMORY", "USAGE", "hash"}).integer > 1'000'000);
  Run({"BGSAVE"});
  const uint64_t before = server().hubs.accounts.Sum();
  Run({"HSET", "hash", Name(3), "new"});
  Run({"HDEL", "hash", Name(4)});
  Run({"HSET", "hash", Name(3), "newer"});
  Slice(1);
  CHECK(server().hubs.accounts.Sum() - before < 2000);
  FinishSave();
}

TEST_CASE_METHOD(LargeSaveTest,
                 "a change in the middle of a half-saved list waits; in a transaction it does not") {
  Fill();
  Run({"BGSAVE"});
  CHECK(Ask({"LSET", "list", "700", "x"}) == Ok());
  CHECK(waited);
  CHECK(Ask({"LINDEX", "list", "700"}) == Bulk("x"));
  FinishSave();
  Run({"BGSAVE"});
  CHECK(Ask({"APPEND", "text", "x"}) == Integer(600'001));
  CHECK(waited);
  FinishSave();
  Run({"BGSAVE"});
  for (const char* command : {"LPUSH", "RPUSH"}) {
    Ask({command, "list", "x"});
    CHECK_FALSE(waited);
  }
  Ask({"RPOP", "list"});
  CHECK_FALSE(waited);
  Ask({"SET", "text", "x"});
  CHECK_FALSE(waited);
  Ask({"XADD", "stream", "999999-1", "f", "v"});
  CHECK_FALSE(waited);
  Ask({"MULTI"});
  Ask({"LSET", "list", "700", "y"});
  Ask({"XDEL", "stream", "800-1"});
  CHECK(Ask({"EXEC"}) == Array({Ok(), Integer(1)}));
  CHECK_FALSE(waited);
  FinishSave();
}

TEST_CASE_METHOD(LargeSaveTest,
                 "what clients take from the tail of a half-saved list is in the file, in order") {
  for (int i = 0; i < 6000; ++i) Run({"RPUSH", "list", Text() + Name(i)});
  REQUIRE(Run({"SAVE"}) == Ok());
  const std::string whole = disk.files().at(kSavedFile);
  Run({"BGSAVE"});
  Slice(1);
  for (int turn = 0; turn < 3; ++turn) {
    Run({"RPOP", "list"});
    Slice(1);
    Run({"RPOP", "list", "200"});
    Slice(1);
  }
  REQUIRE(snapshots().saving());
  SECTION("one by one") {}
  SECTION("also if clients have added others, and take these first") {
    Run({"RPUSH", "list", "new", "newer"});
    Run({"RPOP", "list"});
    Slice(1);
    Run({"RPOP", "list", "3"});
  }
  SECTION("also if only elements that are saved already stay") {
    Run({"MULTI"});  // alone it would wait
    Run({"LTRIM", "list", "0", "1"});
    CHECK(Run({"EXEC"}) == Array({Ok()}));
    CHECK(Run({"LLEN", "list"}) == Integer(2));
  }
  FinishSave();
  const std::string sliced = disk.files().at(kSavedFile);
  const SavedState wanted = Loaded(whole);
  CHECK(wanted.at("0list").size() == 6000);
  CHECK((Loaded(sliced) == wanted));
}

TEST_CASE_METHOD(LargeSaveTest,
                 "a stream whose last id falls while it is saved has its entries of the beginning") {
  for (int i = 1; i <= kMembers; ++i) Run({"XADD", "stream", std::to_string(i) + "-0", "field", Text()});
  Run({"XSETID", "stream", "100000-0"});
  Run({"BGSAVE"});
  Slice(1);
  Run({"XSETID", "stream", "4000-0"});
  CHECK(Run({"XADD", "stream", "5000-0", "field", "new"}) == Bulk("5000-0"));
  FinishSave();
  Run({"FLUSHALL"});
  CHECK(snapshots().LoadNow({}, now()) == "");
  CHECK(Run({"XLEN", "stream"}) == Integer(kMembers));
  CHECK(Run({"XADD", "stream", "5000-0", "field", "new"}).kind ==
        Reply::Kind::kError);  // 100000-0 is saved too
}

TEST_CASE_METHOD(LargeSaveTest, "a large value that no key has any more is freed once it is saved") {
  Fill();
  const uint64_t empty = server().databases.waiting_bytes();
  Run({"BGSAVE"});
  Slice(1);
  for (const char* key : {"hash", "set", "zset", "list", "stream", "text"})
    CHECK(Run({"DEL", key}) == Integer(1));
  FinishSave();
  while (server().databases.FreeSome(1000)) {
  }
  CHECK(server().databases.waiting_bytes() == empty);
  CHECK(snapshots().LoadNow({}, now()) == "");
  CHECK(Run({"HLEN", "hash"}) == Integer(kMembers));
  CHECK(Run({"LLEN", "list"}) == Integer(2 * kMembers));
}

TEST_CASE_METHOD(LargeSaveTest, "a long string is read into its place, in slices") {
  std::string text;
  for (int i = 0; text.size() < 3'000'000; ++i) text += std::to_string(i * 77) + " ";
  Run({"SET", "text", text});
  Run({"SET", "after", "v"});
  REQUIRE(Run({"SAVE"}) == Ok());
  const std::string file = disk.files().at(kSavedFile);
  Run({"FLUSHALL"});
  snapshots().LoadSoon(now());
  size_t slices = 0;
  for (; snapshots().loading(); ++slices) Slice(16);
  CHECK(slices > 10);
  CHECK((Run({"GET", "text"}) == Bulk(text)));
  CHECK(Run({"GET", "after"}) == Bulk("v"));
  disk.Put(kSavedFile, file.substr(0, 1'000'000));
  Run({"FLUSHALL"});
  CHECK(snapshots().LoadNow({}, now()).find("the file ends too early") != std::string::npos);
}

}  // namespace mayfly::testing
