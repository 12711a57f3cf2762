#include "server/sliced_work.h"

#include <algorithm>
#include <cassert>

#include "base/time/tsc.h"

namespace mayfly {

SlicedWork::Step::Step(SlicedWork& work) : work_(work) { work_.steps_.push_back(this); }

SlicedWork::Step::~Step() {
  if (waits_) --work_.waiting_;
  std::erase(work_.steps_, this);
}

void SlicedWork::Step::Announce() noexcept {
  if (waits_) return;
  waits_ = true;
  ++work_.waiting_;
  had_cycles_ = std::max(had_cycles_, work_.level_cycles_);
}

SlicedWork::Step& SlicedWork::LeastServed() const noexcept {
  Step* least = nullptr;
  for (Step* step : steps_) {
    if (step->waits_ && (least == nullptr || step->had_cycles_ < least->had_cycles_)) least = step;
  }
  assert(least != nullptr);
  return *least;
}

void SlicedWork::RunSlice(Now now, uint64_t began, uint64_t slice_cycles, size_t budget) noexcept {
  for (uint64_t before = began; waits();) {
    Step& step = LeastServed();
    level_cycles_ = step.had_cycles_;
    if (!step.DoSome(now, budget)) {
      step.waits_ = false;
      --waiting_;
    }
    const uint64_t after = ReadCycles();
    const uint64_t took = std::max(after, before) - before;  // processors' counters may differ a little
    step.had_cycles_ += took;
    step.spent_cycles_ += took;
    before = after;
    if (after - began >= slice_cycles) return;
  }
}

}  // namespace mayfly
