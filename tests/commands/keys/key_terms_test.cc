// What belongs to a key beside its value (deadlines and their clocks, SLIDE and its MAX, STALE, tags, a task's stream, the namespace,
// the time or the number of uses, deadlines of members), on every way to another server: a file, a full synchronisation, the stream
// of commands, DUMP and RESTORE, MIGRATE. Each way says what arrives, and all else must not.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "cache/entry/entry_extra.h"
#include "cache/owners/lfu.h"
#include "cache/types/hash_value.h"
#include "cache/types/set_value.h"
#include "cache/types/sorted_set_value.h"
#include "commands/replicas/follow_world.h"
#include "snapshot/saver.h"

namespace mayfly::testing {
namespace {

// What a key has: "ttl" (a deadline that no step of the wall clock moves) or "promise" (a deadline in Unix time), "slide", "until",
// "stale", "tag", "member" (of a value, with its clock), "owner" ... In Unix time: servers are compared.
using KeyTermLines = std::vector<std::string>;
using TermsOfKeys = std::map<std::string, KeyTermLines>;

std::string DeadlineLine(const std::string& name, Expiry deadline, Now now) {
  const bool wall = deadline.kind == Expiry::Kind::kWall;
  return name + (wall ? " promise " : " ttl ") + std::to_string(deadline.On(Expiry::Kind::kWall, now));
}

void AddMembers(const Entry& entry, Now now, KeyTermLines& lines) {
  if (entry.encoding() != Encoding::kRich) return;
  const RichValue& value = *entry.rich();
  const auto add = [&](std::string_view member, Expiry deadline) {
    if (deadline.kind != Expiry::Kind::kNever)
      lines.push_back(DeadlineLine("member " + std::string(member), deadline, now));
  };
  if (value.type == ValueType::kHash)
    static_cast<const HashValue&>(value).ForEachLiveAt(
        now, [&](std::string_view name, std::string_view, Expiry deadline) { add(name, deadline); });
  if (value.type == ValueType::kSet) static_cast<const SetValue&>(value).ForEachLiveAt(now, add);
  if (value.type == ValueType::kSortedSet)
    static_cast<const SortedSetValue&>(value).ForEachLiveAt(
        now, [&](std::string_view name, double, Expiry deadline) { add(name, deadline); });
}

KeyTermLines TermLinesOf(const Keyspace& keys, const Entry& entry, Now now) {
  KeyTermLines lines;
  if (entry.expires()) lines.push_back(DeadlineLine("key", entry.deadline(), now));
  const EntryTerms terms = entry.terms();
  if (terms.slide_ms != 0) lines.push_back("slide " + std::to_string(terms.slide_ms));
  if (terms.slide_until_ms != 0) lines.push_back("until " + std::to_string(now.WallOf(terms.slide_until_ms)));
  if (terms.stale_ms != 0) lines.push_back("stale " + std::to_string(terms.stale_ms));
  if (entry.Has(EntryFlag::kExtra)) {
    for (const std::string_view tag : keys.tags().NamesOf(entry)) lines.push_back("tag " + std::string(tag));
  }
  if (entry.task()) lines.emplace_back("task");
  if (entry.owner() != keys.owners().own().owner()) lines.emplace_back("of a namespace");
  AddMembers(entry, now, lines);
  std::ranges::sort(lines);
  return lines;
}

TermsOfKeys TermsIn(SnapshotTest& test) {
  TermsOfKeys all;
  for (unsigned i = 0; i < 2; ++i) {
    const Keyspace& keys = test.keyspace(i);
    keys.table().ForEach([&](HeapRef ref) {
      const Entry& entry = *keys.At(ref);
      all[std::to_string(i) + " " + std::string(entry.key())] = TermLinesOf(keys, entry, test.now());
    });
  }
  return all;
}

// Keys with each term alone and with others, small values and large ones.
void MakeKeys(SnapshotTest& test) {
  test.SetOption("namespace", "app prefix app:");
  const std::string soon = test.UnixMs(500'000);
  const std::vector<Words> requests = {
      {"SET", "plain", "v"},
      {"SET", "number", "17"},
      {"SET", "ttl", "v", "PX", "500000"},
      {"SET", "promise", "v", "PXAT", soon},
      {"SET", "slides", "v", "PX", "500000", "SLIDE"},
      {"SET", "session", "v", "PX", "500000", "SLIDE", "MAX", "1200000"},
      {"SET", "stale", "v", "EX", "500", "STALE", "70"},
      {"SET", "stale promise", "v", "PXAT", soon, "STALE", "70"},
      {"SET", "tagged", "v", "TAGS", "2", "a", "b"},
      {"SET", "tagged ttl", "v", "EX", "500", "TAGS", "1", "a"},
      {"SET", "all", "v", "EX", "500", "SLIDE", "MAX", "1200", "STALE", "70", "TAGS", "2", "a", "c"},
      {"SET", "task", "v", "EX", "500", "INTO", "jobs", "MAXLEN", "30"},
      {"SET", "tagged task", "v", "EXAT", test.UnixSeconds(700), "TAGS", "1", "a", "INTO", "other jobs"},
      {"SET", "app:key", "v", "EX", "500"},
      {"SET", "text", std::string(300'000, 't'), "EX", "500", "SLIDE", "MAX", "1200", "STALE", "70", "TAGS",
       "1", "a"},
      {"RPUSH", "list", "x"},
      {"EXPIRE", "list", "500", "SLIDE", "MAX", "1200"},
      {"TAG", "list", "a", "b"},
      {"SADD", "sliding set", "x"},
      {"EXPIRE", "sliding set", "500", "SLIDE"},
      {"HSET", "hash", "f", "v", "g", "w", "h", "x"},
      {"HPEXPIRE", "hash", "400000", "FIELDS", "1", "f"},
      {"HPEXPIRE", "hash", "300000", "FIELDS", "1", "g"},
      {"HSET", "hash promise", "f", "v", "g", "w"},
      {"HPEXPIREAT", "hash promise", soon, "FIELDS", "1", "f"},
      {"SADDEX", "set", "400", "x", "y"},
      {"SADD", "set", "z"},
      {"SADD", "set promise", "x", "y"},
      {"PEXPIREMEMBERAT", "set promise", "x", soon},
      {"ZADD", "zset", "1", "x", "2", "y"},
      {"EXPIREMEMBER", "zset", "x", "400"},
      {"ZADD", "zset promise", "1", "x", "2", "y"},
      {"PEXPIREMEMBERAT", "zset promise", "y", soon},
      {"HSET", "hash of all", "f", "v", "g", "w"},
      {"HPEXPIRE", "hash of all", "400000", "FIELDS", "1", "f"},
      {"EXPIRE", "hash of all", "500", "SLIDE", "MAX", "1200"},
      {"TAG", "hash of all", "a"},
      {"XADD", "jobs", "1-1", "f", "v"},
      {"EXPIRE", "jobs", "800"},
      {"SELECT", "1"},
      {"SET", "session", "v", "EX", "500", "SLIDE", "MAX", "1200", "TAGS", "1", "a"},
      {"SELECT", "0"}};
  for (const Words& request : requests) {
    CAPTURE(request);
    REQUIRE(test.Run(request).kind != Reply::Kind::kError);
  }
  const std::string filler(50, 'm');
  for (const std::string& kind : {std::string("ttl"), std::string("promise")}) {
    for (int i = 0; i < 2000; ++i) {
      const std::string member = filler + std::to_string(i);
      const bool ttl = kind == "ttl";
      const std::string at = ttl ? "400000" : soon;
      test.Run({"HSET", "large hash " + kind, member, "v"});
      test.Run({"SADD", "large set " + kind, member});
      test.Run({"ZADD", "large zset " + kind, "1", member});
      if (i % 100 != 0) continue;
      test.Run({ttl ? "HPEXPIRE" : "HPEXPIREAT", "large hash " + kind, at, "FIELDS", "1", member});
      const Words set = {"PEXPIREMEMBERAT", "large set " + kind, member, at};
      const Words zset = {"PEXPIREMEMBERAT", "large zset " + kind, member, at};
      test.Run(ttl ? Words{"EXPIREMEMBER", "large set " + kind, member, "400"} : set);
      test.Run(ttl ? Words{"EXPIREMEMBER", "large zset " + kind, member, "400"} : zset);
    }
  }
}

// At a replica, deadlines that do not slide are Unix times, as its master reports them.
TermsOfKeys AtReplica(TermsOfKeys terms) {
  for (auto& [key, lines] : terms) {
    const bool slides =
        std::ranges::any_of(lines, [](const auto& line) { return line.starts_with("slide"); });
    for (std::string& line : lines) {
      const size_t ttl = line.find(" ttl ");
      const bool of_key = line.starts_with("key ");
      if (ttl != std::string::npos && !(of_key && slides)) line.replace(ttl, 5, " promise ");
    }
    std::ranges::sort(lines);
  }
  return terms;
}

void CheckSame(const TermsOfKeys& got, const TermsOfKeys& wanted) {
  CHECK(wanted.size() > 25);
  for (const auto& [key, lines] : wanted) {
    CAPTURE(key);
    REQUIRE(got.contains(key));
    CHECK(got.at(key) == lines);
  }
  CHECK(got.size() == wanted.size());
}

class KeyTermsTest : public FollowTest {
 public:
  KeyTermsTest() {
    SetOption("repl-timeout", "100000");
    follower.SetOption("repl-timeout", "100000");
    follower.SetOption("namespace", "app prefix app:");
  }
  // Another server, at the same time, has this file.
  void LoadInto(SnapshotTest& other, const std::string& file) {
    other.SetOption("namespace", "app prefix app:");
    other.disk.Put(kSnapshotPath, file);
    other.LetTimePass(static_cast<uint64_t>(WallMs() - other.WallMs()));
    REQUIRE(other.snapshots().LoadNow({}, other.now()) == "");
  }
};

// The key is used each 400 s, and goes at the end of SLIDE MAX, 1200 s after it was set at `set_ms`.
void CheckEndOfSession(SnapshotTest& test, int64_t set_ms) {
  while (test.WallMs() + 400'000 < set_ms + 1'200'000) {
    test.AdvanceTime(400'000);
    CHECK(test.Run({"GET", "session"}) == Bulk("v"));
  }
  test.AdvanceTime(static_cast<uint64_t>(set_ms + 1'199'999 - test.WallMs()));
  CHECK(test.Run({"GET", "session"}) == Bulk("v"));
  test.AdvanceTime(1);
  CHECK(test.Run({"GET", "session"}) == Null());
}

}  // namespace

// ---- files

TEST_CASE_METHOD(KeyTermsTest,
                 "a file has every term of every key, whoever writes it and whenever it is read") {
  MakeKeys(*this);
  const int64_t set_ms = WallMs();
  AdvanceTime(10'000);
  const TermsOfKeys wanted = TermsIn(*this);
  SECTION("SAVE") { REQUIRE(Run({"SAVE"}) == Ok()); }
  SECTION("BGSAVE, in slices") {
    Run({"BGSAVE"});
    FinishSave();
  }
  SECTION("BGSAVE, while each key is changed") {
    Run({"BGSAVE"});
    for (const auto& [key, lines] : wanted) {
      Connect().Run({"PEXPIRE", key.substr(2), "900000"});
      Slice(1);
    }
    FinishSave();
  }
  LetTimePass(50'000);
  SnapshotTest other;
  LoadInto(other, disk.files().at(kSnapshotPath));
  CheckSame(TermsIn(other), wanted);
  // What was loaded is saved again.
  REQUIRE(other.Run({"SAVE"}) == Ok());
  SnapshotTest third;
  LoadInto(third, other.disk.files().at(kSnapshotPath));
  CheckSame(TermsIn(third), wanted);
  CHECK(third.Run({"NSFLUSH", "app"}) == Integer(1));
  CheckEndOfSession(third, set_ms);
}

TEST_CASE_METHOD(KeyTermsTest, "a load that finds a session after the end of its SLIDE MAX has no session") {
  Run({"SET", "session", "v", "PX", "500", "SLIDE", "MAX", "800"});
  LetTimePass(400);
  CHECK(Run({"GET", "session"}) == Bulk("v"));
  REQUIRE(Run({"SAVE"}) == Ok());
  SnapshotTest in_time;
  LetTimePass(399);
  LoadInto(in_time, disk.files().at(kSnapshotPath));
  CHECK(in_time.Run({"GET", "session"}) == Bulk("v"));
  CHECK(in_time.Run({"PTTL", "session"}) == Integer(1));
  SnapshotTest late;
  LetTimePass(1);
  LoadInto(late, disk.files().at(kSnapshotPath));
  CHECK(late.Run({"GET", "session"}) == Null());
}

TEST_CASE_METHOD(KeyTermsTest,
                 "the window of a stale value goes on over a downtime, and does not begin anew") {
  // A key that was stale when the file was written, and a key that gets stale in the downtime.
  const bool saved_stale = GENERATE(true, false);
  const bool promise = GENERATE(true, false);
  CAPTURE(saved_stale, promise);
  const int64_t deadline_ms = WallMs() / 1000 * 1000 + 2000;
  Run({"SET", "k", "old", "PXAT", std::to_string(deadline_ms), "STALE", "50000"});
  if (!promise) Run({"SET", "k", "old", "PX", std::to_string(deadline_ms - WallMs()), "STALE", "50000"});
  if (saved_stale) AdvanceTime(4000);
  REQUIRE(Run({"SAVE"}) == Ok());
  const auto lease_after = [&](int64_t ms_after_deadline, int64_t ms_after_load) {
    SnapshotTest other;
    other.disk.Put(kSnapshotPath, disk.files().at(kSnapshotPath));
    other.LetTimePass(static_cast<uint64_t>(deadline_ms + ms_after_deadline - other.WallMs()));
    REQUIRE(other.snapshots().LoadNow({}, other.now()) == "");
    other.AdvanceTime(static_cast<uint64_t>(ms_after_load));
    return other.Run({"TAKE", "k", "LEASE", "1000"}).elements.at(1);
  };
  CHECK(lease_after(10'000, 39'999) == Bulk("old"));
  CHECK(lease_after(10'000, 40'000) == Null());
  CHECK(lease_after(49'999, 0) == Bulk("old"));
  CHECK(lease_after(50'000, 0) == Null());
}

TEST_CASE_METHOD(KeyTermsTest, "a stale value has its tags and its clock after a load") {
  for (const std::string& name : {std::string("ttl"), std::string("promise")}) {
    const Words deadline = name == "ttl" ? Words{"PX", "2000"} : Words{"PXAT", UnixMs(2000)};
    for (const std::string& tag : {std::string("a"), std::string("b")})
      Run({"SET", name + tag, "old", deadline[0], deadline[1], "STALE", "50000", "TAGS", "1", tag});
  }
  const bool saved_stale = GENERATE(true, false);
  CAPTURE(saved_stale);
  if (saved_stale) AdvanceTime(3000);
  REQUIRE(Run({"SAVE"}) == Ok());
  if (!saved_stale) LetTimePass(3000);
  SnapshotTest other;
  LoadInto(other, disk.files().at(kSnapshotPath));
  other.Run({"INVALIDATE", "a"});
  other.StepWallClock(-45'000);  // moves the promise's window alone
  other.AdvanceTime(60'000);
  const auto stale = [&](const std::string& key) {
    return other.Run({"TAKE", key, "LEASE", "1000"}).elements.at(1);
  };
  CHECK(stale("ttla") == Null());
  CHECK(stale("promisea") == Null());
  CHECK(stale("ttlb") == Null());
  CHECK(stale("promiseb") == Bulk("old"));
}

TEST_CASE_METHOD(KeyTermsTest, "what is stale in a database stays in that database") {
  Run({"SET", "k", "old", "PX", "1000", "STALE", "50000"});
  Run({"SELECT", "1"});
  Run({"SET", "k", "other", "PX", "1000", "STALE", "50000"});
  Run({"SET", "live", "v"});
  AdvanceTime(2000);
  REQUIRE(Run({"SAVE"}) == Ok());
  SnapshotTest other;
  LoadInto(other, disk.files().at(kSnapshotPath));
  CHECK(other.Run({"TAKE", "k", "LEASE", "1000"}).elements.at(1) == Bulk("old"));
  other.Run({"SELECT", "1"});
  CHECK(other.Run({"TAKE", "k", "LEASE", "1000"}).elements.at(1) == Bulk("other"));
}

TEST_CASE_METHOD(KeyTermsTest, "after a load a key is idle for as long as it was, and a task is not idle") {
  Run({"XADD", "jobs", "1-1", "f", "v"});
  Run({"SET", "cold", "v"});
  Run({"SET", "cold text", std::string(300'000, 't')});
  Run({"SET", "task", "v", "EX", "5000", "INTO", "jobs"});
  LetTimePass(100 * 64);
  Run({"SET", "warm", "v", "EX", "5000"});
  LetTimePass(50 * 64);
  SECTION("SAVE") { REQUIRE(Run({"SAVE"}) == Ok()); }
  SECTION("BGSAVE, while the cold key is read and removed") {
    Run({"BGSAVE"});
    LetTimePass(64);
    Run({"GET", "cold"});
    Run({"DEL", "cold", "cold text"});
    FinishSave();
  }
  SnapshotTest other;
  LoadInto(other, disk.files().at(kSnapshotPath));
  const auto idle_ms = [&](const char* key) {
    return Entry::IdleMs(other.keyspace().LookAt(key, other.now())->stamp(), other.now().mono_ms);
  };
  CHECK(idle_ms("cold") == 150 * 64);
  CHECK(idle_ms("cold text") == 150 * 64);
  CHECK(idle_ms("jobs") == 150 * 64);
  CHECK(idle_ms("warm") == 50 * 64);
  CHECK(idle_ms("task") == 0);
}

TEST_CASE_METHOD(KeyTermsTest,
                 "a large value whose members are all due leaves the idle times of the keys after it alone") {
  Run({"SET", "cold", "v"});
  LetTimePass(100 * 64);
  Words dead = {"SADDEX", "dead", "1"};
  for (int i = 0; i < 2000; ++i) dead.push_back(std::string(50, 'm') + std::to_string(i));
  Run(dead);
  LetTimePass(100 * 64);
  Run({"SET", "warm", "v"});
  LetTimePass(50 * 64);
  REQUIRE(Run({"SAVE"}) == Ok());
  SnapshotTest other;
  LoadInto(other, disk.files().at(kSnapshotPath));
  CHECK(other.Run({"EXISTS", "dead"}) == Integer(0));
  const auto idle_ms = [&](const char* key) {
    return Entry::IdleMs(other.keyspace().LookAt(key, other.now())->stamp(), other.now().mono_ms);
  };
  CHECK(idle_ms("warm") == 50 * 64);
  CHECK(idle_ms("cold") == 250 * 64);
}

TEST_CASE_METHOD(KeyTermsTest,
                 "under an LFU policy a file has the counts as they are now, and a load takes them") {
  const std::string policy = GENERATE("allkeys-lfu", "volatile-lfu");
  SetOption("maxmemory-policy", policy);
  SetOption("lfu-log-factor", "0");
  SetOption("lfu-decay-time", "1");
  Run({"SET", "often", "v"});
  for (int i = 0; i < 20; ++i) Run({"GET", "often"});
  Run({"RPUSH", "seldom", "v"});
  for (int i = 0; i < 9; ++i) Run({"LLEN", "seldom"});
  LetTimePass(2 * 60'000);  // two minutes take two uses away
  const Reply often = Run({"OBJECT", "FREQ", "often"});
  const Reply seldom = Run({"OBJECT", "FREQ", "seldom"});
  CHECK(often == Integer(23));
  CHECK(seldom == Integer(12));
  REQUIRE(Run({"SAVE"}) == Ok());
  SnapshotTest other;
  other.SetOption("maxmemory-policy", policy);
  other.SetOption("lfu-decay-time", "1");
  LoadInto(other, disk.files().at(kSnapshotPath));
  CHECK(other.Run({"OBJECT", "FREQ", "often"}) == often);
  CHECK(other.Run({"OBJECT", "FREQ", "seldom"}) == seldom);
}

// ---- a replica

TEST_CASE_METHOD(KeyTermsTest,
                 "a full synchronisation brings every term, and a promoted replica has and saves them") {
  MakeKeys(*this);
  const int64_t set_ms = WallMs();
  follower.LetTimePass(static_cast<uint64_t>(WallMs() - follower.WallMs()));
  FollowTest::Follow();
  const TermsOfKeys wanted = AtReplica(TermsIn(*this));
  CheckSame(TermsIn(follower), wanted);
  CHECK(Link("master_failed_commands") == "0");
  REQUIRE(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  CheckSame(TermsIn(follower), wanted);
  REQUIRE(follower.Run({"SAVE"}) == Ok());
  SnapshotTest other;
  LetTimePass(static_cast<uint64_t>(follower.WallMs() - WallMs()));
  LoadInto(other, follower.disk.files().at(kSnapshotPath));
  CheckSame(TermsIn(other), wanted);
  CheckEndOfSession(follower, set_ms);
}

TEST_CASE_METHOD(KeyTermsTest, "the stream of commands brings every term, and a promoted replica has them") {
  follower.LetTimePass(static_cast<uint64_t>(WallMs() - follower.WallMs()));
  FollowTest::Follow();
  follower.LetTimePass(static_cast<uint64_t>(WallMs() - follower.WallMs()));
  MakeKeys(*this);
  const int64_t set_ms = WallMs();
  Carry();
  const TermsOfKeys wanted = AtReplica(TermsIn(*this));
  CheckSame(TermsIn(follower), wanted);
  CHECK(Link("master_failed_commands") == "0");
  // Each change anew: deadlines alone, the value alone, another name.
  AdvanceTime(10'000);
  follower.AdvanceTime(10'000);
  for (const auto& [key, lines] : TermsIn(*this)) {
    TestClient& client = Connect();
    client.Run({"SELECT", key.substr(0, 1)});
    const std::string name = key.substr(2);
    client.Run({"GET", name});
    client.Run({"APPEND", name, "w"});
    client.Run({"HSET", name, "new", "v"});
    client.Run({"SADD", name, "new"});
    client.Run({"RPUSH", name, "new"});
    client.Run({"TOUCH", name});
    client.Run({"RENAME", name, "renamed " + name});
    client.Run({"COPY", "renamed " + name, "copy of " + name});
    if (key[0] == '0') client.Run({"COPY", "renamed " + name, "moved " + name, "DB", "1"});
    client.Run({"RENAME", "renamed " + name, name});
  }
  Carry();
  CheckSame(TermsIn(follower), AtReplica(TermsIn(*this)));
  CHECK(Link("master_failed_commands") == "0");
  REQUIRE(follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  CheckSame(TermsIn(follower), AtReplica(TermsIn(*this)));
  REQUIRE(follower.Run({"SET", "session", "v", "KEEPTTL"}) == Ok());
  CheckEndOfSession(follower, set_ms);
}

TEST_CASE_METHOD(KeyTermsTest,
                 "at a replica deadlines of members and of keys are promises, which its wall clock moves") {
  const bool by_stream = GENERATE(false, true);
  CAPTURE(by_stream);
  const auto make = [&] {
    Run({"SET", "key", "v", "PX", "500000"});
    Run({"SADDEX", "set", "500", "x"});
    Run({"ZADD", "zset", "1", "x"});
    Run({"EXPIREMEMBER", "zset", "x", "500"});
    Run({"HSET", "hash", "x", "v"});
    Run({"HEXPIRE", "hash", "500", "FIELDS", "1", "x"});
  };
  if (!by_stream) make();
  FollowTest::Follow();
  if (by_stream) make();
  Carry();
  follower.StepWallClock(static_cast<int64_t>(WallMs() - follower.WallMs()));
  for (const int64_t ahead_ms : {int64_t{0}, int64_t{100'000}}) {
    CAPTURE(ahead_ms);
    follower.StepWallClock(ahead_ms);
    CHECK(follower.Run({"PTTL", "key"}) == Integer(Run({"PTTL", "key"}).integer - ahead_ms));
    for (const char* key : {"set", "zset", "hash"}) {
      CAPTURE(key);
      CHECK(follower.Run({"FIELDTTL", key, "x"}) ==
            Integer(Run({"FIELDTTL", key, "x"}).integer - ahead_ms / 1000));
    }
  }
}

// ---- DUMP, RESTORE, MIGRATE

TEST_CASE_METHOD(KeyTermsTest,
                 "DUMP has the value and the fields' deadlines, RESTORE the TTL, and nothing else") {
  MakeKeys(*this);
  TermsOfKeys wanted;
  SnapshotTest other;
  other.LetTimePass(static_cast<uint64_t>(WallMs() - other.WallMs()));
  for (auto& [key, lines] : TermsIn(*this)) {
    if (key[0] != '0') continue;
    const std::string name = key.substr(2);
    const std::string payload = Run({"DUMP", name}).text;
    const bool absolute = name.size() % 2 == 0;
    const int64_t at_ms = Run({"PEXPIRETIME", name}).integer;
    const std::string ttl = at_ms < 0 ? "0" : std::to_string(absolute ? at_ms : at_ms - WallMs());
    CHECK(other.Run(absolute ? Words{"RESTORE", name, ttl, payload, "ABSTTL"}
                             : Words{"RESTORE", name, ttl, payload}) == Ok());
    // Sets and sorted sets of other servers have no deadlines of members.
    const bool is_hash = Run({"TYPE", name}).text == "hash";
    for (std::string& line : lines) {
      const bool of_key = line.starts_with("key ");
      if (!of_key && !(is_hash && line.starts_with("member "))) continue;
      const size_t ttl_at = line.find(" ttl ");
      const size_t promise_at = line.find(" promise ");
      if (of_key && !absolute && promise_at != std::string::npos) line.replace(promise_at, 9, " ttl ");
      if ((!of_key || absolute) && ttl_at != std::string::npos) line.replace(ttl_at, 5, " promise ");
      wanted[key].push_back(line);
    }
    wanted.try_emplace(key);
    std::ranges::sort(wanted[key]);
  }
  CheckSame(TermsIn(other), wanted);
}

TEST_CASE_METHOD(KeyTermsTest, "MIGRATE brings the TTL, and the deadlines of fields") {
  Run({"SET", "ttl", "v", "PX", "500000"});
  Run({"SET", "promise", "v", "PXAT", UnixMs(500'000)});
  Run({"SET", "plain", "v", "TAGS", "1", "a"});
  Run({"SET", "all", "v", "EX", "500", "SLIDE", "MAX", "1200", "STALE", "70", "TAGS", "2", "a", "c"});
  Run({"HSET", "hash", "f", "v", "g", "w"});
  Run({"HPEXPIRE", "hash", "400000", "FIELDS", "1", "f"});
  Run({"PEXPIRE", "hash", "500000"});
  FakeTargets targets{server()};
  SnapshotTest there;
  there.LetTimePass(static_cast<uint64_t>(WallMs() - there.WallMs()));
  CHECK(Run({"MIGRATE", "there", "7000", "", "0", "100", "KEYS", "ttl", "promise", "plain", "all", "hash"}) ==
        NoReply());
  targets.last().Accept();
  targets.last().AnswerAs(there.client());
  targets.last().AnswerAs(there.client());
  CHECK(client().Received() == std::vector<Reply>{Ok()});
  CHECK(Run({"DBSIZE"}) == Integer(0));
  const std::string at = std::to_string(WallMs() + 500'000);
  const std::string field_at = std::to_string(WallMs() + 400'000);
  CHECK(TermsIn(there) == TermsOfKeys{{"0 ttl", {"key ttl " + at}},
                                      {"0 promise", {"key ttl " + at}},
                                      {"0 plain", {}},
                                      {"0 all", {"key ttl " + at}},
                                      {"0 hash", {"key ttl " + at, "member f promise " + field_at}}});
}

TEST_CASE_METHOD(KeyTermsTest, "a key has at the target what is left of its TTL when it is sent") {
  Run({"SET", "k", "v", "PX", "100"});
  FakeTargets targets{server()};
  CHECK(Run({"MIGRATE", "there", "7000", "k", "0", "1000"}) == NoReply());
  AdvanceTime(99);
  targets.last().Accept();
  targets.last().Answer("+OK\r\n");
  CHECK(targets.last().Take().find("RESTORE k 1 ...") != std::string::npos);
}

}  // namespace mayfly::testing
