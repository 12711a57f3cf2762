// LATENCY GRAPH: the samples of one event, as columns of characters by age.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/figures/latency_monitor.h"

namespace mayfly {

// Throws std::bad_alloc.
std::string LatencyGraph(std::string_view name, const LatencyEvent& event, int64_t now_wall_s);

}  // namespace mayfly
