// Rich values in a keyspace, with a bag of texts as the type.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/bag_value.h"
#include "support/catch.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly {
namespace {

using testing::Bag;
using Reason = ChangeReason;

constexpr Event kAdd{"add"};
constexpr Event kTake{"take"};

class BagFixture : public KeyspaceFixture {
 public:
  BagFixture() { changes.Listen(log, ChangeHub::kAllReasons); }
  ~BagFixture() { changes.Unlisten(log); }

  Entry* PutBag(std::string_view key, size_t count, Expiry expiry = Expiry::Never()) {
    return db().PutRich(db().KeyOf(key), Peek(key), Bag::Of(count), expiry, now(), kAdd);
  }
  template <typename Fn>
  Entry* Edit(std::string_view key, const Event& event, Fn&& fn) {
    return db().EditRich<Bag>(db().KeyOf(key), *Peek(key), now(), event, fn);
  }
  const Bag& BagOf(std::string_view key) { return static_cast<const Bag&>(*Peek(key)->rich()); }
  void Move(std::string_view key, std::string_view to, unsigned index = 0) {
    const Key new_key = db(index).KeyOf(to);
    db().Move(db().KeyOf(key), *Peek(key), db(index), new_key, db(index).Peek(new_key, now()), now());
  }
  std::vector<ChangeLog::Seen> Changes() { return std::exchange(log.seen, {}); }
  bool Valid() { return db().Validate() && db(1).Validate(); }

  ChangeLog log;
};

using Seen = std::vector<ChangeLog::Seen>;

}  // namespace

TEST_CASE_METHOD(BagFixture,
                 "a rich value takes the place of a string and back, and its bytes count as the key's") {
  Set("k", "v", In(100));
  const uint64_t with_string = db().bytes();
  Entry* entry = PutBag("k", 10, In(200));
  CHECK(entry->encoding() == Encoding::kRich);
  CHECK(BagOf("k").texts().size() == 10);
  CHECK(TtlMs(*entry, now()) == 200);
  CHECK(EntryMemory::Of(*entry) >= Bag::kOwnBytes + 10 * Bag::kBytesPerText);
  CHECK(db().bytes() >= with_string + Bag::kOwnBytes + 10 * Bag::kBytesPerText);
  CHECK(Valid());
  PutBag("k", 3);
  CHECK(BagOf("k").Size() == 3);
  CHECK_FALSE(Peek("k")->expires());
  Set("k", "v", In(100));
  CHECK(db().bytes() == with_string);
  CHECK(Changes() == Seen{{Reason::kCreated, "k"},
                          {Reason::kValueChanged, "k"},
                          {Reason::kValueChanged, "k"},
                          {Reason::kValueChanged, "k"}});
  CHECK(Valid());
}

TEST_CASE_METHOD(BagFixture,
                 "an edit is reported once if it changes anything, and a value without members goes") {
  class Events final : public ChangeListener {
   public:
    void OnChange(const Change& change) override { seen.push_back({change.event.name, change.event.then}); }
    std::vector<std::pair<std::string_view, std::string_view>> seen;
  } events_seen;
  PutBag("k", 1, In(100));
  Changes();
  changes.Listen(events_seen, ChangeHub::kAllReasons);
  Entry* entry = Edit("k", kAdd, [](Bag& bag) { return bag.Add("more"), true; });
  CHECK(entry == Peek("k"));
  CHECK(Valid());
  CHECK(Edit("k", kTake, [](Bag&) { return false; }) == entry);
  CHECK(Edit("k", kTake, [](Bag& bag) { return bag.TakeLast(); }) == entry);
  CHECK_THROWS_AS(Edit("k", kAdd, [](Bag& bag) -> bool { bag.Add("half done"), throw std::bad_alloc(); }),
                  std::bad_alloc);
  CHECK(Valid());
  CHECK(Edit("k", kTake, [](Bag& bag) {
          while (bag.TakeLast()) {
          }
          return true;
        }) == nullptr);
  CHECK(Peek("k") == nullptr);
  CHECK(Changes() ==
        Seen{{Reason::kValueChanged, "k"}, {Reason::kValueChanged, "k"}, {Reason::kDeleted, "k"}});
  using Names = std::pair<std::string_view, std::string_view>;
  CHECK(events_seen.seen == std::vector<Names>{{"add", ""}, {"take", ""}, {"take", "del"}});
  changes.Unlisten(events_seen);
  CHECK(Valid());
}

TEST_CASE_METHOD(BagFixture,
                 "a move takes the value along without a copy, and a copy has a value of its own") {
  PutBag("a", 100, In(100));
  PutBag("taken", 5);
  const RichValue* value = Peek("a")->rich();
  Move("a", "taken");
  CHECK(Peek("a") == nullptr);
  CHECK(Peek("taken")->rich() == value);
  CHECK(TtlMs(*Peek("taken"), now()) == 100);
  Move("taken", "taken", 1);
  CHECK(db(1).Peek(db(1).KeyOf("taken"), now())->rich() == value);
  CHECK(db().size() == 0);
  CHECK(Valid());

  Entry& source = *db(1).Peek(db(1).KeyOf("taken"), now());
  Entry* copy = db().PutCopy(db().KeyOf("copy"), nullptr, source, now());
  CHECK(copy->rich() != value);
  CHECK((BagOf("copy").texts() == static_cast<const Bag*>(value)->texts()));
  Edit("copy", kTake, [](Bag& bag) { return bag.TakeLast(); });
  CHECK(value->Size() == 100);
  CHECK(databases.waiting_bytes() == 0);
  CHECK(Valid());
}

TEST_CASE_METHOD(BagFixture, "a big text in a block of its own is moved, not copied") {
  Set("a", std::string(40'000, 'b'));
  const void* const block = Peek("a")->pointer();
  Move("a", "b");
  CHECK(Peek("b")->pointer() == block);
  Move("b", "b", 1);
  CHECK(db(1).Peek(db(1).KeyOf("b"), now())->pointer() == block);
  CHECK(Valid());
}

TEST_CASE_METHOD(BagFixture, "a change of the expiry relocates the entry and leaves the value where it is") {
  PutBag("k", 3);
  const RichValue* value = Peek("k")->rich();
  for (const Expiry expiry :
       {In(100), Expiry::At(now().wall_ms + 50), In(uint64_t{1} << 50), Expiry::Never()}) {
    db().SetExpiry(db().KeyOf("k"), *Peek("k"), expiry, now());
    CHECK(Peek("k")->rich() == value);
    CHECK(Valid());
  }
}

TEST_CASE_METHOD(
    BagFixture, "a value with many members is freed in slices, however it goes, and waits outside the data") {
  constexpr size_t kMembers = 1000;
  constexpr uint64_t kBytes = Bag::kOwnBytes + kMembers * Bag::kBytesPerText;
  PutBag("small", Bag::kLarge - 1);
  const uint64_t empty = db().bytes();
  const auto go = GENERATE(0, 1, 2, 3, 4);
  PutBag("big", kMembers, go == 1 ? In(10) : Expiry::Never());
  CHECK(db().bytes() >= empty + kBytes);
  switch (go) {
    case 0:
      db().Delete(db().KeyOf("big"), now());
      break;
    case 1:
      clock.AdvanceTime(10);
      Settle();
      break;
    case 2:
      db().Evict(*Peek("big"), now());
      break;
    case 3:
      Set("big", "v");
      break;
    default:
      PutBag("other", 1);
      Move("other", "big");
  }
  db().Delete(db().KeyOf("small"), now());
  CHECK(db().bytes() < empty + 1000);
  CHECK(databases.waiting_bytes() == kBytes);
  CHECK(databases.waiting_keys() == 1);
  CHECK(databases.FreeSome(400));
  CHECK(databases.waiting_bytes() == kBytes - 400 * Bag::kBytesPerText);
  CHECK(databases.FreeSome(400));
  CHECK_FALSE(databases.FreeSome(400));
  CHECK(databases.waiting_bytes() == 0);
  CHECK(Valid());
}

TEST_CASE_METHOD(BagFixture, "the big values of a flushed database are freed in slices, too") {
  for (int i = 0; i < 20; ++i) PutBag("k" + std::to_string(i), 500);
  databases.FlushAll(now());
  CHECK(db().size() == 0);
  uint64_t before = databases.waiting_bytes();
  CHECK(before >= 20 * 500 * Bag::kBytesPerText);
  size_t slices = 0;
  for (bool more = true; more; ++slices) {
    more = databases.FreeSome(100);
    const uint64_t left = databases.waiting_bytes();
    REQUIRE(left <= before);
    before = left;
  }
  CHECK(slices >= 100);
  CHECK(before == 0);
}

TEST_CASE_METHOD(BagFixture, "a plain text takes the place of whatever was there, in place or anew") {
  const auto put = [&](std::string_view text, Expiry expiry) {
    const Key key = db().KeyOf("k");
    db().PutText(key, Peek("k"), text, expiry, now(), events::kSet);
    CHECK(Peek("k")->encoding() == Encoding::kText);
    CHECK(Peek("k")->text() == text);
    CHECK(Peek("k")->deadline().deadline_ms == expiry.deadline_ms);
    CHECK(Valid());
  };
  put("new", In(10));
  put("wen", In(20));
  put("longer than it was, so that the entry is too small", In(30));
  put("v", Expiry::Never());
  Set("k", "12345678", In(10));
  put("abcdefgh", In(20));
  Set("k", std::string(20'000, 'b'), In(10));
  put("abcdefgh", In(20));
  PutBag("k", 100, In(10));
  put("abcdefgh", Expiry::At(now().wall_ms + 50));
  CHECK(databases.waiting_keys() == 1);
  databases.StartWalk();
  put("ijklmnop", Expiry::At(now().wall_ms + 50));
  CHECK_FALSE(db().marks().Has(*Peek("k")));
  const Seen seen = Changes();
  CHECK(seen.size() == 11);
  CHECK(seen.front().reason == Reason::kCreated);
  CHECK(std::count_if(seen.begin(), seen.end(),
                      [](const auto& change) { return change.reason == Reason::kValueChanged; }) == 10);
}

TEST_CASE_METHOD(BagFixture, "what still waits to be freed goes with the databases") {
  Databases others(heap, hasher, changes, 1, now());
  const Key key = others.At(0).KeyOf("k");
  others.At(0).PutRich(key, nullptr, Bag::Of(1000), Expiry::Never(), now(), kAdd);
  others.At(0).Delete(key, now());
  others.At(0).PutRich(key, nullptr, Bag::Of(1000), Expiry::Never(), now(), kAdd);
  CHECK(others.waiting_keys() == 1);
}

}  // namespace mayfly
