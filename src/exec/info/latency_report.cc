#include "exec/info/latency_report.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "base/time/clock.h"

namespace mayfly {
namespace {

// The figures of the samples of an event, in ms.
struct Figures {
  uint64_t mean = 0;
  uint64_t deviation = 0;      // mean distance from the mean
  double seconds_apart = 0.0;  // mean time between two samples
};

Figures FiguresOf(const std::vector<LatencySample>& samples, int64_t now_wall_s) {
  Figures figures;
  for (const LatencySample& sample : samples) figures.mean += sample.ms;
  figures.mean /= samples.size();
  for (const LatencySample& sample : samples)
    figures.deviation += std::max(sample.ms, figures.mean) - std::min(sample.ms, figures.mean);
  figures.deviation /= samples.size();
  const int64_t period = std::max<int64_t>(now_wall_s - samples.front().wall_s, 1);
  figures.seconds_apart = static_cast<double>(period) / static_cast<double>(samples.size());
  return figures;
}

void AppendLine(std::string& text, const std::string& name, const LatencyEvent& event, int64_t now_wall_s) {
  const Figures figures = FiguresOf(event.samples(), now_wall_s);
  char apart[32];
  std::snprintf(apart, sizeof apart, "%.2f", figures.seconds_apart);
  text.append(" * ").append(name).append(": ").append(std::to_string(event.samples().size()));
  text.append(event.samples().size() == 1 ? " sample" : " samples").append(", one every ").append(apart);
  text.append(" s; mean ").append(std::to_string(figures.mean)).append(" ms, mean deviation ");
  text.append(std::to_string(figures.deviation)).append(" ms, longest ever ");
  text.append(std::to_string(event.max_ms())).append(" ms\n");
}

std::string SlowLogAdvice(const config::Settings& settings, uint64_t threshold_ms) {
  const std::string wanted = std::to_string(std::min(threshold_ms, UINT64_MAX / kUsPerMs) * kUsPerMs);
  if (settings.slowlog_log_slower_than_us < 0)
    return " * The slow log is off, so nobody knows which commands were slow. CONFIG SET "
           "slowlog-log-slower-than " +
           wanted + " turns it on.\n";
  if (static_cast<uint64_t>(settings.slowlog_log_slower_than_us) / kUsPerMs > threshold_ms)
    return " * The slow log leaves out some of these calls. CONFIG SET slowlog-log-slower-than " + wanted +
           " makes it keep all of them.\n";
  return " * SLOWLOG GET shows which calls were slow.\n";
}

std::string AdviceOn(std::string_view event, const config::Settings& settings, uint64_t threshold_ms) {
  if (event == LatencyMonitor::kCommand || event == LatencyMonitor::kUnblocking)
    return SlowLogAdvice(settings, threshold_ms);
  if (event == LatencyMonitor::kFastCommand)
    return " * Commands that take microseconds took milliseconds: the system did not let the server run, or "
           "its "
           "memory was swapped out. Look for other load on this machine or on its host; redis-cli "
           "--intrinsic-latency 100 measures it.\n";
  if (event == LatencyMonitor::kExpiry)
    return " * Keys that are due together take long to free. A smaller expire-slice-us serves clients in "
           "between "
           "more often.\n";
  if (event == LatencyMonitor::kEviction)
    return " * Many keys were evicted at once: maxmemory was lowered, or a large value came. Lower maxmemory "
           "in "
           "small steps.\n";
  return {};
}

}  // namespace

std::string LatencyReport(const LatencyMonitor& monitor, const config::Settings& settings,
                          int64_t now_wall_s) {
  if (monitor.events().empty() && monitor.threshold_ms() == 0)
    return "Nothing is watched. CONFIG SET latency-monitor-threshold <milliseconds> makes everything a "
           "sample that "
           "holds the server up for so long.\n";
  if (monitor.events().empty()) return "Nothing has held the server up for as long as the threshold.\n";
  std::string text = "What held the server up:\n";
  std::string advice;
  for (const auto& [name, event] : monitor.events()) {
    AppendLine(text, name, event, now_wall_s);
    const std::string more = AdviceOn(name, settings, monitor.threshold_ms());
    if (advice.find(more) == std::string::npos) advice += more;
  }
  if (!advice.empty()) text += "What helps:\n" + advice;
  return text;
}

}  // namespace mayfly
