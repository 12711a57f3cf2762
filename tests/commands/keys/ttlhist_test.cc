#include <array>
#include <random>

#include "base/time/tsc.h"
#include "cache/ttl_histogram.h"
#include "exec/info/ttl_walk.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

// What INFO ttlhist says.
struct Shown {
  int64_t age_ms = 0;
  bool in_progress = false;
  std::vector<std::pair<std::string, TtlHistogram::Sum>> ranges;

  TtlHistogram::Sum Of(std::string_view range) const {
    for (const auto& [name, sum] : ranges) {
      if (name == range) return sum;
    }
    FAIL("no range " << range);
    return {};
  }
  uint64_t Keys() const {
    uint64_t keys = 0;
    for (const auto& [name, sum] : ranges) keys += sum.keys;
    return keys;
  }
};

class TtlHistTest : public CommandTest {
 public:
  Shown Ask() {
    const std::string text = Run({"INFO", "ttlhist"}).text;
    Shown shown;
    REQUIRE(text.starts_with("# Ttlhist\r\nttlhist_age_ms:"));
    shown.age_ms = NumberAfter(text, "\nttlhist_age_ms:");
    shown.in_progress = NumberAfter(text, "\nttlhist_in_progress:") != 0;
    for (size_t at = 0; (at = text.find("\nttl_", at)) != std::string::npos; ++at) {
      const std::string line = text.substr(at + 1, text.find('\r', at) - at - 1);
      const size_t colon = line.find(':');
      shown.ranges.push_back({line.substr(4, colon - 4),
                              {static_cast<uint64_t>(NumberAfter(line, ":keys=")),
                               static_cast<uint64_t>(NumberAfter(line, ",bytes="))}});
    }
    return shown;
  }
  static int64_t NumberAfter(const std::string& text, const std::string& label) {
    const size_t at = text.find(label);
    REQUIRE(at != std::string::npos);
    return std::stoll(text.substr(at + label.size()));
  }
  // What the loop does in a turn, for so many keys.
  void Slice(size_t keys) {
    server().executor.RefreshNow();
    server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, keys);
  }
  void SliceToEnd() {
    while (server().sliced_work.waits()) Slice(100);
  }
  void SetMany(int count, const std::string& prefix, const std::string& ttl_ms) {
    for (int i = 0; i < count; ++i) Run({"SET", prefix + std::to_string(i), "v", "PX", ttl_ms});
  }
};

}  // namespace

TEST_CASE_METHOD(TtlHistTest, "INFO ttlhist shows what will expire when") {
  Run({"SET", "soon", "v", "PX", "999"});
  Run({"SET", "second", "v", "PX", "1000"});
  Run({"SET", "hour", "v", "EXAT", UnixSeconds(3700)});
  Run({"SET", "week", "v", "EX", "604800"});
  Run({"SELECT", "3"});
  Run({"SET", "lasting", std::string(1000, 'x')});
  Run({"SADDEX", "members", "5", "a"});
  const int64_t bytes =
      Run({"MEMORY", "USAGE", "lasting"}).integer + Run({"MEMORY", "USAGE", "members"}).integer;
  const Shown shown = Ask();
  CHECK(shown.age_ms == 0);
  CHECK_FALSE(shown.in_progress);
  CHECK(shown.ranges.size() == 10);
  CHECK(shown.Of("under_1s").keys == 1);
  CHECK(shown.Of("1s_to_10s").keys == 1);
  CHECK(shown.Of("10s_to_1m").keys == 0);
  CHECK(shown.Of("10s_to_1m").bytes == 0);
  CHECK(shown.Of("1h_to_6h").keys == 1);
  CHECK(shown.Of("from_7d").keys == 1);
  CHECK(shown.Of("none").keys == 2);
  CHECK(shown.Of("none").bytes == static_cast<uint64_t>(bytes));
}

TEST_CASE_METHOD(TtlHistTest, "what INFO ttlhist shows moves on with time") {
  Run({"SET", "k", "v", "EX", "60"});
  CHECK(Ask().Of("1m_to_10m").keys == 1);
  AdvanceTime(1);
  CHECK(Ask().Of("10s_to_1m").keys == 1);
  AdvanceTime(59'000);
  CHECK(Ask().Of("under_1s").keys == 1);
  LetTimePass(999);  // due, and not freed
  CHECK(Ask().Keys() == 0);
}

TEST_CASE_METHOD(TtlHistTest, "only who names ttlhist or everything is shown it") {
  const auto shows = [&](const std::vector<std::string>& request) {
    return Run(request).text.find("ttlhist") != std::string::npos;
  };
  CHECK_FALSE(shows({"INFO"}));
  CHECK_FALSE(shows({"INFO", "default"}));
  CHECK_FALSE(shows({"INFO", "all"}));
  CHECK(shows({"INFO", "everything"}));
  CHECK(shows({"INFO", "memory", "TtlHist"}));
}

TEST_CASE_METHOD(TtlHistTest, "INFO ttlhist is what a count of every key by PTTL and MEMORY USAGE says") {
  constexpr uint64_t kNames = 200;
  std::mt19937_64 random(12);
  const auto draw = [&](uint64_t below) { return random() % below; };
  const auto draw_ttl = [&] { return std::to_string(1 + draw(uint64_t{2} << draw(31))); };
  const auto change = [&] {
    const std::string name = "k" + std::to_string(draw(kNames));
    switch (draw(9)) {
      case 0:
        return Run({"SET", name, std::string(draw(30'000), 'x'), "PX", draw_ttl()});
      case 1:
        return Run({"SET", name, "v", "PXAT", UnixMs(std::stoll(draw_ttl()))});
      case 2:
        return Run({"APPEND", name, std::string(draw(100), 'x')});
      case 3:
        return Run({"HSET", name, "f" + std::to_string(draw(200)), std::string(draw(80), 'x')});
      case 4:
        return Run({"HPEXPIRE", name, draw_ttl(), "FIELDS", "1", "f1"});
      case 5:
        return Run({"PERSIST", name});
      case 6:
        return Run({"DEL", name});
      case 7:
        return Run({"SELECT", std::to_string(draw(2))});
      default:
        return Run({"PEXPIRE", name, draw_ttl()});
    }
  };
  for (int round = 0; round < 150; ++round) {
    for (int i = 0; i < 40; ++i) change();
    LetTimePass(draw(2) == 0 ? draw(50) : draw(uint64_t{2} << draw(24)));
    if (draw(2) == 0) TurnWheels();
    if (draw(10) == 0) StepWallClockUnnoticed(static_cast<int64_t>(draw(200'000)) - 100'000);
    std::array<TtlHistogram::Sum, TtlHistogram::kExpiring + 1> expected{};
    const Shown shown = Ask();  // first: looking at a key may remove it
    for (const char* database : {"0", "1"}) {
      Run({"SELECT", database});
      for (uint64_t i = 0; i < kNames; ++i) {
        const std::string name = "k" + std::to_string(i);
        const int64_t ttl_ms = Run({"PTTL", name}).integer;
        if (ttl_ms == -2) continue;
        TtlHistogram::Sum& sum = expected[ttl_ms < 0 ? TtlHistogram::kExpiring
                                                     : TtlHistogram::RangeOf(static_cast<uint64_t>(ttl_ms))];
        ++sum.keys;
        sum.bytes += static_cast<uint64_t>(Run({"MEMORY", "USAGE", name}).integer);
      }
    }
    REQUIRE(shown.ranges.size() == expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(round, shown.ranges[i].first);
      REQUIRE(shown.ranges[i].second.keys == expected[i].keys);
      REQUIRE(shown.ranges[i].second.bytes == expected[i].bytes);
    }
  }
}

TEST_CASE_METHOD(TtlHistTest,
                 "many keys are counted in slices, and INFO ttlhist says how old the figures are") {
  SetMany(8000, "soon:", "50000");
  Run({"SELECT", "1"});
  SetMany(4000, "later:", "5000000");
  Shown shown = Ask();
  CHECK(shown.age_ms == -1);
  CHECK(shown.in_progress);
  CHECK(shown.ranges.empty());
  Slice(100);
  CHECK(server().sliced_work.waits());
  LetTimePass(30);
  CHECK(Ask().age_ms == -1);
  SliceToEnd();
  LetTimePass(12);
  shown = Ask();
  CHECK(shown.age_ms == 42);
  CHECK_FALSE(shown.in_progress);
  CHECK(shown.Of("10s_to_1m").keys == 8000);
  CHECK(shown.Of("1h_to_6h").keys == 4000);
  CHECK(shown.Keys() == 12'000);
}

TEST_CASE_METHOD(TtlHistTest,
                 "a walk for INFO ttlhist rests, and begins anew when somebody asks after that") {
  SetMany(12'000, "k:", "50000000");
  Ask();
  SliceToEnd();
  LetTimePass(TtlWalk::kRestMs - 1);
  CHECK_FALSE(Ask().in_progress);
  CHECK(Ask().age_ms == TtlWalk::kRestMs - 1);
  SetMany(1000, "new:", "500");
  LetTimePass(1);
  CHECK(Ask().in_progress);
  CHECK(Ask().Keys() == 12'000);
  SliceToEnd();
  CHECK(Ask().age_ms == 0);
  CHECK(Ask().Of("under_1s").keys == 1000);
}

TEST_CASE_METHOD(TtlHistTest, "a walk for INFO ttlhist goes on while databases are flushed and swapped") {
  SetMany(12'000, "k:", "50000000");
  Ask();
  Slice(500);
  Run({"SWAPDB", "0", "5"});
  Slice(500);
  Run({"FLUSHALL"});
  Run({"SET", "k", "v"});
  CHECK(Ask().in_progress);
  SliceToEnd();
  CHECK(Ask().age_ms == 0);
  CHECK(Ask().Keys() == 1);
}

TEST_CASE_METHOD(TtlHistTest,
                 "a key that stays is counted once, while others come and go in the middle of a walk") {
  SetMany(11'000, "stays:", "50000000");
  std::mt19937_64 random(5);
  Ask();
  while (server().sliced_work.waits()) {
    Slice(40);
    for (int j = 0; j < 40; ++j) {
      const std::string name = "other:" + std::to_string(random() % 3000);
      Run(random() % 2 == 0 ? std::vector<std::string>{"SET", name, "v", "EX", "5"}
                            : std::vector<std::string>{"DEL", name});
    }
  }
  CHECK(Ask().Of("6h_to_1d").keys == 11'000);
}

}  // namespace mayfly::testing
