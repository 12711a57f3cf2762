// The columns of the table: the worlds in which keys cross.
#include <algorithm>
#include <thread>
#include <utility>

#include "commands/replicas/follow_world.h"
#include "crossings/redis_follower.h"
#include "crossings/table.h"
#include "differential/real_time.h"

namespace mayfly::testing::crossings {
namespace {

constexpr uint64_t kDowntimeMs = 500;
constexpr int kOtherKeys = 200;
const std::string kDay = "86400000";  // the TTL of keys beside the row's: an option may ask for one

void FillWithOthers(SnapshotTest& world, int count = kOtherKeys) {
  for (int i = 0; i < count; ++i)
    world.Run({"SET", "other:" + std::to_string(i), std::string(50, 'x'), "PX", kDay});
}

Words KeysOf(SnapshotTest& world, const std::string& pattern) {
  Words keys;
  for (const Reply& key : world.Run({"KEYS", pattern}).elements) keys.push_back(key.text);
  return keys;
}

// ---- one server

class SameServer : public Crossing {
 public:
  SnapshotTest& writer() override { return world; }
  SnapshotTest world;
};

class Reload : public SameServer {
 public:
  bool at_home() const override { return false; }
  void Cross() override {
    REQUIRE(world.Run({"DEBUG", "RELOAD"}) == Ok());
    world.TurnWheels();  // frees the keys from before
  }
};

// Every write comes in a transaction of its own.
class Transaction : public SameServer {
 public:
  Reply Send(const Words& request) override {
    REQUIRE(world.Run({"MULTI"}) == Ok());
    const Reply queued = world.Run(request);
    if (queued != Simple("QUEUED")) {
      world.Run({"DISCARD"});
      return queued;
    }
    const Reply replies = world.Run({"EXEC"});
    REQUIRE(replies.elements.size() == 1);
    return replies.elements[0];
  }
};

class Script : public SameServer {
 public:
  Reply Send(const Words& request) override {
    Words call{"EVAL", "return redis.pcall(unpack(ARGV))", "0"};
    call.insert(call.end(), request.begin(), request.end());
    return world.Run(call);
  }
};

// The keys' namespace is at its limit, and evicts older keys for them.
class FullNamespace : public SameServer {
 public:
  static constexpr int kMostKeys = 1500;
  void Begin() override {
    world.SetOption("maxmemory-policy", "allkeys-lru");
    REQUIRE(world.Run({"NAMESPACE", "SET", "full", "prefix", "k:", "maxkeys", std::to_string(kMostKeys)}) ==
            Ok());
    for (int i = 0; i < 2 * kMostKeys; ++i)
      world.Run({"SET", "k:older:" + std::to_string(i), "v", "PX", kDay});
    Check(Counter("evicted_keys") == kMostKeys, "the namespace is not full");
  }
  void Cross() override {
    // A key is in the namespace with the longest prefix: those of the row's own are in that one alone.
    const size_t elsewhere = KeysOf(world, "k:app:*").size();
    Check(KeysOf(world, "k:*").size() - elsewhere <= kMostKeys, "the namespace is above its limit");
  }
};

// Memory is full, and older keys make room.
class FullMemory : public SameServer {
 public:
  void Begin() override {
    constexpr uint64_t kRoom = 3'000'000;
    world.server().changes.Unlisten(world.server().change_log);  // it grows with each change
    world.SetOption("maxmemory-policy", "allkeys-lru");
    const uint64_t until = world.server().memory.Data() + kRoom;
    for (int i = 0; world.server().memory.Data() < until; ++i)
      world.Run({"SET", "older:" + std::to_string(i), std::string(500, 'x'), "PX", kDay});
    world.SetOption("maxmemory", std::to_string(world.server().memory.Data()));
  }
};

// Memory is full, and nothing may be evicted: nothing is half made. Then there is memory again.
class Refusal : public SameServer {
 public:
  Refusal() { refuses = true; }
  void Begin() override {
    world.SetOption("maxmemory-policy", "noeviction");
    world.SetOption("maxmemory", "1");
  }
  void Cross() override {
    Expect({"KEYS", "k:*"}, Array({}));
    Check(Counter("stale_values") == 0, "there are stale values of keys that were refused");
    Check(Counter("tasks_waiting") == 0, "there are tasks that were refused");
    world.SetOption("maxmemory", "0");
    refuses = false;
  }
};

// ---- two servers, one after the other

class TwoServers : public Crossing {
 public:
  bool at_home() const override { return !crossed_; }
  SnapshotTest& writer() override { return crossed_ ? there : here; }
  std::vector<SnapshotTest*> worlds() override { return {&here, &there}; }

  SnapshotTest here;
  SnapshotTest there;

 protected:
  // From now on the other server has the keys.
  void Leave(uint64_t downtime_ms) {
    there.LetTimePass(static_cast<uint64_t>(here.WallMs() - there.WallMs()) + downtime_ms);
    there.TurnWheels();  // a turn begins with a look at the clock
    crossed_ = true;
  }
  void TakeFile() {
    REQUIRE(here.Run({"SAVE"}) == Ok());
    there.disk.Put(kSnapshotPath, here.disk.files().at(kSnapshotPath));
  }

 private:
  bool crossed_ = false;
};

class SnapshotAndLoad : public TwoServers {
 public:
  void Cross() override {
    TakeFile();
    Leave(kDowntimeMs);
    REQUIRE(there.snapshots().LoadNow({}, there.now()) == "");
    there.TurnWheels();
  }
};

// Clients write meanwhile, and the keys may go before the file has brought them.
class ServingLoad : public TwoServers {
 public:
  void Begin() override { FillWithOthers(here); }
  void Cross() override {
    CrossWhile([] {});
  }
  void CrossWhile(const std::function<void()>& end) override {
    FillWithOthers(here);  // used last: they come first in the file
    TakeFile();
    there.disk.piece = 100;
    Leave(kDowntimeMs);
    there.snapshots().LoadSoon(there.now());
    for (int i = 0; i < 10; ++i) there.Slice(2);
    REQUIRE(there.snapshots().loading());
    end();
    int writes = 0;
    for (; there.snapshots().loading(); ++writes) {
      there.Run({"SET", "other:" + std::to_string(writes % kOtherKeys), "by a client", "PX", kDay});
      there.Run({"SET", "new:" + std::to_string(writes), "by a client", "PX", kDay});
      there.Slice(2);
    }
    Check(writes > 20, "there was no time to write while the file was loaded");
    Expect({"GET", "other:0"}, Bulk("by a client"));
    there.TurnWheels();
  }
};

class Payloads : public TwoServers {
 public:
  bool has_terms() const override { return false; }
  void Cross() override {
    const Words keys = KeysOf(here, "*");
    Leave(0);
    for (const std::string& key : keys) {
      const Reply ttl = here.Run({"PTTL", key});
      const Reply payload = here.Run({"DUMP", key});
      const std::string ms = std::to_string(std::max<int64_t>(ttl.integer, 0));
      Check(there.Run({"RESTORE", key, ms, payload.text}) == Ok(), "RESTORE refuses " + key);
    }
  }
};

class Migrate : public TwoServers {
 public:
  bool has_terms() const override { return false; }
  void Cross() override {
    const Words keys = KeysOf(here, "*");
    Leave(0);
    if (keys.empty()) return;
    Words request{"MIGRATE", "there", "7000", "", "0", "1000", "KEYS"};
    request.insert(request.end(), keys.begin(), keys.end());
    TestClient& mover = here.Connect();
    REQUIRE(mover.Run(request) == NoReply());
    targets_.last().Accept();
    std::vector<Reply> replies;
    TestClient& target = there.Connect();
    for (int i = 0; i < 1000 && replies.empty(); ++i) {
      if (!targets_.last().closed()) targets_.last().AnswerAs(target);
      replies = mover.Received();
    }
    Check(replies == std::vector<Reply>{Ok()}, "MIGRATE has not answered OK");
    Check(here.Run({"KEYS", "*"}) == Array({}), "keys have stayed at the source of MIGRATE");
  }

 private:
  FakeTargets targets_{here.server()};
};

// ---- a master and its replica

enum class By { kSnapshot, kStream };

class MayflyReplica : public Crossing {
 public:
  explicit MayflyReplica(By by) : by_(by) {}
  SnapshotTest& writer() override { return world_; }
  std::vector<SnapshotTest*> worlds() override { return {&world_, &world_.follower}; }
  void Begin() override {
    world_.SetOption("repl-timeout", "10000");
    world_.follower.SetOption("repl-timeout", "10000");
    if (by_ == By::kStream) Follow();
  }
  void Cross() override {
    if (by_ == By::kSnapshot) Follow();
  }
  void CrossWhile(const std::function<void()>& end) override {
    Cross();
    end();
  }

 protected:
  Reply DoRead(const Words& request) override {
    if (turns_) world_.TurnWheels();
    world_.Carry();
    return Look(world_.follower, request);
  }
  void Carry() override {
    if (follows_ && carries_) world_.Carry();
  }
  void Advance(uint64_t ms) override {
    turns_ = true;
    world_.AdvanceTime(ms);
    world_.follower.AdvanceTime(ms);
    Carry();
  }
  void LetTime(uint64_t ms) override {
    turns_ = false;
    world_.LetTimePass(ms);
    world_.follower.LetTimePass(ms);
  }
  void Follow() {
    world_.follower.LetTimePass(static_cast<uint64_t>(world_.WallMs() - world_.follower.WallMs()));
    REQUIRE(world_.follower.Run({"REPLICAOF", "there", "7000"}) == Ok());
    // Threads write and read the file: time does not pass while they do.
    constexpr int kRounds = 1'000'000;
    for (int round = 0; round < kRounds && world_.Link("master_link_status") != "up"; ++round) {
      world_.Pass(round < 100 || round % 1'000 == 0 ? 2 : 0);
      std::this_thread::yield();
    }
    REQUIRE(world_.Link("master_link_status") == "up");
    follows_ = true;
  }

  FollowTest world_;
  bool carries_ = true;

 private:
  const By by_;
  bool follows_ = false;
  bool turns_ = true;  // since the time has moved
};

// Only one of the two has the row's options: the master alone decides what they do.
class OptionsAtOne : public MayflyReplica {
 public:
  explicit OptionsAtOne(bool at_master) : MayflyReplica(By::kStream), at_master_(at_master) {
    refuses = true;
  }
  std::vector<SnapshotTest*> worlds() override {
    return {at_master_ ? static_cast<SnapshotTest*>(&world_) : &world_.follower};
  }
  bool only_compares() const override { return true; }
  void CompareBoth() override {
    for (const int64_t ms : {25'000, 61'000, 100'000}) {
      AdvanceTo(ms);
      const std::string when = " at " + std::to_string(ms) + " ms";
      const Words keys = SortedKeys(world_);
      Check(SortedKeys(world_.follower) == keys, "the replica has other keys than the master" + when);
      for (const std::string& key : keys) {
        for (const Words& request : {Words{"PEXPIRETIME", key}, Words{"DEBUG", "DIGEST-VALUE", key}})
          Check(world_.follower.Run(request) == world_.Run(request), "the replica has another " + key + when);
      }
    }
  }

 private:
  static Words SortedKeys(SnapshotTest& of) {
    Words keys = KeysOf(of, "*");
    std::ranges::sort(keys);
    return keys;
  }

  const bool at_master_;
};

// WAIT says that the replica has everything. At that very moment the master is gone, and the replica is promoted.
class Promotion : public MayflyReplica {
 public:
  using MayflyReplica::MayflyReplica;
  bool at_home() const override { return !promoted_; }
  bool has_stale_values() const override { return false; }
  SnapshotTest& writer() override { return promoted_ ? world_.follower : static_cast<SnapshotTest&>(world_); }
  // Nothing reaches the replica before WAIT.
  void Begin() override {
    MayflyReplica::Begin();
    carries_ = false;
  }
  void Cross() override {
    CrossWhile([] {});
  }
  void CrossWhile(const std::function<void()>& end) override {
    MayflyReplica::Cross();
    end();
    Await();
    world_.Cut();
    REQUIRE(world_.follower.Run({"REPLICAOF", "NO", "ONE"}) == Ok());
    promoted_ = true;
  }

 protected:
  Reply DoRead(const Words& request) override { return Look(writer(), request); }
  void Advance(uint64_t ms) override {
    promoted_ ? world_.follower.AdvanceTime(ms) : MayflyReplica::Advance(ms);
  }
  void LetTime(uint64_t ms) override {
    promoted_ ? world_.follower.LetTimePass(ms) : MayflyReplica::LetTime(ms);
  }

 private:
  // Bytes cross, but the master has no time for other work unless WAIT needs it: for the keys of INVALIDATE, for one.
  void Await() {
    constexpr int kRounds = 20;
    std::vector<Reply> replies = TakeReplies(world_.RunRaw(EncodeRequest({"WAIT", "1", "0"})));
    for (int round = 0; round < 100 * kRounds && replies.empty(); ++round) {
      world_.CarryBytes();
      if (round > kRounds) {
        world_.TurnWheels();
        world_.Slice();
      }
      world_.follower.Slice();
      replies = world_.client().Received();
    }
    REQUIRE(replies == std::vector<Reply>{Integer(1)});
  }

  bool promoted_ = false;
};

// The clocks of both are real when the keys are made; then only the master's moves.
class RedisReplica : public Crossing {
 public:
  RedisReplica(std::shared_ptr<RedisFollower> redis, By by) : redis_(std::move(redis)), by_(by) {}
  ~RedisReplica() override {
    if (follows_) redis_->Leave();
  }
  SnapshotTest& writer() override { return world_; }
  bool reads_at_mayfly() const override { return false; }
  void Begin() override {
    world_.SetOption("repl-timeout", "10000");
    world_.StepWallClock(RealMs() - world_.WallMs());
    if (by_ == By::kStream) Follow();
  }
  void Cross() override {
    if (by_ == By::kSnapshot) Follow();
  }
  void CrossWhile(const std::function<void()>& end) override {
    Cross();
    end();
  }

 protected:
  Reply DoRead(const Words& request) override {
    world_.TurnWheels();
    redis_->CatchUp(world_);
    return redis_->Ask(request);
  }

 private:
  void Follow() {
    follows_ = true;
    redis_->Follow(world_);
  }

  MasterTest world_;
  const std::shared_ptr<RedisFollower> redis_;
  const By by_;
  bool follows_ = false;
};

template <typename World>
Way In(std::string_view name) {
  return {name, [] { return std::make_unique<World>(); }};
}
template <typename World>
std::vector<Way> ByBoth() {
  return {{"by its snapshot", [] { return std::make_unique<World>(By::kSnapshot); }},
          {"by the stream", [] { return std::make_unique<World>(By::kStream); }}};
}

}  // namespace

std::vector<Way> WaysOf(Column column) {
  switch (column) {
    case Column::kSnapshot:
      return {In<SnapshotAndLoad>("a start after a save")};
    case Column::kServingLoad:
      return {In<ServingLoad>("a start that serves clients")};
    case Column::kMayflyReplica: {
      std::vector<Way> ways = ByBoth<MayflyReplica>();
      ways.push_back({"options at the master alone", [] { return std::make_unique<OptionsAtOne>(true); }});
      ways.push_back({"options at the replica alone", [] { return std::make_unique<OptionsAtOne>(false); }});
      return ways;
    }
    case Column::kFailover:
      return ByBoth<Promotion>();
    case Column::kRedisReplica: {
      const auto redis = std::make_shared<RedisFollower>();
      return {{"by its snapshot", [=] { return std::make_unique<RedisReplica>(redis, By::kSnapshot); }},
              {"by the stream", [=] { return std::make_unique<RedisReplica>(redis, By::kStream); }}};
    }
    case Column::kMigrate:
      return {In<Migrate>("MIGRATE"), In<Payloads>("DUMP and RESTORE")};
    case Column::kReload:
      return {In<Reload>("DEBUG RELOAD")};
    case Column::kTransaction:
      return {In<Transaction>("each write in MULTI")};
    case Column::kScript:
      return {In<Script>("each write in a script")};
    case Column::kNamespace:
      return {In<FullNamespace>("a full namespace")};
    case Column::kMemoryFull:
      return {In<FullMemory>("older keys are evicted"), In<Refusal>("nothing may be evicted")};
  }
  return {};
}

}  // namespace mayfly::testing::crossings
