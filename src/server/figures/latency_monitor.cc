#include "server/figures/latency_monitor.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/text/ascii.h"

namespace mayfly {

void LatencyEvent::Add(LatencySample sample) {
  if (!samples_.empty() && samples_.back().wall_s == sample.wall_s) {
    samples_.back().ms = std::max(samples_.back().ms, sample.ms);
  } else {
    if (samples_.size() == kSamplesMax) samples_.erase(samples_.begin());
    samples_.push_back(sample);
  }
  max_ms_ = std::max(max_ms_, sample.ms);
}

void LatencyMonitor::Add(std::string_view event, LatencySample sample) noexcept {
  try {
    auto found = events_.find(event);
    if (found == events_.end()) {
      LatencyEvent first;
      first.Add(sample);
      events_.emplace(event, std::move(first));
    } else {
      found->second.Add(sample);
    }
  } catch (const std::bad_alloc&) {  // as the header says
  }
}

size_t LatencyMonitor::Forget(std::string_view event) noexcept {
  return std::erase_if(events_, [event](const auto& entry) { return SameIgnoringCase(entry.first, event); });
}

size_t LatencyMonitor::ForgetAll() noexcept {
  const size_t count = events_.size();
  events_.clear();
  return count;
}

}  // namespace mayfly
