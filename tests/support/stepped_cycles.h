// The cycle counter in the hands of a test (base/time/tsc.h): how long calls take, it decides.
//
// While an object of this class exists, the counter stands still but for what the test says. At other times it is the
// processor's. At most one exists at a time.
#pragma once

#include <cstdint>

#include "cache/changes/change.h"

namespace mayfly::testing {

class SteppedCycles {
 public:
  SteppedCycles();
  SteppedCycles(const SteppedCycles&) = delete;
  SteppedCycles& operator=(const SteppedCycles&) = delete;
  ~SteppedCycles();

  // REQUIRES: there is one.
  static void Advance(uint64_t cycles) noexcept;
  // From now on each look at the counter is that much later than the last: for work that nothing but looks can be seen of.
  static void AdvanceEachLook(uint64_t cycles) noexcept;
};

// Lets calls take time: as often as something changes, it takes so long. Works while it listens to a ChangeHub.
class SlowChanges final : public ChangeListener {
 public:
  void set_each(uint64_t cycles) noexcept { each_ = cycles; }
  void OnChange(const Change&) override { SteppedCycles::Advance(each_); }

 private:
  SteppedCycles cycles_;
  uint64_t each_ = 0;
};

}  // namespace mayfly::testing
