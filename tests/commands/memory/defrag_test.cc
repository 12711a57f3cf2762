// activedefrag: when entries are moved out of memory that is mostly unused, and for how long at a time.
#include <string>
#include <vector>

#include "exec/memory/defragmenter.h"
#include "support/command_test.h"
#include "support/stepped_cycles.h"

namespace mayfly::testing {
namespace {

class DefragTest : public CommandTest {
 public:
  DefragTest() { Run({"CONFIG", "SET", "active-defrag-ignore-bytes", "1", "maxmemory", "0"}); }

  Now now() { return server().clock.Read(); }
  // Many keys, of which most go again.
  void MakeHoles() {
    const std::string value(600, 'v');
    for (size_t i = 0; i < kKeys; ++i) Run({"SET", "key:" + std::to_string(i), value});
    for (size_t i = 0; i < kKeys; ++i) {
      if (i % 5 != 0) Run({"DEL", "key:" + std::to_string(i)});
    }
    server().databases.heap().FlushCaches();
  }
  // Time passes until it has something to do, which it does. False if it rests.
  bool Continue() {
    if (defragmenter.NextWake() == Defragmenter::kNever) return false;
    if (defragmenter.NextWake() > now().mono_ms)
      AdvanceTime(defragmenter.NextWake() - now().mono_ms);  // and every alarm is rung
    else
      defragmenter.OnWake(now(), nullptr);
    return true;
  }
  // As the loop's turns do it.
  void Slice() {
    if (server().sliced_work.waits())
      server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, kEntriesAtOnce);
  }
  uint64_t looked() { return stats().defrag_moved + stats().defrag_left; }
  // The pass that begins now is the last. REQUIRES: stepped cycles, which stand still, so that a pass needs no
  // pause.
  void RunOnePass() {
    REQUIRE(defragmenter.moves());
    Run({"CONFIG", "SET", "active-defrag-ignore-bytes", "1gb"});
    Finish();
    Run({"CONFIG", "SET", "active-defrag-ignore-bytes", "1"});
  }
  // A slice that takes as long as one may. REQUIRES: stepped cycles.
  void WholeSlice() {
    while (!server().sliced_work.waits()) REQUIRE(Continue());
    Slice();
    SteppedCycles::Advance(server().server.cycle_rate.ToCycles(Defragmenter::kSliceUs));
    while (server().sliced_work.waits()) Slice();
  }
  void Finish() {
    while (defragmenter.moves()) {
      if (server().sliced_work.waits())
        Slice();
      else
        REQUIRE(Continue());
    }
  }
  std::string Info(const std::string& field) {
    const std::string text = Run({"INFO", "everything"}).text;
    const size_t at = text.find("\n" + field + ":");
    REQUIRE(at != std::string::npos);
    const size_t begin = at + field.size() + 2;
    return text.substr(begin, text.find('\r', begin) - begin);
  }

  static constexpr size_t kKeys = 4000;
  static constexpr size_t kEntriesAtOnce = 16;
  Defragmenter defragmenter{server().server};
};

TEST_CASE_METHOD(DefragTest,
                 "a second after much was freed, keys begin to move, in slices with pauses between them") {
  MakeHoles();
  defragmenter.NoteChurn(now());
  CHECK(defragmenter.NextWake() == now().mono_ms + Defragmenter::kLookMs);
  REQUIRE(Continue());
  CHECK(defragmenter.moves());
  CHECK(Info("active_defrag_running") == "25");
  CHECK(Info("active_defrag_hits") == "0");

  REQUIRE(Continue());
  Slice();
  const uint64_t looked = stats().defrag_moved + stats().defrag_left;
  CHECK(looked > 0);
  CHECK(looked < kKeys / 5);
  Finish();
  CHECK_FALSE(defragmenter.moves());
  CHECK(stats().defrag_moved > 0);
  CHECK(Info("active_defrag_running") == "0");
  CHECK(Run({"DBSIZE"}) == Integer(kKeys / 5));
}

TEST_CASE_METHOD(DefragTest, "without activedefrag, or if little is unused, nothing moves") {
  MakeHoles();
  const std::string option =
      GENERATE("activedefrag", "active-defrag-ignore-bytes", "active-defrag-threshold-lower");
  Run({"CONFIG", "SET", option,
       option == "activedefrag"    ? "no"
       : option.ends_with("bytes") ? "1gb"
                                   : "1000"});
  defragmenter.NoteChurn(now());
  REQUIRE(Continue());
  CHECK_FALSE(defragmenter.moves());
  CHECK(defragmenter.NextWake() == Defragmenter::kNever);
  CHECK(stats().defrag_moved == 0);
}

TEST_CASE_METHOD(DefragTest,
                 "an option that changes is followed: while keys move, and while nothing happens") {
  MakeHoles();
  Run({"CONFIG", "SET", "activedefrag", "yes"});
  REQUIRE(Continue());
  REQUIRE(defragmenter.moves());
  Run({"CONFIG", "SET", "activedefrag", "no"});
  REQUIRE(Continue());
  Slice();
  CHECK_FALSE(defragmenter.moves());
  CHECK(stats().defrag_moved == 0);
}

#ifndef MAYFLY_SANITIZE  // in whose builds no block is left where it is
TEST_CASE_METHOD(DefragTest, "after a pass that was of use another one begins at once") {
  const SteppedCycles cycles;
  Run({"CONFIG", "SET", "active-defrag-threshold-lower", "0"});
  MakeHoles();
  defragmenter.NoteChurn(now());
  REQUIRE(Continue());
  REQUIRE(Continue());
  while (server().sliced_work.waits()) Slice();
  REQUIRE(stats().defrag_moved > 0);
  CHECK(looked() == kKeys / 5);
  CHECK(defragmenter.moves());
  REQUIRE(Continue());
  Slice();
  CHECK(looked() > kKeys / 5);
}

TEST_CASE_METHOD(DefragTest,
                 "after a pass that was of no use keys rest for ten seconds, although memory is unused") {
  Run({"CONFIG", "SET", "active-defrag-threshold-lower", "0"});  // any unused memory is a reason
  MakeHoles();
  defragmenter.NoteChurn(now());
  REQUIRE(Continue());
  constexpr size_t kMostSteps = 20'000;
  size_t steps = 0;
  for (; defragmenter.moves() && steps < kMostSteps; ++steps) {
    if (server().sliced_work.waits())
      Slice();
    else
      REQUIRE(Continue());
  }
  REQUIRE(steps < kMostSteps);
  CHECK(stats().defrag_moved > 0);
  CHECK(stats().defrag_left > 0);
  const Heap::Fill fill = server().databases.heap().ReadFill();
  CHECK(fill.in_pages > fill.used);
  CHECK(defragmenter.NextWake() == Defragmenter::kNever);
  const uint64_t ended = server().executor.now().mono_ms;
  LetTimePass(500);
  defragmenter.NoteChurn(now());
  CHECK(defragmenter.NextWake() == ended + Defragmenter::kFutileMs);
}
#endif

// At 1 percent of the processor's time the pause is 99 times as long as the slice.
TEST_CASE_METHOD(DefragTest,
                 "a pause follows each slice, as long as the share of the processor's time says") {
  const SteppedCycles cycles;
  const int percent = GENERATE(1, 25);
  Run({"CONFIG", "SET", "active-defrag-cycle-min", std::to_string(percent), "active-defrag-cycle-max",
       std::to_string(percent)});
  MakeHoles();
  AdvanceTime(Defragmenter::kLookMs);
  REQUIRE(defragmenter.moves());
  CHECK(Info("active_defrag_running") == std::to_string(percent));
  for (int round = 0; round < 3; ++round) {
    WholeSlice();
    REQUIRE(defragmenter.moves());
    CHECK(defragmenter.NextWake() == now().mono_ms + (percent == 1 ? 24 : 1));
  }
}

TEST_CASE_METHOD(DefragTest,
                 "the share of the processor's time lies between the options' by the unused part of memory") {
  MakeHoles();
  const Heap::Fill fill = server().databases.heap().ReadFill();
  const auto part = static_cast<int64_t>((fill.in_pages - fill.used) * 100 / fill.used);
  REQUIRE(part > 30);
  REQUIRE(part < 900);
  Run({"CONFIG", "SET", "active-defrag-cycle-min", "20", "active-defrag-cycle-max", "80"});
  const auto running = [&](int64_t lower, int64_t upper) {
    CHECK(Run({"CONFIG", "SET", "active-defrag-threshold-lower", std::to_string(lower),
               "active-defrag-threshold-upper", std::to_string(upper), "activedefrag", "yes"}) == Ok());
    AdvanceTime(Defragmenter::kLookMs);
    const int percent = stats().defrag_percent;
    Run({"CONFIG", "SET", "activedefrag", "no"});
    while (defragmenter.moves()) {
      if (server().sliced_work.waits())
        Slice();
      else
        REQUIRE(Continue());
    }
    return percent;
  };
  const int middle = running(part - 30, part + 30);
  CHECK(middle >= 45);
  CHECK(middle <= 55);
  const int low = running(part - 3, 1000);
  CHECK(low >= 20);
  CHECK(low <= 24);
  CHECK(running(1, part - 10) == 80);
  CHECK(running(part + 20, 1000) == 0);
}

TEST_CASE_METHOD(DefragTest, "while keys move the unused memory is measured again four times a second") {
  const SteppedCycles cycles;
  Run({"CONFIG", "SET", "active-defrag-cycle-min", "1", "active-defrag-cycle-max", "1"});
  MakeHoles();
  AdvanceTime(Defragmenter::kLookMs);
  REQUIRE(defragmenter.moves());
  const bool stops = GENERATE(false, true);
  stops ? Run({"CONFIG", "SET", "active-defrag-ignore-bytes", "1gb"})
        : Run({"CONFIG", "SET", "active-defrag-cycle-min", "2", "active-defrag-cycle-max", "2"});
  const uint64_t began = now().mono_ms;
  while (defragmenter.NextWake() < began + Defragmenter::kLookAgainMs) {
    WholeSlice();
    REQUIRE(defragmenter.moves());
    CHECK(stats().defrag_percent == 1);
  }
  WholeSlice();
  CHECK(defragmenter.moves() == !stops);
  CHECK(stats().defrag_percent == (stops ? 0 : 2));
}

TEST_CASE_METHOD(DefragTest, "keys move in whatever database they are") {
  const SteppedCycles cycles;
  const auto databases = GENERATE(std::vector<std::string>{"3"}, std::vector<std::string>{"0", "7", "15"});
  for (const std::string& database : databases) {
    Run({"SELECT", database});
    MakeHoles();
  }
  defragmenter.NoteChurn(now());
  REQUIRE(Continue());
  RunOnePass();
  CHECK(looked() == databases.size() * kKeys / 5);
  CHECK(stats().defrag_moved > looked() / 2);
}

TEST_CASE_METHOD(DefragTest, "a pass begins with the first key, wherever the last one was broken off") {
  const SteppedCycles cycles;
  Run({"SELECT", "3"});
  MakeHoles();
  defragmenter.NoteChurn(now());
  REQUIRE(Continue());
  REQUIRE(Continue());
  for (int slice = 0; slice < 1000 && looked() < kKeys / 10; ++slice) Slice();
  SteppedCycles::Advance(server().server.cycle_rate.ToCycles(Defragmenter::kSliceUs));
  Slice();
  REQUIRE_FALSE(server().sliced_work.waits());
  Run({"CONFIG", "SET", "activedefrag", "no"});
  Finish();
  const uint64_t before = looked();
  REQUIRE(before >= kKeys / 10);
  REQUIRE(before < kKeys / 5);
  Run({"SELECT", "0"});
  MakeHoles();
  Run({"CONFIG", "SET", "activedefrag", "yes"});
  REQUIRE(Continue());
  RunOnePass();
  CHECK(looked() - before == 2 * kKeys / 5);
}

TEST_CASE_METHOD(DefragTest, "databases without keys take part of a slice, too") {
  const SteppedCycles cycles;
  Run({"SELECT", "15"});
  MakeHoles();
  defragmenter.NoteChurn(now());
  REQUIRE(Continue());
  REQUIRE(Continue());
  for (int slice = 0; slice < 7; ++slice) Slice();
  CHECK(looked() == 0);
  Slice();
  CHECK(looked() > 0);
}

TEST_CASE_METHOD(DefragTest, "while a script runs for too long nothing moves") {
  MakeHoles();
  SetOption("busy-reply-threshold", "1");
  defragmenter.NoteChurn(now());
  REQUIRE(Continue());
  REQUIRE(defragmenter.moves());
  TestClient& other = Connect();
  CHECK(Run({"EVAL", "while true do end", "0"}) == NoReply());
  REQUIRE(Continue());
  Slice();
  CHECK_FALSE(defragmenter.moves());
  CHECK(stats().defrag_moved + stats().defrag_left == 0);
  CHECK(other.Run({"SCRIPT", "KILL"}) == Ok());
  server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, 1);
  server().RunWoken();
}

TEST_CASE_METHOD(DefragTest, "the time that moving took is added up, from one pass to the next") {
  const SteppedCycles cycles;
  Run({"CONFIG", "SET", "active-defrag-cycle-min", "25", "active-defrag-cycle-max", "25"});
  MakeHoles();
  AdvanceTime(Defragmenter::kLookMs);
  REQUIRE(defragmenter.moves());
  constexpr int kSlices = 8;
  for (int round = 0; round < kSlices; ++round) {
    WholeSlice();
    REQUIRE(defragmenter.moves());
  }
  const uint64_t first = stats().defrag_total_ms;
  CHECK(first == kSlices * Defragmenter::kSliceUs / 1000);
  Run({"CONFIG", "SET", "activedefrag", "no"});
  while (defragmenter.moves()) {
    if (server().sliced_work.waits())
      Slice();
    else
      REQUIRE(Continue());
  }
  Run({"CONFIG", "SET", "activedefrag", "yes"});
  AdvanceTime(Defragmenter::kLookMs);
  REQUIRE(defragmenter.moves());
  for (int round = 0; round < kSlices; ++round) {
    WholeSlice();
    REQUIRE(defragmenter.moves());
  }
  CHECK(stats().defrag_total_ms == 2 * first);
  CHECK(Info("total_active_defrag_time") == std::to_string(2 * first));
}

TEST_CASE_METHOD(DefragTest, "a run's first slice counts, and nothing before CONFIG RESETSTAT counts again") {
  const SteppedCycles cycles;
  Run({"CONFIG", "SET", "active-defrag-cycle-min", "25", "active-defrag-cycle-max", "25"});
  MakeHoles();
  AdvanceTime(Defragmenter::kLookMs);
  const auto long_slice = [this] {
    REQUIRE(defragmenter.moves());
    while (!server().sliced_work.waits()) REQUIRE(Continue());
    Slice();
    SteppedCycles::Advance(server().server.cycle_rate.ToCycles(3'000));
    while (server().sliced_work.waits()) Slice();
  };
  long_slice();
  long_slice();
  CHECK(Info("total_active_defrag_time") == "6");
  Run({"CONFIG", "SET", "activedefrag", "no"});
  Finish();
  Run({"CONFIG", "SET", "activedefrag", "yes"});
  AdvanceTime(Defragmenter::kLookMs);
  long_slice();
  CHECK(Info("total_active_defrag_time") == "9");
  CHECK(Info("current_active_defrag_time") == "3");
  Run({"CONFIG", "RESETSTAT"});
  long_slice();
  CHECK(Info("total_active_defrag_time") == "3");
}

TEST_CASE_METHOD(DefragTest, "counts of moved keys are reset with the others") {
  MakeHoles();
  defragmenter.NoteChurn(now());
  REQUIRE(Continue());
  Finish();
  REQUIRE(stats().defrag_moved > 0);
  Run({"CONFIG", "RESETSTAT"});
  CHECK(Info("active_defrag_hits") == "0");
  CHECK(Info("total_active_defrag_time") == "0");
}

}  // namespace
}  // namespace mayfly::testing
