#include "cache/snapshot_walk.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/bag_value.h"
#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {
namespace {

using testing::Bag;

// Database and key; value, clock and deadline.
using Image = std::map<std::pair<unsigned, std::string>, std::string>;

std::string WalkedText(const Entry& entry) {
  std::string text;
  if (entry.encoding() == Encoding::kInteger) {
    text = std::to_string(entry.integer());
  } else if (entry.encoding() == Encoding::kRich) {
    for (const std::string& part : static_cast<const Bag*>(entry.rich())->texts()) text += part + ",";
  } else {
    text = entry.text();
  }
  const Expiry expiry = entry.deadline();
  return text + " until " + std::to_string(static_cast<int>(expiry.kind)) + ":" +
         std::to_string(expiry.deadline_ms);
}

// Keeps what the walk visits; no key comes twice.
class Keeper final : public SnapshotVisitor {
 public:
  void Visit(unsigned index, const Keyspace&, const Entry& entry) noexcept override {
    const bool first = image.emplace(std::pair(index, std::string(entry.key())), WalkedText(entry)).second;
    visited_twice |= !first;
    keys.emplace_back(entry.key());
  }
  bool WantsPause() const noexcept override { return keys.size() >= pause_at; }
  Image image;
  std::vector<std::string> keys;  // in their order
  size_t pause_at = SIZE_MAX;
  bool visited_twice = false;
};

class WalkFixture : public KeyspaceFixture {
 public:
  static constexpr unsigned kDatabases = 4;

  void Seed(unsigned seed) { random_.seed(seed); }
  size_t Below(size_t count) { return random_() % count; }
  std::string AnyKey() { return "key:" + std::to_string(Below(keys)); }
  Keyspace& AnyDb() { return db(static_cast<unsigned>(Below(kDatabases))); }

  Image Now() {
    Image image;
    for (unsigned i = 0; i < kDatabases; ++i) {
      db(i).ForEach(now(), [&](const Entry& entry) {
        image.emplace(std::pair(i, std::string(entry.key())), WalkedText(entry));
      });
    }
    return image;
  }
  bool Valid() {
    for (unsigned i = 0; i < kDatabases; ++i) {
      if (!db(i).Validate()) return false;
    }
    return true;
  }

  Expiry AnyExpiry() {
    switch (Below(4)) {
      case 0:
        return In(1 + Below(300));
      case 1:
        return Expiry::At(now().wall_ms + static_cast<int64_t>(1 + Below(300)));
      case 2:
        return In((uint64_t{1} << 49) + Below(10));
      default:
        return Expiry::Never();
    }
  }
  std::string AnyText() {
    switch (Below(5)) {
      case 0:
        return std::to_string(Below(1000));
      case 1:
        return std::string(Entry::kMaxInlineValue + 1 + Below(100), static_cast<char>('a' + Below(26)));
      default:
        return std::string(Below(200), static_cast<char>('a' + Below(26)));
    }
  }

  void ChangeAnything() {
    Keyspace& keyspace = AnyDb();
    const std::string name = AnyKey();
    const Key key = keyspace.KeyOf(name);
    switch (const size_t kind = Below(100); kind) {
      case 0:
        return databases.Flush(static_cast<unsigned>(Below(kDatabases)), now());
      case 1:
        return Below(5) == 0 ? databases.FlushAll(now()) : void();
      case 2:
      case 3:
        return databases.Swap(static_cast<unsigned>(Below(kDatabases)),
                              static_cast<unsigned>(Below(kDatabases)));
      case 4:
        if (Entry* coldest = keyspace.owners().own().Coldest(Quota::kLasting))
          keyspace.Evict(*coldest, now());
        return;
      case 5:
        clock.AdvanceTime(Below(30));
        databases.Advance(now(), 1 + Below(20));
        return;
      case 6:
        databases.FreeSome(1 + Below(50));
        return;
      default:
        return ChangeKey(keyspace, key, kind % 10);
    }
  }

 private:
  void ChangeKey(Keyspace& keyspace, const Key& key, size_t kind) {
    Entry* entry = keyspace.Peek(key, now());
    if (kind <= 2) {
      keyspace.Put(key, entry, StringValue::Of(AnyText()), AnyExpiry(), now());
    } else if (kind == 3) {
      keyspace.PutRich(key, entry, Bag::Of(1 + Below(100)), AnyExpiry(), now(), events::kSet);
    } else if (kind == 4) {
      PutSome(keyspace);
    } else if (entry != nullptr) {
      ChangeEntry(keyspace, key, *entry, kind);
    }
  }
  void PutSome(Keyspace& keyspace) {
    const std::string names[] = {AnyKey(), AnyKey(), AnyKey()};
    const std::string texts[] = {AnyText(), AnyText(), AnyText()};
    std::vector<KeyPut> puts;
    for (int i = 0; i < 3; ++i) puts.push_back({keyspace.KeyOf(names[i]), StringValue::Of(texts[i])});
    keyspace.PutAll(puts, Below(2) == 0, AnyExpiry(), now());
  }
  void ChangeEntry(Keyspace& keyspace, const Key& key, Entry& entry, size_t kind) {
    Keyspace& to = AnyDb();
    const std::string name = AnyKey();
    const Key other = to.KeyOf(name);
    const bool elsewhere = &to != &keyspace || name != key.text;
    if (kind == 5) {
      keyspace.SetExpiry(key, entry, AnyExpiry(), now());
    } else if (kind == 6 && elsewhere) {
      Entry* taken = to.Peek(other, now());
      keyspace.Move(key, entry, to, other, taken, now());
    } else if (kind == 7 && elsewhere) {
      Entry* taken = to.Peek(other, now());
      to.PutCopy(other, taken, entry, now());
    } else if (kind == 8) {
      Edit(keyspace, key, entry);
    } else if (kind == 9) {
      keyspace.Delete(key, now());
    }
  }
  void Edit(Keyspace& keyspace, const Key& key, Entry& entry) {
    if (entry.encoding() == Encoding::kBlock) {
      keyspace.EditBlock(entry, Below(20'000), events::kSet, [&](char* bytes) {
        bytes[5] = static_cast<char>('A' + Below(26));
        return true;
      });
    } else if (entry.encoding() == Encoding::kRich) {
      keyspace.EditRich<Bag>(key, entry, now(), events::kSet, [&](Bag& bag) {
        if (Below(2) == 0) bag.Add("more");
        return bag.TakeLast();
      });
    } else {
      keyspace.PutValue(key, entry, StringValue::Of(AnyText()), now(), events::kSet);
    }
  }

 public:
  size_t keys = 300;

 private:
  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE_METHOD(WalkFixture,
                 "a walk in slices sees the keys as they were at its start, whatever changes meanwhile") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    Seed(seed);
    keys = 1 + Below(1000);
    for (size_t i = 0; i < 3 * keys; ++i) ChangeAnything();
    if (seed % 3 == 0) clock.AdvanceTime(100);  // some are due, and not freed yet
    const Image start = Now();
    Keeper keeper;
    {
      SnapshotWalk walk(databases, keeper, now());
      const size_t changes_per_step = Below(40);
      do {
        for (size_t i = 0; i < changes_per_step; ++i) ChangeAnything();
      } while (!walk.Step(1 + Below(100)));
      for (size_t i = 0; i < 100; ++i) ChangeAnything();
    }
    REQUIRE_FALSE(keeper.visited_twice);
    REQUIRE((keeper.image == start));
    REQUIRE(Valid());
    while (databases.FreeSome(100)) {
    }
    REQUIRE(databases.waiting_bytes() == 0);
  }
}

TEST_CASE_METHOD(WalkFixture,
                 "the next walk begins with what changed during the last one, also if that was abandoned") {
  for (unsigned i = 0; i < 2000; ++i) Set("key:" + std::to_string(i), "first", Expiry::Never(), i % 4);
  {
    Keeper keeper;
    SnapshotWalk walk(databases, keeper, now());
    CHECK_FALSE(walk.Step(100));
    Set("key:4", "second");
    databases.Flush(1, now());
    walk.Abandon();
    CHECK_FALSE(walk.Step(100));
    CHECK(keeper.image.size() < 1000);
  }
  while (databases.FreeSome(100)) {
  }
  CHECK(databases.waiting_keys() == 0);
  Set("new", "key", Expiry::Never(), 1);
  const Image start = Now();
  Keeper keeper;
  SnapshotWalk walk(databases, keeper, now());
  while (!walk.Step(100)) {
  }
  CHECK((keeper.image == start));
}

TEST_CASE_METHOD(WalkFixture,
                 "the keys come in the order of their use, the last used first, in all databases") {
  std::vector<std::string> expected;
  for (unsigned i = 0; i < 1000; ++i) {
    clock.AdvanceTime(Entry::kStampMs);
    expected.push_back("key:" + std::to_string(i));
    Set(expected.back(), "v", Below(2) == 0 ? In(1'000'000) : Expiry::Never(), i % kDatabases);
  }
  clock.AdvanceTime(Entry::kStampMs);
  const std::string used = expected[500];
  static_cast<void>(db(500 % kDatabases).Find(db(500 % kDatabases).KeyOf(used), now()));
  expected.erase(expected.begin() + 500);
  expected.push_back(used);
  std::reverse(expected.begin(), expected.end());
  Keeper keeper;
  SnapshotWalk walk(databases, keeper, now());
  while (!walk.Step(7)) {
  }
  CHECK((keeper.keys == expected));
}

TEST_CASE_METHOD(WalkFixture,
                 "a key that is used during the walk comes before its turn, with its old time of use") {
  for (const char* key : {"coldest", "cold", "warm", "hot"}) {
    Set(key, "v");
    clock.AdvanceTime(1000);
  }
  class Idle final : public SnapshotVisitor {
   public:
    explicit Idle(SteppedClock& clock) : clock_(clock) {}
    void Visit(unsigned, const Keyspace&, const Entry& entry) noexcept override {
      const uint64_t idle_ms = Entry::IdleMs(entry.stamp(), clock_.Read().mono_ms);
      seen.push_back(std::string(entry.key()) + ' ' + std::to_string((idle_ms + 100) / 1000) +
                     (walk->early() ? " early" : ""));
    }
    std::vector<std::string> seen;
    const SnapshotWalk* walk = nullptr;

   private:
    SteppedClock& clock_;
  };
  Idle idle(clock);
  SnapshotWalk walk(databases, idle, now());
  idle.walk = &walk;
  CHECK_FALSE(walk.Step(1));
  static_cast<void>(db().Find(db().KeyOf("coldest"), now()));
  static_cast<void>(db().Find(db().KeyOf("coldest"), now()));
  while (!walk.Step(1)) {
  }
  CHECK((idle.seen == std::vector<std::string>{"hot 1", "coldest 4 early", "warm 2", "cold 3"}));
  CHECK(db().Validate());
}

TEST_CASE_METHOD(WalkFixture, "stale values come last, and those are of the walk's beginning") {
  class StaleKeeper final : public SnapshotVisitor {
   public:
    void Visit(unsigned, const Keyspace&, const Entry& entry) noexcept override {
      seen.push_back("key " + std::string(entry.key()));
    }
    void VisitStale(unsigned index, const Keyspace&, const Entry& entry, Expiry deadline) noexcept override {
      seen.push_back("stale " + std::string(entry.key()) + " in " + std::to_string(index) + " since " +
                     std::to_string(deadline.deadline_ms));
    }
    std::vector<std::string> seen;
  } keeper;
  const uint64_t soon = now().mono_ms + 10;
  const auto put = [&](const char* key, uint64_t ttl_ms) {
    db(1).PutOnTerms(db(1).KeyOf(key), nullptr, StringValue::Of("v"), In(ttl_ms), {.stale_ms = 1000}, now(),
                     events::kSet);
  };
  Set("lasting", "v");
  put("stale", 10);
  clock.AdvanceTime(10);
  Settle();
  put("due", 10);    // which nobody has retired yet
  put("later", 30);  // which becomes stale during the walk
  clock.AdvanceTime(10);
  SnapshotWalk walk(databases, keeper, now());
  clock.AdvanceTime(100);
  Settle();
  put("new", 10);
  clock.AdvanceTime(10);
  Settle();
  while (!walk.Step(1)) {
  }
  std::sort(keeper.seen.begin(), keeper.seen.end());
  keeper.seen.erase(std::unique(keeper.seen.begin(), keeper.seen.end()), keeper.seen.end());
  CHECK((keeper.seen == std::vector<std::string>{"key lasting", "key later",
                                                 "stale due in 1 since " + std::to_string(soon + 10),
                                                 "stale stale in 1 since " + std::to_string(soon)}));
}

TEST_CASE_METHOD(WalkFixture, "a visitor that wants a pause gets one after each key") {
  for (unsigned i = 0; i < 10; ++i) Set("key:" + std::to_string(i), "v");
  Keeper keeper;
  keeper.pause_at = 3;
  SnapshotWalk walk(databases, keeper, now());
  CHECK_FALSE(walk.Step(100));
  CHECK(keeper.keys.size() == 3);
  keeper.pause_at = SIZE_MAX;
  CHECK(walk.Step(100));
  CHECK(keeper.keys.size() == 10);
}

TEST_CASE_METHOD(WalkFixture, "a flushed keyspace waits for the walk, and nobody spins meanwhile") {
  for (unsigned i = 0; i < 3000; ++i) Set("key:" + std::to_string(i), "v");
  Keeper keeper;
  SnapshotWalk walk(databases, keeper, now());
  databases.FlushAll(now());
  CHECK_FALSE(databases.MayFreeSome());
  CHECK_FALSE(databases.FreeSome(10'000));
  CHECK(databases.waiting_keys() == 3000);
  // Those that nobody holds are freed meanwhile.
  for (unsigned i = 0; i < 2 * Databases::kWaitingMax; ++i) {
    Set("later", "v");
    databases.Flush(0, now());
  }
  while (databases.FreeSome(100)) {
  }
  CHECK(databases.waiting_keys() == 3000);
  while (!walk.Step(100)) {
  }
  CHECK(keeper.image.size() == 3000);
  CHECK(databases.MayFreeSome());
  while (databases.FreeSome(100)) {
  }
  CHECK(databases.waiting_keys() == 0);
}

}  // namespace mayfly
