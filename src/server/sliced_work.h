// Work in slices, with service for clients in between: expiry, eviction, freeing of flushed keys.
//
//   Announce --> a step waits --> RunSlice: DoSome(budget), a look at the time, DoSome(budget), a look ...
//                     ^                                                                       |
//                     +-------------- more is left, the slice is over: next turn -------------+
//
// The waiting steps share one slice of time for each turn of the loop. The step with the least time so far goes next, a
// budget at a time (start-time fair queueing). Each step thus gets the same time however long a budget takes, a finished
// step leaves the rest of the slice to the others, and the order rotates by itself. A step that begins to wait starts level
// with the others: unused time from before gives no credit.
//
// Invariant: of two waiting steps, neither is ahead of the other by more time than one DoSome takes.
//
// A step is registered as long as the object exists; the SlicedWork must outlive the step. A turn without sliced work costs
// a test of one word. Loop thread only. Units: TSC cycles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time/clock.h"

namespace mayfly {

class SlicedWork {
 public:
  // One kind of work. Derive from Step, and call Announce when there is work.
  class Step {
   public:
    // Throws std::bad_alloc.
    explicit Step(SlicedWork& work);
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    virtual ~Step();

    // There is work: this turn's slice or the next turn's calls DoSome, until DoSome returns false.
    void Announce() noexcept;
    bool waits() const noexcept { return waits_; }
    // The step's time in all slices.
    uint64_t spent_cycles() const noexcept { return spent_cycles_; }

   private:
    friend class SlicedWork;
    // Works on about `budget` entries; `now` is the turn's. Returns true if more is left.
    virtual bool DoSome(Now now, size_t budget) noexcept = 0;

    SlicedWork& work_;
    uint64_t spent_cycles_ = 0;
    uint64_t had_cycles_ = 0;  // comparable among waiting steps
    bool waits_ = false;
  };

  SlicedWork() = default;
  SlicedWork(const SlicedWork&) = delete;
  SlicedWork& operator=(const SlicedWork&) = delete;

  bool waits() const noexcept { return waiting_ != 0; }
  // Works until nothing is left, or until `slice_cycles` have passed since `began` (ReadCycles). Looks at the time
  // after every `budget` entries. At least one step works.
  void RunSlice(Now now, uint64_t began, uint64_t slice_cycles, size_t budget) noexcept;

 private:
  Step& LeastServed() const noexcept;

  std::vector<Step*> steps_;
  size_t waiting_ = 0;
  uint64_t level_cycles_ = 0;  // had_cycles_ of the step that went last, before its last DoSome
};

}  // namespace mayfly
