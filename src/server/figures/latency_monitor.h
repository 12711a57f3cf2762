// Samples of slow events, by event, for LATENCY.
//
// An event is a kind of work: "command", "expire-cycle" ... Work of at least the threshold's time is a sample. Of one second
// only the longest sample is kept, and of one event the last kSamplesMax seconds with a sample. Units: ms of duration, s of
// wall-clock time. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly {

struct LatencySample {
  int64_t wall_s = 0;
  uint64_t ms = 0;

  bool operator==(const LatencySample&) const = default;
};

class LatencyEvent {
 public:
  static constexpr size_t kSamplesMax = 160;

  // Throws std::bad_alloc without a change.
  void Add(LatencySample sample);
  // Not empty; the oldest first.
  const std::vector<LatencySample>& samples() const noexcept { return samples_; }
  // The longest sample ever, also if no longer kept.
  uint64_t max_ms() const noexcept { return max_ms_; }

 private:
  std::vector<LatencySample> samples_;
  uint64_t max_ms_ = 0;
};

class LatencyMonitor {
 public:
  // By name.
  using Events = std::map<std::string, LatencyEvent, std::less<>>;

  // Redis's names for kinds of work.
  static constexpr std::string_view kCommand = "command";
  static constexpr std::string_view kFastCommand = "fast-command";  // O(1) or O(log n)
  static constexpr std::string_view kUnblocking = "command-unblocking";
  static constexpr std::string_view kExpiry = "expire-cycle";
  static constexpr std::string_view kEviction = "eviction-cycle";
  // Kinds of work that Redis leaves to another process, or does while nobody is served.
  static constexpr std::string_view kSave = "save-cycle";
  static constexpr std::string_view kLoad = "load-cycle";

  // 0: nothing is a sample.
  uint64_t threshold_ms() const noexcept { return threshold_ms_; }
  void set_threshold_ms(uint64_t ms) noexcept { threshold_ms_ = ms; }

  // `event` took `ms`. Without memory the sample is lost.
  void Note(std::string_view event, uint64_t ms, int64_t wall_s) noexcept {
    if (threshold_ms_ != 0 && ms >= threshold_ms_) [[unlikely]]
      Add(event, {wall_s, ms});
  }

  const Events& events() const noexcept { return events_; }
  // Forgets an event, by its name in any case. Returns the number of forgotten events.
  size_t Forget(std::string_view event) noexcept;
  size_t ForgetAll() noexcept;

 private:
  void Add(std::string_view event, LatencySample sample) noexcept;

  uint64_t threshold_ms_ = 0;
  Events events_;
};

}  // namespace mayfly
