// The timeouts of a connection on the wheel of clients: idle, closing, or too much unread output. Too much means above
// the soft limit for too long. The same wheel type as for keys; ms, monotonic.
#pragma once

#include <cstdint>

#include "cache/time/pointer_wheel_hooks.h"
#include "cache/time/timing_wheel.h"

namespace mayfly::net {

struct TimedClient {
  TimedClient* wheel_next = nullptr;
  TimedClient* wheel_prev = nullptr;
  uint64_t deadline_mono_ms = 0;
  wheel::ListId filed = wheel::kUnfiled;
};

using TimedClientHooks = PointerWheelHooks<TimedClient, &TimedClient::deadline_mono_ms>;

using ClientWheel = TimingWheel<TimedClientHooks>;

}  // namespace mayfly::net
