// The timeouts of a connection on the wheel of clients: idle, closing, or too much unread output. Too much means above
// the soft limit for too long. The same wheel type as for keys; ms, monotonic.
#pragma once

#include <cstdint>

#include "base/prefetch.h"
#include "cache/time/timing_wheel.h"

namespace mayfly::net {

struct TimedClient {
  TimedClient* wheel_next = nullptr;
  TimedClient* wheel_prev = nullptr;
  uint64_t deadline_mono_ms = 0;
  wheel::ListId filed = wheel::kUnfiled;
};

struct TimedClientHooks {
  using Ref = TimedClient*;
  static constexpr Ref kNull = nullptr;
  Ref Next(Ref ref) const noexcept { return ref->wheel_next; }
  Ref Prev(Ref ref) const noexcept { return ref->wheel_prev; }
  void SetNext(Ref ref, Ref next) const noexcept { ref->wheel_next = next; }
  void SetPrev(Ref ref, Ref prev) const noexcept { ref->wheel_prev = prev; }
  uint64_t Deadline(Ref ref) const noexcept { return ref->deadline_mono_ms; }
  wheel::ListId Slot(Ref ref) const noexcept { return ref->filed; }
  void SetSlot(Ref ref, wheel::ListId slot) const noexcept { ref->filed = slot; }
  void Prefetch(Ref ref) const noexcept { PrefetchToRead(ref); }
};

using ClientWheel = TimingWheel<TimedClientHooks>;

}  // namespace mayfly::net
