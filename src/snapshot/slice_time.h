// Notes how long one slice of a save or a load has taken, for LATENCY.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/time/clock.h"
#include "base/time/tsc.h"
#include "server/figures/latency_monitor.h"
#include "server/server.h"

namespace mayfly {

// `began`: ReadCycles at the slice's begin.
inline void NoteSlice(Server& server, std::string_view event, uint64_t began, Now now) noexcept {
  const uint64_t ms = server.cycle_rate.ToUs(ReadCycles() - began) / static_cast<uint64_t>(kUsPerMs);
  server.latency_monitor.Note(event, ms, now.wall_ms / kMsPerSecond);
}

}  // namespace mayfly
