#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cache/evict/eviction.h"
#include "cache/keyspace/sampling.h"
#include "support/catch.h"
#include "unit/cache/timed_value.h"

namespace mayfly {

using Kind = Expiry::Kind;
using Reason = ChangeReason;

TEST_CASE_METHOD(TimedValueFixture,
                 "members vanish at their time and not before, and the last takes the key along") {
  SetTimed("h");
  Edit("h", [&](TimedValue& value) {
    value.Set(1, InMs(10));
    value.Set(2, InMs(30));
  });
  CHECK(databases.NextWakeMs(now()) == 10);
  ChangeLog log;
  changes.Listen(log, ~0U);
  clock.AdvanceTime(9);
  Settle();
  CHECK(MembersOf("h") == 2);
  clock.AdvanceTime(1);
  Settle();
  CHECK(MembersOf("h") == 1);
  CHECK(log.seen == std::vector<ChangeLog::Seen>{{Reason::kValueChanged, "h"}});
  CHECK(db().Validate());
  CHECK(databases.NextWakeMs(now()) == 20);
  clock.AdvanceTime(20);
  Settle();
  CHECK(db().size() == 0);
  CHECK(log.seen.back() == ChangeLog::Seen{Reason::kDeleted, "h"});
  CHECK(databases.expiry_stats().expired_keys == 0);
  CHECK(databases.NextWakeMs(now()) == UINT64_MAX);
  CHECK(db().Validate());
  changes.Unlisten(log);
}

TEST_CASE_METHOD(TimedValueFixture, "a key with deadlines of members only has no TTL and is not volatile") {
  Set("brief", "v", In(1'000'000));
  for (int i = 0; i < 200; ++i) {
    const std::string name = "h" + std::to_string(i);
    SetTimed(name);
    Edit(name, [&](TimedValue& value) { value.Set(1, InMs(500)); });
  }
  const Entry& entry = *Peek("h0");
  CHECK_FALSE(entry.expires());
  CHECK(entry.deadline().kind == Kind::kNever);
  CHECK(db().expiring() == 1);
  CHECK(databases.Backlog(now()) == 0);
  std::mt19937_64 random(1);
  Evictor evictor(databases, random);
  for (const EvictionPolicy policy :
       {EvictionPolicy::kVolatileTtl, EvictionPolicy::kVolatileLru, EvictionPolicy::kVolatileRandom}) {
    const auto run = [&] {
      return evictor.Run({.maxmemory_bytes = 1, .policy = policy}, now(), 10, [] { return uint64_t{2}; });
    };
    Set("brief", "v", In(1'000'000));
    CHECK(run() == Evictor::Outcome::kNothingToEvict);
    CHECK(Peek("brief") == nullptr);
    CHECK(db().size() == 200);
  }
  CHECK(db().Validate());
}

TEST_CASE_METHOD(TimedValueFixture, "volatile-ttl goes by the key's deadline, not by those of members") {
  SetTimed("late", In(1'000'000));
  Edit("late", [&](TimedValue& value) { value.Set(1, InMs(5)); });
  Set("soon", "v", In(500'000));
  CHECK(Sampling(db()).NearestDeadline(now())->key() == "soon");
  db().Delete(db().KeyOf("soon"), now());
  CHECK(Sampling(db()).NearestDeadline(now())->key() == "late");
}

TEST_CASE_METHOD(TimedValueFixture,
                 "who looks at the members has those dropped that are due, up to a budget") {
  SetTimed("h");
  Edit("h", [&](TimedValue& value) {
    for (int member = 0; member < 5; ++member) value.Set(member, InMs(10));
    value.Set(5, InMs(20));
  });
  ChangeLog log;
  changes.Listen(log, ~0U);
  const Key key = db().KeyOf("h");
  CHECK(db().DropDueMembers(key, *Peek("h"), now(), 100) == Peek("h"));
  clock.AdvanceTime(10);
  CHECK(db().DropDueMembers(key, *Peek("h"), now(), 3) == Peek("h"));
  CHECK(MembersOf("h") == 3);
  CHECK(db().DropDueMembers(key, *Peek("h"), now(), 3) == Peek("h"));
  CHECK(MembersOf("h") == 1);
  CHECK(log.seen == std::vector<ChangeLog::Seen>(2, {Reason::kValueChanged, "h"}));
  CHECK(databases.NextWakeMs(now()) == 10);
  clock.AdvanceTime(10);
  CHECK(Peek("h") == nullptr);
  CHECK(log.seen.back() == ChangeLog::Seen{Reason::kDeleted, "h"});
  CHECK(databases.expiry_stats().expired_members == 6);
  CHECK(db().Validate());
  changes.Unlisten(log);
}

TEST_CASE_METHOD(TimedValueFixture, "members that are due together are dropped in slices") {
  SetTimed("h", In(1'000'000));
  Edit("h", [&](TimedValue& value) {
    for (int i = 0; i < 1000; ++i) value.Set(i, InMs(10));
    value.Set(1000);
  });
  clock.AdvanceTime(12);
  size_t before = MembersOf("h");
  int slices = 0;
  for (; databases.Advance(now(), 64); ++slices) {
    REQUIRE(db().Validate());
    REQUIRE(before - MembersOf("h") > 0);
    REQUIRE(before - MembersOf("h") <= 64);
    before = MembersOf("h");
  }
  CHECK(slices >= 1000 / 64);
  CHECK(MembersOf("h") == 1);
  CHECK(databases.expiry_stats().lag_us.total() == 1000);
  CHECK(databases.expiry_stats().lag_us.max() == 2'000);
  CHECK(TtlMs(*Peek("h"), now()) == 1'000'000 - 12);
}

TEST_CASE_METHOD(TimedValueFixture,
                 "a key's deadline before, after or at that of a member, on each clock, is exact") {
  for (const bool key_by_wall : {false, true}) {
    for (const bool member_by_wall : {false, true}) {
      for (const uint64_t key_ms : {50, 100, 150}) {
        INFO(key_by_wall << member_by_wall << key_ms);
        const Expiry expiry =
            key_by_wall ? Expiry::At(now().wall_ms + static_cast<int64_t>(key_ms)) : In(key_ms);
        SetTimed("h", expiry, member_by_wall ? Kind::kWall : Kind::kRelative);
        Entry* entry = Edit("h", [&](TimedValue& value) {
          value.Set(1, member_by_wall ? WallInMs(100) : InMs(100));
          value.Set(2);
        });
        CHECK(TtlMs(*entry, now()) == static_cast<int64_t>(key_ms));
        REQUIRE(db().Validate());
        for (uint64_t ms = 1; ms <= 200; ++ms) {
          clock.AdvanceTime(1);
          Settle();
          REQUIRE(db().size() == (ms < key_ms ? 1 : 0));
          if (ms < key_ms) REQUIRE(MembersOf("h") == (ms < 100 ? 2 : 1));
          REQUIRE(db().Validate());
        }
      }
    }
  }
}

TEST_CASE_METHOD(TimedValueFixture, "a step of the wall clock moves only what is a promise in wall time") {
  // The key by the wall clock, the member by a TTL; and the other way round.
  for (const bool key_by_wall : {true, false}) {
    for (const int64_t step : {-1, 1, -80, 80, -100'000, 100'000}) {
      INFO(key_by_wall << " " << step);
      SetTimed("h", key_by_wall ? Expiry::At(now().wall_ms + 1000) : In(1000),
               key_by_wall ? Kind::kRelative : Kind::kWall);
      Edit("h", [&](TimedValue& value) {
        value.Set(1, key_by_wall ? InMs(1050) : WallInMs(1050));
        value.Set(2);
      });
      clock.AdvanceTime(500);
      Settle();
      clock.StepWall(step);
      const int64_t key_left = 500 - (key_by_wall ? step : 0);
      const int64_t member_left = 550 - (key_by_wall ? 0 : step);
      for (int64_t ms = 0; ms <= 800; ++ms) {
        Settle();
        REQUIRE(db().Validate());
        REQUIRE(db().size() == (ms < key_left ? 1 : 0));
        if (ms < key_left) REQUIRE(MembersOf("h") == (ms < member_left ? 2 : 1));
        clock.AdvanceTime(1);
      }
      db().Delete(db().KeyOf("h"), now());
    }
  }
}

TEST_CASE_METHOD(TimedValueFixture, "after a step the wakes on two clocks are chosen again in slices") {
  for (int i = 0; i < 500; ++i) {
    const std::string name = "h" + std::to_string(i);
    SetTimed(name, Expiry::At(now().wall_ms + 1'000'000));
    Edit(name, [&](TimedValue& value) { value.Set(1, InMs(900'000)), value.Set(2); });
  }
  clock.StepWall(200'000);
  CHECK(databases.NextWakeMs(now()) == 0);
  int slices = 0;
  for (; databases.Advance(now(), 64); ++slices) REQUIRE(db().Validate());
  CHECK(slices >= 500 / 64);
  CHECK(databases.NextWakeMs(now()) > 0);
  clock.AdvanceTime(799'999);
  Settle();
  CHECK(db().size() == 500);
  clock.AdvanceTime(1);
  Settle();
  CHECK(db().size() == 0);
}

TEST_CASE_METHOD(TimedValueFixture, "a change of the key's expiry keeps the members' deadlines") {
  SetTimed("h");
  Edit("h", [&](TimedValue& value) { value.Set(1, InMs(50)), value.Set(2); });
  const Key key = db().KeyOf("h");
  for (const Expiry expiry : {In(1000), Expiry::At(now().wall_ms + 20), Expiry::Never(), In(20),
                              Expiry::At(INT64_MAX), In(50), Expiry::At(now().wall_ms + 1000)}) {
    Entry* entry = db().SetExpiry(key, *Peek("h"), expiry, now());
    CHECK(entry->deadline().kind == expiry.kind);
    CHECK(entry->deadline().deadline_ms == expiry.deadline_ms);
    CHECK(db().Validate());
  }
  clock.AdvanceTime(49);
  Settle();
  CHECK(MembersOf("h") == 2);
  clock.AdvanceTime(1);
  Settle();
  CHECK(MembersOf("h") == 1);
  Set("h", "a string again");
  CHECK(db().Validate());
  CHECK(databases.NextWakeMs(now()) == UINT64_MAX);
}

TEST_CASE_METHOD(TimedValueFixture, "a keyspace knows how many of its keys have members with a deadline") {
  SetTimed("h", In(20));
  Entry* entry = Edit("h", [&](TimedValue& value) { value.Set(1, InMs(50)), value.Set(2); });
  CHECK(db().lifetimes().deadlines().with_timed_members() == 1);
  // The key's deadline comes first, so the entry needs no other; room for one does not change the count.
  CHECK(entry->own().kind == Kind::kNever);
  db().SetExpiry(db().KeyOf("h"), *entry, In(30), now());
  CHECK(db().RoomForOwnTime(db().KeyOf("h"), *Peek("h"), now()) != nullptr);
  CHECK(db().lifetimes().deadlines().with_timed_members() == 1);
  CHECK(db().Validate());
  Edit("h", [&](TimedValue& value) { value.Set(1); });
  CHECK(db().lifetimes().deadlines().with_timed_members() == 0);
  CHECK(db().Validate());
}

TEST_CASE_METHOD(TimedValueFixture,
                 "a key whose last deadline of a member has passed stays, and is in no wheel") {
  SetTimed("h");
  Edit("h", [&](TimedValue& value) { value.Set(1, InMs(10)), value.Set(2); });
  clock.AdvanceTime(10);
  Settle();
  CHECK(MembersOf("h") == 1);
  CHECK(databases.NextWakeMs(now()) == UINT64_MAX);
  CHECK(db().Validate());
  Edit("h", [&](TimedValue& value) { value.Set(3, InMs(10)); });
  CHECK(databases.NextWakeMs(now()) == 10);
  Edit("h", [&](TimedValue& value) { value.Drop(3); });
  CHECK(databases.NextWakeMs(now()) == UINT64_MAX);
  CHECK(db().Validate());
}

namespace {

// What the keyspace should hold.
class TimedModel : public TimedValueFixture {
 public:
  struct ModelKey {
    Expiry expiry = Expiry::Never();
    Kind clock = Kind::kRelative;
    std::map<int, uint64_t> members;
  };

  Expiry RandomExpiry() {
    const uint64_t ms = 1 + random() % 3000;
    if (random() % 3 == 0) return Expiry::Never();
    return random() % 2 == 0 ? In(ms) : Expiry::At(now().wall_ms + static_cast<int64_t>(ms));
  }
  void Create(const std::string& name) {
    ModelKey key{
        RandomExpiry(), random() % 2 == 0 ? Kind::kWall : Kind::kRelative, {{0, TimedValue::kLasting}}};
    SetTimed(name, key.expiry, key.clock);
    Edit(name, [](TimedValue& value) { value.Set(0); });
    model[name] = key;
  }
  void SetMember(const std::string& name) {
    ModelKey& key = model[name];
    const int member = static_cast<int>(random() % 6);
    const uint64_t ms = 1 + random() % 3000;
    uint64_t deadline = key.clock == Kind::kWall ? WallInMs(ms) : InMs(ms);
    if (random() % 4 == 0) deadline = TimedValue::kLasting;
    key.members[member] = deadline;
    Edit(name, [&](TimedValue& value) { value.Set(member, deadline); });
  }
  void Pass() {
    for (auto& item : model) {
      ModelKey& key = item.second;
      std::erase_if(key.members, [&](const auto& member) {
        return member.second != TimedValue::kLasting && Expiry{key.clock, member.second}.Reached(now());
      });
    }
    std::erase_if(model, [&](const auto& item) {
      return item.second.expiry.Reached(now()) || item.second.members.empty();
    });
    Settle();
  }
  void Check(const std::string& name) {
    REQUIRE(db().Validate());
    REQUIRE(db().size() == model.size());
    REQUIRE((Peek(name) != nullptr) == model.contains(name));
    if (!model.contains(name)) return;
    const Entry& entry = *Peek(name);
    REQUIRE(ValueOf(entry).members() == model[name].members);
    REQUIRE(entry.deadline().kind == model[name].expiry.kind);
    REQUIRE(entry.deadline().deadline_ms == model[name].expiry.deadline_ms);
  }

  std::map<std::string, ModelKey> model;
  std::mt19937_64 random{20261122};
};

}  // namespace

TEST_CASE_METHOD(TimedModel,
                 "keys and members agree with a model through random changes, time and steps of the clock") {
  for (int step = 0; step < 20'000; ++step) {
    const std::string name = "h" + std::to_string(random() % 20);
    const bool there = model.contains(name);
    switch (random() % 8) {
      case 0:
        if (!there || random() % 4 == 0) Create(name);
        break;
      case 1:
      case 2:
      case 3:
        if (there) SetMember(name);
        break;
      case 4:
        if (!there) break;
        model[name].expiry = RandomExpiry();
        db().SetExpiry(db().KeyOf(name), *Peek(name), model[name].expiry, now());
        break;
      case 5:
        if (random() % 4 != 0) break;
        db().Delete(db().KeyOf(name), now());
        model.erase(name);
        break;
      case 6:
        clock.AdvanceTime(random() % 200);
        Pass();
        break;
      default:
        if (random() % 4 == 0) clock.StepWall(static_cast<int64_t>(random() % 2000) - 1000);
        Pass();
    }
    Check(name);
  }
}

}  // namespace mayfly
