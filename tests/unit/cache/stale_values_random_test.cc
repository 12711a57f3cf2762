// Random operations on keys with windows, beside a model: cache/gone/stale_values.h.
#include <map>
#include <random>
#include <string>
#include <utility>

#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {

namespace {

// Random operations, beside what the keys of two databases should be.
class StaleModel : public KeyspaceFixture {
 public:
  struct Known {
    std::string value;
    Expiry expiry;
    uint64_t stale_ms;
  };
  static constexpr unsigned kBases = 2;

  uint64_t Below(uint64_t n) { return std::uniform_int_distribution<uint64_t>(0, n - 1)(random_); }
  unsigned SomeBase() { return static_cast<unsigned>(Below(kBases)); }
  static std::string NameOf(uint64_t i) { return "k" + std::to_string(i); }
  std::string SomeName() { return NameOf(Below(12)); }
  Expiry SomeExpiry() {
    const uint64_t ms = 1 + Below(40);
    if (Below(4) == 0) return Expiry::Never();
    return Below(3) == 0 ? Expiry::At(now().wall_ms + static_cast<int64_t>(ms)) : In(ms);
  }

  void Step(int step) {
    base_ = SomeBase();
    name_ = SomeName();
    const Key key = db(base_).KeyOf(name_);
    Entry* const entry = db(base_).Peek(key, now());
    const uint64_t what = Below(12);
    if (what < 4) return Put(key, entry, step);
    if (what == 4) {
      db(base_).Delete(key, now());
      known_[base_].erase(name_);
    } else if (what < 8) {
      if (entry != nullptr) Change(key, *entry, what);
    } else if (what == 8) {
      EvictSome();
    } else if (what == 9) {
      TurnOver();
    } else {
      PassTime();
    }
  }
  bool Valid() { return db(0).Validate() && db(1).Validate(); }
  // The key of the last step is what it should be.
  bool Agrees() {
    for (auto& known : known_) {
      std::erase_if(known, [&](const auto& item) {
        const Known& k = item.second;
        return Expiry{k.expiry.kind, k.expiry.deadline_ms + k.stale_ms}.Reached(now());
      });
    }
    const Key key = db(base_).KeyOf(name_);
    const auto found = known_[base_].find(name_);
    const bool is_known = found != known_[base_].end();
    const bool is_live = is_known && !found->second.expiry.Reached(now());
    const Entry* const there = db(base_).Peek(key, now());
    const Entry* const stale = there == nullptr ? db(base_).stale().Find(key, now()) : nullptr;
    const Entry* const either = there != nullptr ? there : stale;
    return (there != nullptr) == is_live && (either != nullptr) == is_known &&
           (either == nullptr || either->text() == found->second.value);
  }

 private:
  void Put(const Key& key, Entry* entry, int step) {
    const Expiry expiry = SomeExpiry();
    if (Below(4) == 0) {
      Set(name_, "plain", expiry, base_);
      known_[base_][name_] = {"plain", expiry, 0};
      return;
    }
    const std::string value = Below(50) == 0 ? std::string(20'000, 'b') : "v" + std::to_string(step);
    const uint64_t stale_ms = expiry.kind == Expiry::Kind::kNever ? 0 : Below(2) * Below(40);
    db(base_).PutOnTerms(key, entry, StringValue::Of(value), expiry, {.stale_ms = stale_ms}, now(),
                         events::kSet);
    known_[base_][name_] = {value, expiry, stale_ms};
  }
  void Change(const Key& key, Entry& entry, uint64_t what) {
    Known& known = known_[base_][name_];
    if (what == 5) {
      known.expiry = SomeExpiry();
      if (known.expiry.kind == Expiry::Kind::kNever) known.stale_ms = 0;
      db(base_).SetExpiry(key, entry, known.expiry, now());
    } else if (what == 6) {
      known.value = "edited";
      db(base_).PutValue(key, entry, StringValue::Of("edited"), now(), events::kSet);
    } else {
      const unsigned to = SomeBase();
      const std::string new_name = SomeName();
      if (to == base_ && new_name == name_) return;
      const Key new_key = db(to).KeyOf(new_name);
      db(base_).Move(key, entry, db(to), new_key, db(to).Peek(new_key, now()), now());
      const Known moved = known;
      known_[base_].erase(name_);
      known_[to][new_name] = moved;
    }
  }
  void EvictSome() {
    const Entry* const coldest = db(base_).stale().Coldest();
    if (coldest == nullptr || Below(3) != 0) return;
    known_[base_].erase(std::string(coldest->key()));
    db(base_).stale().Evict();
  }
  void TurnOver() {
    if (Below(100) == 0) {
      databases.Swap(0, 1);
      std::swap(known_[0], known_[1]);
    } else if (Below(100) == 0) {
      databases.Flush(base_, now());
      known_[base_].clear();
    }
  }
  void PassTime() {
    if (Below(20) == 0) clock.StepWall(static_cast<int64_t>(Below(20)));
    clock.AdvanceTime(Below(4));
    if (Below(2) == 0) Settle();
    static_cast<void>(databases.FreeSome(10));
  }

  std::mt19937_64 random_{20261123};
  std::map<std::string, Known> known_[kBases];
  unsigned base_ = 0;
  std::string name_;
};

}  // namespace

TEST_CASE_METHOD(StaleModel, "whatever happens, a key is there, stale or gone as its times say") {
  for (int step = 0; step < 60'000; ++step) {
    Step(step);
    CAPTURE(step);
    REQUIRE(Agrees());
    if (step % 64 == 0) REQUIRE(Valid());
  }
}

}  // namespace mayfly
