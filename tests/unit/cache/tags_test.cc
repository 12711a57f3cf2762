// Tags, and what becomes of the keys that have one: cache/tags/tags.h.
#include "cache/tags/tags.h"

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cache/evict/eviction.h"
#include "cache/snapshot_walk.h"
#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {

using Reason = ChangeReason;
using Names = std::vector<std::string_view>;

namespace {

constexpr size_t kAll = SIZE_MAX;  // a budget

class TagsFixture : public KeyspaceFixture {
 public:
  Entry* SetTagged(std::string_view key, const Names& names, Expiry expiry = Expiry::Never(),
                   uint64_t stale_ms = 0, unsigned index = 0) {
    const Key hashed = db(index).KeyOf(key);
    return db(index).PutOnTerms(hashed, db(index).Peek(hashed, now()), StringValue::Of("v"), expiry,
                                {.stale_ms = stale_ms}, now(), events::kSet, db(index).tags().Hold(names));
  }
  size_t Invalidate(const Names& names, size_t budget = kAll, unsigned index = 0) {
    return db(index).Invalidate(names, now(), budget);
  }
  bool IsThere(std::string_view key) { return db().Holds(key, now()); }
  std::set<std::string> TagsOf(std::string_view key, unsigned index = 0) {
    std::set<std::string> tags;
    for (const std::string_view name : db(index).tags().NamesOf(*db(index).LookAt(key, now())))
      tags.emplace(name);
    return tags;
  }
  // How many keys have the tag.
  size_t With(std::string_view name) {
    const Tag* const tag = db().tags().Find(name);
    return tag != nullptr ? tag->keys : 0;
  }
  bool Valid() { return db(0).Validate() && db(1).Validate(); }
};

}  // namespace

TEST_CASE_METHOD(TagsFixture, "all keys with a tag go together, and no others") {
  SetTagged("a", {"red", "round"});
  SetTagged("b", {"red"});
  SetTagged("c", {"round"});
  Set("plain", "v");
  CHECK(With("red") == 2);
  CHECK(Invalidate({"red"}) == 2);
  CHECK_FALSE(IsThere("a"));
  CHECK_FALSE(IsThere("b"));
  CHECK(IsThere("c"));
  CHECK(IsThere("plain"));
  CHECK(With("red") == 0);
  CHECK(With("round") == 1);
  CHECK(Invalidate({"red"}) == 0);
  CHECK(Valid());
}

TEST_CASE_METHOD(TagsFixture, "keys are gone for every lookup at once, and freed in slices") {
  for (int i = 0; i < 1000; ++i) SetTagged("k" + std::to_string(i), {"t"});
  Set("other", "v");
  CHECK(Invalidate({"t"}, 10) == 1000);
  CHECK(db().size() == 991);
  CHECK_FALSE(IsThere("k3"));
  CHECK(Peek("k3") == nullptr);
  CHECK(db().size() == 990);
  size_t seen = 0;
  db().ForEach(now(), [&](const Entry&) { ++seen; });
  CHECK(seen == 1);
  CHECK(databases.NextWakeMs(now()) == 0);
  CHECK(databases.Advance(now(), 100));
  CHECK(db().size() == 890);
  CHECK(Valid());
  Settle();
  CHECK(db().size() == 1);
  CHECK(databases.NextWakeMs(now()) == UINT64_MAX);
  CHECK(db().tags().bytes() == 0);
  CHECK(Valid());
}

TEST_CASE_METHOD(TagsFixture, "a tag can be given anew while those who had it are freed") {
  for (int i = 0; i < 100; ++i) SetTagged("k" + std::to_string(i), {"t"});
  CHECK(Invalidate({"t"}, 0) == 100);
  SetTagged("k7", {"t"});
  CHECK(IsThere("k7"));
  CHECK(With("t") == 1);
  Settle();
  CHECK(db().size() == 1);
  CHECK(IsThere("k7"));
  CHECK(Valid());
}

TEST_CASE_METHOD(TagsFixture,
                 "a key that has several of the tags, or was gone before, is not counted twice") {
  SetTagged("a", {"x", "y"});
  SetTagged("b", {"y"});
  SetTagged("late", {"y"}, In(5));
  SetTagged("gone", {"y", "z"});
  CHECK(Invalidate({"z"}, 0) == 1);
  clock.AdvanceTime(5);
  CHECK(Invalidate({"x", "y", "x"}) == 2);
  CHECK(db().size() == 0);
  CHECK(Valid());
}

TEST_CASE_METHOD(TagsFixture, "a tag is there as long as a key has it") {
  SetTagged("a", {"t", "t", "u"});
  CHECK(TagsOf("a") == std::set<std::string>{"t", "u"});
  SetTagged("a", {"u"});
  CHECK(db().tags().Find("t") == nullptr);
  Set("a", "plain");
  CHECK(db().tags().bytes() == 0);
  SetTagged("a", {"t"}, In(5));
  clock.AdvanceTime(5);
  Settle();
  CHECK(db().tags().bytes() == 0);
  CHECK(Valid());
}

TEST_CASE_METHOD(TagsFixture,
                 "a key keeps its tags when its value or its times change, and takes them along") {
  const auto key = [&](std::string_view name) { return db().KeyOf(name); };
  const std::set<std::string> both{"t", "u"};
  SetTagged("a", {"t", "u"}, In(50));
  db().PutValue(key("a"), *Peek("a"), StringValue::Of(std::string(300, 'x')), now(), events::kSet);
  CHECK(TagsOf("a") == both);
  db().SetExpiry(key("a"), *Peek("a"), Expiry::At(INT64_MAX - 1), now());
  CHECK(TagsOf("a") == both);
  db().SetExpiry(key("a"), *Peek("a"), Expiry::Never(), now());
  CHECK(TagsOf("a") == both);
  db().RoomForOwnTime(key("a"), *Peek("a"), now());
  CHECK(TagsOf("a") == both);
  db().PutCopy(key("b"), nullptr, *Peek("a"), now());
  CHECK(TagsOf("b") == both);
  db(1).PutCopy(db(1).KeyOf("a"), nullptr, *Peek("a"), now());
  CHECK(TagsOf("a", 1) == both);
  db().Move(key("a"), *Peek("a"), db(), key("b"), Peek("b"), now());
  CHECK(TagsOf("b") == both);
  db().Move(key("b"), *Peek("b"), db(1), db(1).KeyOf("d"), nullptr, now());
  CHECK(With("t") == 0);
  CHECK(Invalidate({"u"}) == 0);
  CHECK(Invalidate({"t"}, kAll, 1) == 2);
  CHECK(db().tags().bytes() + db(1).tags().bytes() == 0);
  CHECK(Valid());
}

TEST_CASE_METHOD(TagsFixture, "a key can be given further tags") {
  SetTagged("a", {"t"}, In(50));
  db().AddTags(db().KeyOf("a"), *Peek("a"), Names{"u", "t", "w"}, now());
  CHECK(TagsOf("a") == std::set<std::string>{"t", "u", "w"});
  CHECK(Peek("a")->deadline().deadline_ms == In(50).deadline_ms);
  Set("b", "plain");
  db().AddTags(db().KeyOf("b"), *Peek("b"), Names{"u"}, now());
  CHECK(Invalidate({"u"}) == 2);
  CHECK(Valid());
}

TEST_CASE_METHOD(TagsFixture, "a stale value goes with the tags of its key") {
  SetTagged("a", {"t"}, In(5), 100);
  SetTagged("b", {"t"}, In(5), 100);
  clock.AdvanceTime(5);
  Settle();
  CHECK(With("t") == 0);
  CHECK(db().stale().Find(db().KeyOf("a"), now()) != nullptr);
  CHECK(Valid());
  CHECK(Invalidate({"t"}, 0) == 0);
  CHECK(db().stale().Find(db().KeyOf("a"), now()) == nullptr);
  CHECK(databases.stale_values() == 1);
  Settle();
  CHECK(databases.stale_values() == 0);
  CHECK(db().tags().bytes() == 0);
  CHECK(Valid());
}

TEST_CASE_METHOD(TagsFixture, "what is invalidated is reported as that, and missed for that reason") {
  ChangeLog log;
  SetTagged("a", {"t"});
  databases.AdoptMissRing(MissRing(databases.heap(), 100));
  changes.Listen(log, ChangeHub::kAllReasons);
  Invalidate({"t"});
  CHECK(log.seen == std::vector<ChangeLog::Seen>{{Reason::kInvalidated, "a"}});
  CHECK(databases.NoteMiss(db(), db().KeyOf("a"), now()).reason == MissReason::kInvalidated);
  CHECK(databases.expiry_stats().invalidated_keys == 1);
  changes.Unlisten(log);
}

TEST_CASE_METHOD(TagsFixture,
                 "a flush takes the tags along, and an exchange of databases the keys with theirs") {
  for (int i = 0; i < 100; ++i) SetTagged("k" + std::to_string(i), {"t"});
  SetTagged("other", {"u"}, Expiry::Never(), 0, 1);
  CHECK(Invalidate({"t"}, 10) == 100);
  databases.Swap(0, 1);
  CHECK(With("u") == 1);
  databases.Flush(1, now());
  CHECK(IsThere("other"));
  while (databases.FreeSome(20)) {
  }
  CHECK(Invalidate({"u"}) == 1);
  CHECK(Valid());
}

TEST_CASE_METHOD(TagsFixture, "a walk sees what was invalidated after it began, and nothing from before") {
  struct Seen final : SnapshotVisitor {
    void Visit(unsigned, const Keyspace&, const Entry& entry) noexcept override { keys.emplace(entry.key()); }
    std::set<std::string> keys;
  } seen;
  for (const char* key : {"a", "b"}) SetTagged(key, {"before"});
  for (const char* key : {"c", "d"}) SetTagged(key, {"after"});
  Invalidate({"before"}, 0);
  SnapshotWalk walk(databases, seen, now());
  Invalidate({"after"}, 0);
  while (!walk.Step(1)) Settle();
  CHECK(seen.keys == std::set<std::string>{"c", "d"});
}

TEST_CASE_METHOD(TagsFixture, "what was invalidated makes room before anything is evicted") {
  for (int i = 0; i < 1000; ++i) Set("k" + std::to_string(i), "v");
  for (int i = 0; i < 1000; ++i) SetTagged("t" + std::to_string(i), {"t"});
  Invalidate({"t"}, 0);
  std::mt19937_64 random(1);
  Evictor evictor(databases, random);
  const EvictionLimits limits{.maxkeys = 1000, .policy = EvictionPolicy::kAllKeysLru};
  while (evictor.Run(limits, now(), 100, [] { return uint64_t{0}; }) == Evictor::Outcome::kMore) {
  }
  CHECK(databases.expiry_stats().evicted_keys == 0);
  CHECK(databases.total_keys() == 1000);
  CHECK(IsThere("k0"));
}

#ifndef MAYFLY_SANITIZE
TEST_CASE_METHOD(TagsFixture, "three tags cost a key at most 24 bytes each") {
  constexpr int kKeys = 20'000;
  constexpr int kTags = 200;
  const auto measure = [&](bool tagged) {
    const uint64_t before = heap.ThreadBytes();
    for (int i = 0; i < kKeys; ++i) {
      const std::string key = "key:" + std::to_string(1'000'000 + i);
      std::string names[3];
      for (int t = 0; t < 3; ++t) names[t] = "tag:" + std::to_string((i * (t + 1) + t) % kTags);
      const Names wanted(std::begin(names), std::end(names));
      SetTagged(key, tagged ? wanted : Names(), In(60'000), 0, tagged ? 1 : 0);
    }
    return heap.ThreadBytes() - before;
  };
  const uint64_t plain = measure(false);
  const uint64_t with_tags = measure(true);
  CHECK(with_tags - plain <= uint64_t{kKeys} * 3 * 24);
  CHECK(db(1).tags().bytes() < 200 * 80 + 10'000);
}
#endif

// ---- random steps

namespace {

class TagsModel : public TagsFixture {
 public:
  void Step() {
    name_ = "k" + std::to_string(Below(20));
    const Key key = db().KeyOf(name_);
    Entry* const entry = db().Peek(key, now());
    switch (Below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return Put();
      case 4:
        db().Delete(key, now());
        known_.erase(name_);
        return;
      case 5:
        if (entry != nullptr) db().PutValue(key, *entry, StringValue::Of(Text()), now(), events::kSet);
        return;
      case 6:
        if (entry != nullptr) AddTags(key, *entry);
        return;
      case 7:
        if (entry != nullptr) Date(key, *entry);
        return;
      case 8:
        if (entry != nullptr) Rename(key, *entry);
        return;
      case 9:
        return Drop();
      case 10:
        if (Below(40) == 0) databases.Flush(0, now()), known_.clear();
        return;
      default:
        clock.AdvanceTime(Below(3));
        if (Below(2) == 0) static_cast<void>(databases.Advance(now(), Below(4)));
        static_cast<void>(databases.FreeSome(Below(10)));
    }
  }
  bool Agrees() {
    std::erase_if(known_, [&](const auto& item) {
      const Expiry& expiry = item.second.expiry;
      return Expiry{expiry.kind, expiry.deadline_ms + item.second.stale_ms}.Reached(now());
    });
    const auto found = known_.find(name_);
    const bool is_known = found != known_.end();
    const bool is_live = is_known && !found->second.expiry.Reached(now());
    if (db().Holds(name_, now()) != is_live) return false;
    if (is_live) return TagsOf(name_) == found->second.tags;
    const Key key = db().KeyOf(name_);
    static_cast<void>(db().Peek(key, now()));
    return (db().stale().Find(key, now()) != nullptr) == is_known;
  }

 private:
  struct Known {
    std::set<std::string> tags;
    Expiry expiry;
    uint64_t stale_ms;
  };
  uint64_t Below(uint64_t n) { return std::uniform_int_distribution<uint64_t>(0, n - 1)(random_); }
  std::string Text() { return std::string(Below(60), 'x'); }
  std::set<std::string> SomeTags() {
    std::set<std::string> tags;
    for (uint64_t n = Below(4); n-- > 0;) tags.insert("tag" + std::to_string(Below(6)));
    return tags;
  }
  void Put() {
    const Expiry expiry = Below(3) == 0 ? Expiry::Never() : In(1 + Below(20));
    Known known{SomeTags(), expiry, expiry.kind == Expiry::Kind::kNever ? 0 : Below(2) * Below(20)};
    SetTagged(name_, Names(known.tags.begin(), known.tags.end()), expiry, known.stale_ms);
    known_[name_] = std::move(known);
  }
  void AddTags(const Key& key, Entry& entry) {
    const std::set<std::string> tags = SomeTags();
    db().AddTags(key, entry, Names(tags.begin(), tags.end()), now());
    known_[name_].tags.insert(tags.begin(), tags.end());
  }
  void Date(const Key& key, Entry& entry) {
    Known& known = known_[name_];
    known.expiry = Below(3) == 0 ? Expiry::Never() : In(1 + Below(20));
    if (known.expiry.kind == Expiry::Kind::kNever) known.stale_ms = 0;
    db().SetExpiry(key, entry, known.expiry, now());
  }
  void Rename(const Key& key, Entry& entry) {
    const std::string to = "k" + std::to_string(Below(20));
    if (to == name_) return;
    const Key new_key = db().KeyOf(to);
    db().Move(key, entry, db(), new_key, db().Peek(new_key, now()), now());
    const Known moved = known_[name_];
    known_.erase(name_);
    known_[to] = moved;
  }
  void Drop() {
    const std::string tag = "tag" + std::to_string(Below(6));
    Invalidate({tag}, Below(6));
    std::erase_if(known_, [&](const auto& item) { return item.second.tags.contains(tag); });
  }

  std::mt19937_64 random_{20261124};
  std::map<std::string, Known> known_;
  std::string name_;
};

}  // namespace

TEST_CASE_METHOD(TagsModel, "whatever happens, a key has the tags that it was given and goes with them") {
  for (int step = 0; step < 60'000; ++step) {
    Step();
    CAPTURE(step);
    REQUIRE(Agrees());
    if (step % 64 == 0) REQUIRE(Valid());
  }
}

}  // namespace mayfly
