#include "cache/time/due_page.h"

#include <map>
#include <random>
#include <set>
#include <string>

#include "support/catch.h"
#include "unit/cache/timed_value.h"

namespace mayfly {
namespace {

class DuePageTest : public TimedValueFixture {
 public:
  // Takes the next page. Its keys that are alive and have at most `within_ms` left are added to `seen`.
  bool Next(uint64_t within_ms, size_t most) {
    db().FollowWallStep(now());
    page.entries.clear();
    if (!db().lifetimes().deadlines().FillPage(page, within_ms, most, now())) {
      CHECK(page.entries.empty());
      return false;
    }
    CHECK(page.entries.size() <= most);
    for (const Entry* entry : page.entries) {
      if (!HasExpired(*entry, now()) && Left(*entry) <= within_ms) seen.insert(std::string(entry->key()));
    }
    return true;
  }
  uint64_t Left(const Entry& entry) { return static_cast<uint64_t>(TtlMs(entry, now())); }
  // Those that a brute-force search finds, with their deadlines.
  std::map<std::string, std::pair<Expiry::Kind, uint64_t>> Within(uint64_t within_ms) {
    std::map<std::string, std::pair<Expiry::Kind, uint64_t>> found;
    db().ForEach(now(), [&](const Entry& entry) {
      if (!entry.expires() || Left(entry) > within_ms) return;
      found[std::string(entry.key())] = {entry.deadline().kind, entry.deadline().deadline_ms};
    });
    return found;
  }
  Expiry AtWall(uint64_t from_now_ms) {
    return Expiry::At(now().wall_ms + static_cast<int64_t>(from_now_ms));
  }

  DuePage page;
  std::set<std::string> seen;
};

std::string Name(uint64_t i) { return "k" + std::to_string(i); }

}  // namespace

TEST_CASE_METHOD(DuePageTest,
                 "a page that may look at enough has all keys that are due in time, and ends the walk") {
  for (uint64_t i = 0; i < 500; ++i) Set(Name(i), "v", i % 2 == 0 ? In(i * 10 + 1) : AtWall(i * 10 + 1));
  Set("lasting", "v");
  for (const uint64_t within_ms : {0, 1, 64, 999, 2500, 4990, 4991, 1'000'000}) {
    seen.clear();
    REQUIRE(Next(within_ms, 501));
    CHECK(page.cursor == 0);
    CHECK(seen.size() == Within(within_ms).size());
  }
  CHECK(seen.size() == 500);
  REQUIRE(Next(UINT64_MAX, 500));
}

TEST_CASE_METHOD(DuePageTest, "a page for a near time looks at few of many keys") {
  for (uint64_t i = 0; i < 5000; ++i) Set(Name(i), "v", In(1 + i * 1000));
  REQUIRE(Next(10'000, 20));
  CHECK(page.cursor == 0);
  CHECK(seen.size() == 10);
}

TEST_CASE_METHOD(DuePageTest, "pages follow each other in the order of time") {
  for (uint64_t i = 0; i < 3000; ++i) Set(Name(i), "v", i % 3 == 0 ? AtWall(1 + i * 40) : In(1 + i * 40));
  int pages = 0;
  uint64_t before = 0;
  do {
    REQUIRE(Next(60'000, 200));
    ++pages;
    if (page.cursor == 0) break;
    CHECK(DuePage::Owns(page.cursor));
    CHECK(DuePage::TimeOf(page.cursor) > before);
    before = DuePage::TimeOf(page.cursor);
  } while (true);
  CHECK(pages > 8);
  CHECK(pages < 40);
  CHECK(seen.size() == 1500);
}

TEST_CASE_METHOD(DuePageTest, "no page begins or ends within a list") {
  for (uint64_t i = 0; i < 100; ++i) Set(Name(i), "v", In(50'000));
  CHECK_FALSE(Next(60'000, 99));
  CHECK(page.cursor == 0);
  CHECK(Next(60'000, 100));
  Set("near", "v", In(5));
  page.cursor = 0;
  REQUIRE(Next(60'000, 99));
  CHECK(seen.contains("near"));
  CHECK(page.cursor != 0);
  CHECK_FALSE(Next(60'000, 99));
}

TEST_CASE_METHOD(DuePageTest, "a step of the wall clock voids the cursor") {
  for (uint64_t i = 0; i < 100; ++i) Set(Name(i), "v", In(1 + i));
  REQUIRE(Next(1000, 30));
  REQUIRE(page.cursor != 0);
  clock.StepWall(1);
  CHECK_FALSE(Next(1000, 30));
  page.cursor = 0;
  CHECK(Next(1000, 30));
}

TEST_CASE_METHOD(DuePageTest, "while a key has two times, a page has all keys or none") {
  for (uint64_t i = 0; i < 100; ++i) Set(Name(i), "v", In(1 + i));
  SetTimed("h", In(5000));
  Edit("h", [&](TimedValue& value) { value.Set(1, InMs(40)); });
  REQUIRE(db().lifetimes().deadlines().with_two_times() == 1);
  CHECK_FALSE(Next(1000, 50));
  REQUIRE(Next(1000, 101));
  CHECK(page.cursor == 0);
  CHECK(seen.size() == 100);
  CHECK(Next(5000, 101));
  CHECK(seen.size() == 101);
  CHECK(db().Validate());
  db().Delete(db().KeyOf("h"), now());
  CHECK(db().lifetimes().deadlines().with_two_times() == 0);
  CHECK(Next(1000, 50));
}

TEST_CASE_METHOD(DuePageTest, "a deadline above 48 bits counts as two times until it goes") {
  const uint64_t far = Entry::kMaxNearDeadline + 1000;
  Set("far", "v", In(far));
  CHECK(db().lifetimes().deadlines().with_two_times() == 1);
  CHECK(Next(UINT64_MAX, 10));
  CHECK(seen.contains("far"));
  Entry* entry = Peek("far");
  entry = db().SetExpiry(db().KeyOf("far"), *entry, In(100), now());
  CHECK(db().lifetimes().deadlines().with_two_times() == 0);
  db().SetExpiry(db().KeyOf("far"), *entry, In(far), now());
  CHECK(db().lifetimes().deadlines().with_two_times() == 1);
  CHECK(db().Validate());
  clock.AdvanceTime(5);
  db().SetExpiry(db().KeyOf("far"), *Peek("far"), Expiry::Never(), now());
  CHECK(db().lifetimes().deadlines().with_two_times() == 0);
  CHECK(db().Validate());
}

namespace {

// Changes that happen between the pages of a walk.
class BusyDuePageTest : public DuePageTest {
 public:
  static constexpr uint64_t kNames = 300;

  uint64_t Draw(uint64_t below) { return random() % below; }
  // From 0 ms to days, each size equally likely.
  uint64_t DrawTtl() { return Draw(uint64_t{2} << Draw(28)) + 1; }
  Expiry DrawExpiry() { return Draw(3) == 0 ? AtWall(DrawTtl()) : In(DrawTtl()); }
  // For many walks to need several pages: times that are spread over a minute.
  Expiry DrawNearExpiry() { return Draw(3) == 0 ? AtWall(1 + Draw(60'000)) : In(1 + Draw(60'000)); }

  void Change() {
    const std::string name = Name(Draw(kNames));
    Entry* const entry = Peek(name);
    switch (Draw(10)) {
      case 0:
        if (entry != nullptr) db().Delete(db().KeyOf(name), now());
        return;
      case 1:  // relocated: filed anew, with the same deadline
      case 2:
        if (entry != nullptr) {
          db().PutValue(db().KeyOf(name), *entry, StringValue::Of(std::string(Draw(400), 'x')), now(),
                        events::kSet);
        }
        return;
      case 3:
        if (entry != nullptr && entry->expires()) Lengthen(name, *entry);
        return;
      case 4:
        if (entry != nullptr) db().SetExpiry(db().KeyOf(name), *entry, DrawExpiry(), now());
        return;
      default:
        if (entry == nullptr) Set(name, "v", Draw(4) == 0 ? DrawExpiry() : DrawNearExpiry());
        return;
    }
  }
  // The entry stays in its list.
  void Lengthen(const std::string& name, Entry& entry) {
    Expiry expiry = entry.deadline();
    expiry.deadline_ms += Draw(20'000);
    db().SetExpiry(db().KeyOf(name), entry, expiry, now());
  }
  void LetTimePass() {
    clock.AdvanceTime(Draw(4) == 0 ? Draw(3000) : Draw(70));
    for (uint64_t slices = Draw(4); slices != 0; --slices) databases.Advance(now(), 1 + Draw(100));
  }
  // One whole walk with changes in between. Returns the number of pages; 0 if the table would have to be walked.
  size_t WalkOnce(bool steps) {
    page.cursor = 0;
    seen.clear();
    const uint64_t within_ms = Draw(2) == 0 ? DrawTtl() : 10'000 + Draw(60'000);
    const size_t most = Draw(2) == 0 ? 1 + Draw(uint64_t{2} << Draw(9)) : 25 + Draw(75);
    auto stable = Within(within_ms);
    for (size_t pages = 1;; ++pages) {
      if (!Next(within_ms, most)) return 0;
      if (page.cursor == 0) {
        for (const auto& [name, deadline] : stable) {
          if (seen.contains(name)) continue;
          CAPTURE(name, within_ms, most, pages);
          FAIL("it is in no page");
        }
        return pages;
      }
      for (uint64_t times = Draw(20); times != 0; --times) Change();
      LetTimePass();
      if (steps && Draw(8) == 0) clock.StepWall(static_cast<int64_t>(Draw(100'000)) - 50'000);
      const auto current = Within(within_ms);
      std::erase_if(stable, [&](const auto& key) {
        const auto found = current.find(key.first);
        return found == current.end() || found->second != key.second;
      });
    }
  }

  std::mt19937_64 random{4711};
};

}  // namespace

TEST_CASE_METHOD(BusyDuePageTest, "every key that stays due in time during a walk is in one of its pages") {
  size_t walks_of_many_pages = 0;
  size_t keys_seen = 0;
  for (int walk = 0; walk < 4000; ++walk) {
    for (uint64_t times = Draw(60); times != 0; --times) Change();
    LetTimePass();
    walks_of_many_pages += WalkOnce(/*steps=*/false) > 2;
    keys_seen += seen.size();
    if (walk % 100 == 0) REQUIRE(db().Validate());
  }
  CHECK(walks_of_many_pages > 200);
  CHECK(keys_seen > 10'000);
}

TEST_CASE_METHOD(BusyDuePageTest, "so it is when the wall clock is set now and then") {
  for (int walk = 0; walk < 2000; ++walk) {
    for (uint64_t times = Draw(60); times != 0; --times) Change();
    LetTimePass();
    if (Draw(10) == 0) clock.StepWall(static_cast<int64_t>(Draw(100'000)) - 50'000);
    WalkOnce(/*steps=*/true);
  }
  CHECK(db().Validate());
}

}  // namespace mayfly
