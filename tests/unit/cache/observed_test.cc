// Listeners that want to hear of few entries only, or before they change.
#include <string>
#include <vector>

#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {
namespace {

std::string TextOf(const Entry& entry) {
  return entry.encoding() == Encoding::kInteger ? std::to_string(entry.integer()) : std::string(entry.text());
}

// Which value each key had before it changed.
class BeforeLog final : public ChangeListener {
 public:
  void OnChange(const Change&) override { ++after; }
  void BeforeChange(Keyspace& keyspace, const Entry& entry) noexcept override {
    seen.push_back(std::to_string(keyspace.database()) + " " + std::string(entry.key()) + "=" +
                   TextOf(entry));
  }
  std::vector<std::string> Take() { return std::exchange(seen, {}); }
  std::vector<std::string> seen;
  int after = 0;
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(KeyspaceFixture,
                 "a marked entry is shown once, with its old value, before whatever changes it") {
  BeforeLog log;
  changes.Listen(log, {.before = true});
  for (const char* key :
       {"put", "grown", "timed", "deleted", "evicted", "moved", "taken", "all", "all longer"})
    Set(key, "old");
  Set("expired", "old", In(10));
  Set("block", std::string(20'000, 'o'));
  CHECK(log.Take().empty());
  databases.StartWalk();
  Set("new", "new");
  Set("new", "newer");
  CHECK(log.Take().empty());

  Set("put", "new");
  CHECK(log.Take() == Lines{"0 put=old"});
  Set("put", "newer");
  CHECK(log.Take().empty());
  Set("grown", std::string(1000, 'n'));
  CHECK(log.Take() == Lines{"0 grown=old"});
  db().SetExpiry(db().KeyOf("timed"), *Peek("timed"), In(100), now());
  db().SetExpiry(db().KeyOf("timed"), *Peek("timed"), Expiry::Never(), now());
  CHECK(log.Take() == Lines{"0 timed=old"});
  db().Delete(db().KeyOf("deleted"), now());
  CHECK(log.Take() == Lines{"0 deleted=old"});
  db().Evict(*Peek("evicted"), now());
  CHECK(log.Take() == Lines{"0 evicted=old"});
  db().Move(db().KeyOf("moved"), *Peek("moved"), db(), db().KeyOf("taken"), Peek("taken"), now());
  CHECK(log.Take() == Lines{"0 moved=old", "0 taken=old"});
  const std::string longer(300, 'n');
  std::vector<KeyPut> puts = {{db().KeyOf("all"), StringValue::Of("new")},
                              {db().KeyOf("all longer"), StringValue::Of(longer)},
                              {db().KeyOf("another"), StringValue::Of("new")}};
  db().PutAll(puts, false, Expiry::Never(), now());
  CHECK(log.Take() == Lines{"0 all=old", "0 all longer=old"});
  clock.AdvanceTime(10);
  Settle();
  CHECK(log.Take() == Lines{"0 expired=old"});
  db().EditBlock(*Peek("block"), 0, events::kSet, [](char* bytes) { return bytes[0] = 'n', true; });
  CHECK(log.Take() == Lines{"0 block=" + std::string(20'000, 'o')});
  CHECK(Find("new")->text() == "newer");
  CHECK(log.after == 0);
  changes.Unlisten(log);
  CHECK(db().Validate());
}

TEST_CASE_METHOD(KeyspaceFixture,
                 "a listener for observed entries hears of those and of all that are created") {
  ChangeLog log;
  ChangeLog all;
  changes.Listen(log, {.reasons = ChangeHub::kAllReasons, .listened_only = true});
  Set("seen", "v");
  Set("other", "v");
  using Reason = ChangeReason;
  CHECK(std::exchange(log.seen, {}) ==
        std::vector<ChangeLog::Seen>{{Reason::kCreated, "seen"}, {Reason::kCreated, "other"}});
  Peek("seen")->Set(EntryFlag::kListened);
  Set("other", "w");
  Set("seen", "w");
  Set("seen", "x");  // it was to hear of one change
  Peek("seen")->Set(EntryFlag::kListened);
  Set("seen", std::string(500, 'w'));  // in another place
  CHECK_FALSE(Peek("seen")->Has(EntryFlag::kListened));
  Peek("seen")->Set(EntryFlag::kListened);
  db().SetExpiry(db().KeyOf("seen"), *Peek("seen"), In(10), now());
  db().SetExpiry(db().KeyOf("other"), *Peek("other"), In(10), now());
  Peek("seen")->Set(EntryFlag::kListened);
  CHECK(std::exchange(log.seen, {}) == std::vector<ChangeLog::Seen>{{Reason::kValueChanged, "seen"},
                                                                    {Reason::kValueChanged, "seen"},
                                                                    {Reason::kExpiryChanged, "seen"}});
  changes.Listen(all, ChangeHub::Bit(Reason::kExpired));
  clock.AdvanceTime(10);
  Settle();
  CHECK(log.seen == std::vector<ChangeLog::Seen>{{Reason::kExpired, "seen"}});
  CHECK(all.seen.size() == 2);
  Set("seen", "anew");
  CHECK_FALSE(Peek("seen")->Has(EntryFlag::kListened));
  changes.Unlisten(log);
  changes.Unlisten(all);
}

TEST_CASE_METHOD(KeyspaceFixture,
                 "an access that moves a deadline is told to who follows every change, and to no client") {
  ChangeLog follower;
  ChangeLog client;
  changes.Listen(follower, ChangeHub::kEverything);
  changes.Listen(client, {.reasons = ChangeHub::kAllReasons, .listened_only = true});
  const Key key = db().KeyOf("session");
  db().PutOnTerms(key, nullptr, StringValue::Of("v"), In(100), {.slide_ms = 100}, now(), events::kSet);
  Peek("session")->Set(EntryFlag::kListened);
  follower.seen.clear();
  client.seen.clear();
  CHECK(Find("session") != nullptr);  // in the same ms: the deadline stays
  CHECK(follower.seen.empty());
  clock.AdvanceTime(40);
  CHECK(TtlMs(*Find("session"), now()) == 100);
  CHECK(Peek("session") != nullptr);
  CHECK(follower.seen == std::vector<ChangeLog::Seen>{{ChangeReason::kSlid, "session"}});
  CHECK(client.seen.empty());
  CHECK(Peek("session")->Has(EntryFlag::kListened));  // the client still waits for a change
  changes.Unlisten(follower);
  changes.Unlisten(client);
}

TEST_CASE_METHOD(KeyspaceFixture, "a change says in which database its key is now, and a flush what goes") {
  class Places final : public ChangeListener {
   public:
    void OnChange(const Change& change) override {
      places.push_back(change.database);
      if (change.reason == ChangeReason::kFlushed) gone = change.keyspace.size();
    }
    std::vector<unsigned> places;
    size_t gone = 0;
  } log;
  Set("a", "v", Expiry::Never(), 1);
  Set("b", "v", Expiry::Never(), 1);
  changes.Listen(log, ChangeHub::kAllReasons);
  databases.Swap(1, 3);
  Set("a", "w", Expiry::Never(), 3);
  Set("a", "w", Expiry::Never(), 1);
  CHECK(std::exchange(log.places, {}) == std::vector<unsigned>{1, 3, 3, 1});
  databases.Flush(3, now());
  CHECK(log.places == std::vector<unsigned>{3});
  CHECK(log.gone == 2);
  Set("a", "v", Expiry::Never(), 3);
  CHECK(log.places == std::vector<unsigned>{3, 3});
  changes.Unlisten(log);
}

}  // namespace mayfly
