// The hooks of a timing wheel for structs that pointers name: clients, leases, waiting requests.
//
// Such a struct has the members wheel_next, wheel_prev and filed, and a deadline in monotonic ms. Owns nothing.
#pragma once

#include <cstdint>

#include "base/prefetch.h"
#include "cache/time/timing_wheel.h"

namespace mayfly {

template <typename T, uint64_t T::* kDeadline>
struct PointerWheelHooks {
  using Ref = T*;
  static constexpr Ref kNull = nullptr;
  Ref Next(Ref ref) const noexcept { return ref->wheel_next; }
  Ref Prev(Ref ref) const noexcept { return ref->wheel_prev; }
  void SetNext(Ref ref, Ref next) const noexcept { ref->wheel_next = next; }
  void SetPrev(Ref ref, Ref prev) const noexcept { ref->wheel_prev = prev; }
  uint64_t Deadline(Ref ref) const noexcept { return ref->*kDeadline; }
  wheel::Place Slot(Ref ref) const noexcept { return ref->filed; }
  void SetSlot(Ref ref, wheel::Place slot) const noexcept { ref->filed = slot; }
  void Prefetch(Ref ref) const noexcept { PrefetchToRead(ref); }
};

}  // namespace mayfly
