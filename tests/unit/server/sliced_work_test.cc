#include "server/sliced_work.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

uint64_t cycles = 0;

// A step with that much work; each DoSome takes as long as it is told.
struct TimedStep final : SlicedWork::Step {
  explicit TimedStep(SlicedWork& work) : Step(work) {}

  void Begin(uint64_t how_often, uint64_t each_takes) {
    left = how_often;
    takes = each_takes;
    Announce();
  }
  bool DoSome(Now, size_t budget) noexcept override {
    last_budget = budget;
    cycles += takes;
    had += takes;
    ++calls;
    return --left != 0;
  }

  uint64_t left = 0;
  uint64_t takes = 0;
  uint64_t had = 0;
  uint64_t calls = 0;
  size_t last_budget = 0;
};

constexpr uint64_t kEndless = UINT64_MAX;
constexpr size_t kBudget = 64;

struct Work : SlicedWork {
  void Slice(uint64_t length) { RunSlice(Now{}, cycles, length, kBudget); }
};

TEST_CASE("a step works until it is done, and is not asked again before it announces more") {
  Work work;
  TimedStep step(work);
  CHECK_FALSE(work.waits());
  step.Begin(3, 10);
  step.Announce();  // once more changes nothing
  CHECK(work.waits());
  work.Slice(1'000);
  CHECK(step.calls == 3);
  CHECK(step.last_budget == kBudget);
  CHECK_FALSE(work.waits());
  work.Slice(1'000);
  CHECK(step.calls == 3);
}

TEST_CASE("a step alone gets the whole slice, and at least one budget of it") {
  Work work;
  TimedStep step(work);
  step.Begin(kEndless, 100);
  work.Slice(450);
  CHECK(step.calls == 5);
  work.Slice(10);
  CHECK(step.calls == 6);
  CHECK(work.waits());
}

TEST_CASE("steps share a slice by time, not by calls") {
  Work work;
  TimedStep quick(work);
  TimedStep slow(work);
  quick.Begin(kEndless, 10);
  slow.Begin(kEndless, 200);
  work.Slice(1'000);
  CHECK(quick.had >= 400);
  CHECK(slow.had >= 400);
  CHECK(quick.had + slow.had <= 1'000 + 200);
}

TEST_CASE("what a step does not need is left to the others") {
  Work work;
  TimedStep small(work);
  TimedStep large(work);
  small.Begin(2, 10);
  large.Begin(kEndless, 10);
  work.Slice(1'000);
  CHECK(small.had == 20);
  CHECK(large.had == 980);
}

TEST_CASE("if a slice is shorter than one budget takes, steps take turns from slice to slice") {
  Work work;
  std::array<TimedStep, 4> steps{TimedStep(work), TimedStep(work), TimedStep(work), TimedStep(work)};
  for (TimedStep& step : steps) step.Begin(kEndless, 100);
  for (int slice = 0; slice < 12; ++slice) work.Slice(50);
  for (const TimedStep& step : steps) CHECK(step.calls == 3);
}

TEST_CASE("a step that did not work for long has no credit: it starts level with the others") {
  Work work;
  TimedStep busy(work);
  TimedStep late(work);
  busy.Begin(kEndless, 10);
  for (int slice = 0; slice < 100; ++slice) work.Slice(1'000);
  late.Begin(kEndless, 10);
  const uint64_t before = busy.had;
  work.Slice(1'000);
  CHECK(busy.had - before == 500);
  CHECK(late.had == 500);
}

TEST_CASE("a step that is gone is not asked, though it had announced work") {
  Work work;
  auto gone = std::make_unique<TimedStep>(work);
  gone->Begin(kEndless, 10);
  gone.reset();
  CHECK_FALSE(work.waits());
  TimedStep step(work);
  step.Begin(1, 10);
  work.Slice(100);
  CHECK(step.calls == 1);
}

// However steps come and go: while two of them wait, neither gets ahead of the other by more than a budget of each
// takes, and a slice ends in time.
TEST_CASE("no step starves, whatever the others do") {
  constexpr uint64_t kLongest = 300;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](uint64_t n) { return random() % n; };
    Work work;
    std::vector<std::unique_ptr<TimedStep>> steps;
    for (uint64_t i = 0; i < 2 + below(6); ++i) steps.push_back(std::make_unique<TimedStep>(work));
    TimedStep& patient = *steps.front();
    patient.Begin(kEndless, 1 + below(kLongest));
    std::vector<uint64_t> had_at_start(steps.size(), 0);
    std::vector<uint64_t> patient_at_start(steps.size(), 0);
    for (int slice = 0; slice < 300; ++slice) {
      for (size_t i = 1; i < steps.size(); ++i) {
        if (steps[i]->waits() || below(3) != 0) continue;
        steps[i]->Begin(below(2) == 0 ? 1 + below(5) : 1 + below(2'000), 1 + below(kLongest));
        had_at_start[i] = steps[i]->had;
        patient_at_start[i] = patient.had;
      }
      const uint64_t length = 1 + below(1'000);
      const uint64_t began = cycles;
      work.Slice(length);
      REQUIRE(cycles - began < length + kLongest);
      for (size_t i = 1; i < steps.size(); ++i) {
        if (!steps[i]->waits()) continue;
        const uint64_t its = steps[i]->had - had_at_start[i];
        const uint64_t patients = patient.had - patient_at_start[i];
        INFO("seed " << seed << ", step " << i);
        REQUIRE(its <= patients + 2 * kLongest);
        REQUIRE(patients <= its + 2 * kLongest);
      }
    }
  }
}

}  // namespace

// Instead of the processor's (base/time/tsc.h).
uint64_t ReadCycles() noexcept { return cycles; }

}  // namespace mayfly
