#include "server/watch/event_ring.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

// A record that owns its texts.
struct Kept {
  uint64_t number;
  int64_t wall_ms;
  EventKind kind;
  unsigned database;
  std::string key;
  std::optional<std::string> value;
  bool operator==(const Kept&) const = default;
};

class EventRingTest {
 public:
  ~EventRingTest() { CHECK(ring.Validate()); }

  void Add(const std::string& key, int64_t wall_ms = 0, std::optional<std::string_view> value = {}) {
    ring.Append(EventKind::kExpired, wall_ms, 0, key, value);
  }
  std::vector<Kept> From(uint64_t from, size_t most = std::numeric_limits<size_t>::max()) const {
    std::vector<Kept> records;
    ring.ReadFrom(from, [&](const EventRecord& record) {
      records.push_back({record.number, record.wall_ms, record.kind, record.database, std::string(record.key),
                         record.value ? std::optional<std::string>(*record.value) : std::nullopt});
      return records.size() != most;
    });
    return records;
  }
  std::vector<uint64_t> Numbers(uint64_t from = 0) const {
    std::vector<uint64_t> numbers;
    for (const Kept& record : From(from)) numbers.push_back(record.number);
    return numbers;
  }

  EventRing ring;
};

using NumberList = std::vector<uint64_t>;
constexpr uint64_t kMegabyte = 1 << 20;

}  // namespace

TEST_CASE_METHOD(EventRingTest, "records come back as they were added, from any number on") {
  ring.SetLimit(kMegabyte);
  ring.SkipTo(1000);
  ring.Append(EventKind::kExpired, 1'700'000'000'000, 0, "first", "value");
  ring.Append(EventKind::kEvicted, 1'699'999'999'999, 15, "", "");
  ring.Append(EventKind::kDeleted, INT64_MIN, 16383, "no value", std::nullopt);
  ring.Append(EventKind::kInvalidated, INT64_MAX, 1, std::string(300, 'k'), std::string(5000, 'v'));
  const std::vector<Kept> all = {
      {1000, 1'700'000'000'000, EventKind::kExpired, 0, "first", "value"},
      {1001, 1'699'999'999'999, EventKind::kEvicted, 15, "", ""},
      {1002, INT64_MIN, EventKind::kDeleted, 16383, "no value", std::nullopt},
      {1003, INT64_MAX, EventKind::kInvalidated, 1, std::string(300, 'k'), std::string(5000, 'v')}};
  CHECK(From(0) == all);
  CHECK(From(1000) == all);
  CHECK(From(1002) == std::vector<Kept>(all.begin() + 2, all.end()));
  CHECK(From(1004).empty());
  CHECK(From(0, 1) == std::vector<Kept>{all[0]});
  CHECK(ring.first_number() == 1000);
  CHECK(ring.next_number() == 1004);
  CHECK(ring.HasFrom(1003));
  CHECK_FALSE(ring.HasFrom(1004));
}

TEST_CASE_METHOD(EventRingTest, "records of an earlier run come first, with their numbers") {
  ring.SetLimit(kMegabyte);
  ring.SkipTo(1000);
  for (const uint64_t number : {17, 18, 40})
    ring.Restore({.number = number, .wall_ms = 5, .kind = EventKind::kDeleted, .key = "old", .value = "v"});
  CHECK(ring.next_number() == 1000);
  Add("new");
  CHECK(Numbers() == NumberList{17, 18, 40, 1000});
  CHECK(From(17, 1) == std::vector<Kept>{{17, 5, EventKind::kDeleted, 0, "old", "v"}});
  // The next number follows a higher one.
  EventRing other;
  other.SetLimit(kMegabyte);
  other.Restore({.number = 2000, .key = "old"});
  CHECK(other.next_number() == 2001);
}

TEST_CASE_METHOD(EventRingTest, "the newest records of a size are found by whole segments") {
  ring.SetLimit(kMegabyte);
  CHECK(ring.FirstWithin(kMegabyte) == ring.next_number());
  for (int i = 0; i < 5000; ++i) Add("a key of some length: " + std::to_string(i));
  CHECK(ring.FirstWithin(kMegabyte) == ring.first_number());
  CHECK(ring.FirstWithin(0) == ring.next_number());
  const uint64_t first = ring.FirstWithin(50'000);
  CHECK(first > 2000);
  CHECK(first < 4500);
}

TEST_CASE_METHOD(EventRingTest, "an empty ring has no memory, and its first number is the next one") {
  CHECK(ring.bytes() == 0);
  CHECK(ring.first_number() == 0);
  ring.SetLimit(kMegabyte);
  ring.SkipTo(7);
  ring.SkipTo(3);
  CHECK(ring.bytes() == 0);
  CHECK(ring.first_number() == 7);
  CHECK(Numbers().empty());
}

TEST_CASE_METHOD(EventRingTest, "what was let go is gone, and its memory is freed in slices") {
  ring.SetLimit(4 * kMegabyte);
  for (int i = 0; i < 10'000; ++i) Add("key:" + std::to_string(i), i, std::string(100, 'v'));
  const uint64_t full = ring.bytes();
  CHECK(full > 10'000 * 100);
  CHECK(ring.LetGo(4'999) == 5'000);
  CHECK(ring.LetGo(4'999) == 0);
  CHECK(ring.size() == 5'000);
  CHECK(From(0, 1).front().key == "key:5000");
  CHECK(From(0, 1).front().wall_ms == 5'000);
  CHECK(ring.bytes() == full);
  CHECK(ring.FreeSome(1));
  CHECK(ring.bytes() == full - EventRing::kSegmentMax);
  CHECK(ring.Validate());
  while (ring.FreeSome(1)) {
  }
  CHECK(ring.bytes() <= full / 2 + EventRing::kSegmentMax);
  CHECK(ring.LetGo(ring.next_number() - 1) == 5'000);
  while (ring.FreeSome(3)) {
  }
  CHECK(ring.bytes() == EventRing::kSegmentMax);  // for those who come
  CHECK(ring.first_number() == 10'000);
  CHECK(ring.dropped() == 0);
}

TEST_CASE_METHOD(EventRingTest, "a reader who is up to date makes and frees no memory") {
  ring.SetLimit(kMegabyte);
  Add("k");
  const uint64_t bytes = ring.bytes();
  CHECK(ring.LetGo(0) == 1);
  for (uint64_t i = 1; i < 100'000; ++i) {
    Add("k", static_cast<int64_t>(i));
    REQUIRE(ring.LetGo(i) == 1);
  }
  CHECK(ring.bytes() == bytes);
  CHECK_FALSE(ring.MayFreeSome());
  CHECK(ring.first_number() == 100'000);
}

TEST_CASE_METHOD(EventRingTest, "a full ring drops its oldest records, and never exceeds its limit") {
  constexpr uint64_t kLimit = 100'000;
  ring.SetLimit(kLimit);
  for (uint64_t i = 0; i < 20'000; ++i) {
    Add("key:" + std::to_string(i));
    REQUIRE(ring.bytes() <= kLimit);
  }
  CHECK(ring.bytes() > kLimit * 9 / 10);
  CHECK(ring.first_number() == ring.dropped());
  CHECK(ring.size() + ring.dropped() == 20'000);
  const NumberList numbers = Numbers();
  CHECK(numbers.front() == ring.first_number());
  CHECK(numbers.back() == 19'999);
  CHECK(numbers.size() == ring.size());
  // Little is lost when the oldest go: the ring is never much emptier than it can be.
  CHECK(ring.size() > 6'000);
}

TEST_CASE_METHOD(EventRingTest, "dropped records are overrun, except those that a reader has seen") {
  constexpr size_t kRecords = 20'000;
  const auto fill = [this] {
    ring.SetLimit(100'000);
    for (uint64_t i = 0; i < kRecords; ++i) Add("key:" + std::to_string(i));
  };
  SECTION("without a reader all are") {
    fill();
    CHECK(ring.overrun() == ring.dropped());
  }
  SECTION("a reader that has seen half of them loses none of this half") {
    ring.NoteRead(kRecords / 2);
    ring.NoteRead(5);  // another one, that is slower
    fill();
    CHECK(ring.overrun() == ring.dropped() - kRecords / 2);
  }
  SECTION("released records are none") {
    fill();
    const uint64_t overrun = ring.overrun();
    ring.LetGo(kRecords - 1);
    CHECK(ring.overrun() == overrun);
  }
  SECTION("an event without room is") {
    ring.NoteRead(1'000);
    ring.SetLimit(100);
    Add("k");
    CHECK(ring.overrun() == 1);
  }
}

TEST_CASE_METHOD(EventRingTest, "a value that is too large is left out, and so is an event whose key is") {
  ring.SetLimit(64'000);
  Add("small");
  Add("large value", 0, std::string(16'000, 'v'));
  Add(std::string(16'000, 'k'));
  Add("after", 5);
  const std::vector<Kept> records = From(0);
  REQUIRE(records.size() == 3);
  CHECK(records[1] == Kept{1, 0, EventKind::kExpired, 0, "large value", std::nullopt});
  CHECK(records[2] == Kept{3, 5, EventKind::kExpired, 0, "after", std::nullopt});
  CHECK(ring.dropped() == 1);
  ring.SetLimit(64 * kMegabyte);
  Add("k", 0, std::string(EventRing::kRecordMax, 'v'));
  Add("k", 0, std::string(EventRing::kRecordMax - 200, 'v'));
  CHECK_FALSE(From(4, 1).front().value);
  CHECK(From(5, 1).front().value->size() == EventRing::kRecordMax - 200);
  CHECK(ring.LetGo(5) == 5);
  while (ring.FreeSome(1)) {
  }
  CHECK(ring.bytes() == 0);  // what is larger than usual is not kept
}

TEST_CASE_METHOD(EventRingTest, "a ring that is too small for a record only counts") {
  for (const uint64_t limit : {1, 100, 1'000, 1'023}) {
    ring.SetLimit(limit);
    Add("k");
  }
  CHECK(ring.dropped() == 4);
  CHECK(ring.next_number() == 4);
  ring.SetLimit(4'096);
  Add("k");
  CHECK(Numbers() == NumberList{4});
}

TEST_CASE_METHOD(EventRingTest, "a lower limit drops the oldest at once; 0 keeps nothing") {
  ring.SetLimit(4 * kMegabyte);
  for (int i = 0; i < 30'000; ++i) Add("key:" + std::to_string(i), i, "value");
  const uint64_t full = ring.bytes();
  ring.SetLimit(3 * EventRing::kSegmentMax);
  CHECK(ring.Validate());
  CHECK(ring.bytes() == full);
  CHECK(Numbers().back() == 29'999);
  CHECK(ring.size() + ring.dropped() == 30'000);
  while (ring.FreeSome(1)) {
  }
  CHECK(ring.bytes() <= ring.limit());
  ring.SetLimit(0);
  CHECK(ring.size() == 0);
  CHECK(ring.dropped() == 30'000);
  while (ring.FreeSome(1)) {
  }
  CHECK(ring.bytes() == 0);
  CHECK(ring.next_number() == 30'000);
}

TEST_CASE_METHOD(EventRingTest, "whatever is done to it, the ring is what a simple queue would be") {
  std::mt19937_64 random(20240301);
  const auto draw = [&random](uint64_t below) { return random() % below; };
  for (int round = 0; round < 40; ++round) {
    EventRing tested;
    std::deque<Kept> model;
    uint64_t limit = 4'096 + draw(200'000);
    tested.SetLimit(limit);
    tested.SkipTo(draw(1'000'000));
    for (int step = 0; step < 2'000; ++step) {
      const uint64_t what = draw(100);
      if (what < 80) {
        Kept kept{tested.next_number(),
                  static_cast<int64_t>(draw(1'000'000)),
                  static_cast<EventKind>(draw(4)),
                  static_cast<unsigned>(draw(3) == 0 ? draw(16384) : 0),
                  std::string(draw(draw(20) == 0 ? 3'000 : 40), 'k'),
                  std::nullopt};
        if (draw(2) == 0) kept.value = std::string(draw(draw(10) == 0 ? 4'000 : 200), 'v');
        const auto value =
            kept.value ? std::optional<std::string_view>(*kept.value) : std::optional<std::string_view>();
        tested.Append(kept.kind, kept.wall_ms, kept.database, kept.key, value);
        model.push_back(kept);
      } else if (what < 90) {
        const uint64_t last = tested.next_number() - 1 - draw(100);
        tested.LetGo(last);
        while (!model.empty() && model.front().number <= last) model.pop_front();
      } else if (what < 95) {
        tested.FreeSome(draw(3));
      } else if (what < 97) {
        tested.SkipTo(tested.next_number() + draw(50));
      } else if (what < 98) {
        tested.SetLimit(limit = 4'096 + draw(200'000));
      }
      REQUIRE(tested.Validate());
      REQUIRE((tested.bytes() <= limit || tested.MayFreeSome()));
      // The ring may have dropped some of the oldest, and large ones; what it has is in the model.
      while (!model.empty() && model.front().number < tested.first_number()) model.pop_front();
    }
    const uint64_t from = tested.first_number() + draw(50);
    auto expected = model.begin();
    uint64_t next = from;
    tested.ReadFrom(from, [&](const EventRecord& record) {
      while (expected != model.end() && expected->number < record.number) ++expected;
      REQUIRE(expected != model.end());
      REQUIRE(record.number >= next);
      REQUIRE(expected->number == record.number);
      REQUIRE((record.wall_ms == expected->wall_ms && record.kind == expected->kind &&
               record.database == expected->database && record.key == expected->key));
      REQUIRE((!record.value || record.value == expected->value));
      next = record.number + 1;
      return true;
    });
  }
}

}  // namespace mayfly
