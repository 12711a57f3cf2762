// LATENCY DOCTOR: a report in words about slow events.
#pragma once

#include <cstdint>
#include <string>

#include "config/settings.h"
#include "server/figures/latency_monitor.h"

namespace mayfly {

// Throws std::bad_alloc.
std::string LatencyReport(const LatencyMonitor& monitor, const config::Settings& settings,
                          int64_t now_wall_s);

}  // namespace mayfly
