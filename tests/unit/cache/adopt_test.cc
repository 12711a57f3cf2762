// Keys from a snapshot file (Adopter).
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/keyspace/adopter.h"
#include "support/bag_value.h"
#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {
namespace {

using testing::Bag;

class AdoptFixture : public KeyspaceFixture {
 public:
  // Adopts a key that was last used so long ago.
  Entry* Adopt(std::string_view name, std::string_view text, uint64_t idle_ms, Adoption as = {}) {
    as.stamp = Entry::StampOf(now().mono_ms - idle_ms);
    return Adopter(db()).Put(db().KeyOf(name), StringValue::Of(text), nullptr, as, now());
  }
  std::vector<std::string> FromColdest() {
    std::vector<std::string> keys;
    for (const Quota::List list : Quota::kLists) {
      db().owners().own().ForColdest(list, SIZE_MAX,
                                     [&](const Entry& entry) { keys.emplace_back(entry.key()); });
    }
    return keys;
  }
};

}  // namespace

TEST_CASE_METHOD(AdoptFixture,
                 "keys that are adopted one after the other are each colder than the one before") {
  clock.AdvanceTime(1'000'000);
  Set("here", "v");
  Adopt("hot", "v", 1000);
  Adopt("warm", "v", 5000);
  Adopt("cold", "v", 900'000);
  CHECK((FromColdest() == std::vector<std::string>{"cold", "warm", "hot", "here"}));
  CHECK(Entry::IdleMs(Peek("cold")->stamp(), now().mono_ms) / 1000 == 900);
  CHECK(databases.quotas().Oldest(true, now())->key() == "cold");
  CHECK(db().Validate());
}

TEST_CASE_METHOD(AdoptFixture, "an adopted key has its deadline, its terms and its tags, and obeys no rule") {
  const std::vector<std::string_view> tags{"a", "b"};
  Adopt("k", "v", 0, {.expiry = In(500), .terms = {.stale_ms = 70, .slide_ms = 90}, .tags = tags});
  const Entry& entry = *Peek("k");
  CHECK(entry.deadline().deadline_ms == now().mono_ms + 500);
  CHECK(entry.terms().stale_ms == 70);
  CHECK(entry.terms().slide_ms == 90);
  CHECK(db().tags().NamesOf(entry).size() == 2);
  CHECK(db().Validate());
  CHECK(db().Invalidate(tags, now(), 10) == 1);
  CHECK(Peek("k") == nullptr);
}

TEST_CASE_METHOD(AdoptFixture, "a rich value is adopted, too, and goes with its key") {
  Adoption as{.stamp = Entry::StampOf(now().mono_ms)};
  Adopter(db()).Put(db().KeyOf("bag"), StringValue::Text(""), Bag::Of(3), as, now());
  CHECK(Peek("bag")->rich()->Size() == 3);
  CHECK(db().Validate());
  CHECK(db().Delete(db().KeyOf("bag"), now()));
}

TEST_CASE_METHOD(AdoptFixture,
                 "listeners hear of an adopted key as of a new one, by the name that no client is told") {
  class Listener final : public ChangeListener {
   public:
    void OnChange(const Change& change) override {
      heard = std::string(change.event.name) + ' ' + std::string(change.key);
      created = change.reason == ChangeReason::kCreated;
    }
    std::string heard;
    bool created = false;
  } listener;
  changes.Listen(listener, ChangeHub::kAllReasons);
  Adopt("k", "v", 0);
  CHECK(listener.heard == "loaded k");
  CHECK(listener.created);
  changes.Unlisten(listener);
}

}  // namespace mayfly
