// The keys named most often by current requests, for HOTKEYS. An estimate in bounded memory, from a sample.
//
//   requests   . . . . x . x . . . . . . x . . x .     x: counted, with a weight of all requests between two samples
//
// A busy server counts one request in kGapMax, at a random distance from the last sample, because a fixed distance could
// meet a rhythm of the requests. An idle server counts more requests: enough for kPlenty in a period, or all. The caller
// passes a batch at once and subtracts its size from the distance; a GET has no further cost.
//
// A key has its place in one set of kWays counters, by its hash. A key without a counter takes over the smallest counter of
// its set, but only with the chance of its own weight in that counter's count: thus the many keys named once do not push out
// the few keys named often, and a count is right on average (Ben Basat et al., "Randomized Admission Policy for Efficient
// Top-k and Frequency Estimation", 2017). At the end of each period all counts are halved, so old counts fade.
//
// A key is hot if it gets one request in kCounters or more; below that, counts are mostly noise. Absent keys count,
// too. Longer keys than kLongestKey do not. Allocates nothing but in its constructor and for answers. Loop thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/databases_max.h"

namespace mayfly {

class HotKeys {
 public:
  static constexpr size_t kSets = 32;
  static constexpr size_t kWays = 8;
  static constexpr size_t kCounters = kSets * kWays;
  static constexpr size_t kLongestKey = 255;
  static constexpr uint32_t kGapMax = 512;
  static constexpr uint32_t kPlenty = 1024;
  static constexpr uint64_t kPeriodMs = 10'000;

  struct Hot {
    unsigned database;
    std::string_view key;  // valid until the next Count
    double per_second;     // of the last one to two periods, with more weight for newer requests
  };

  // Throws std::bad_alloc.
  explicit HotKeys(uint64_t now_mono_ms);

  // Passes `requests` requests. Calls choose(i) for each request to be counted; i counts from 0.
  template <typename Choose>
  void Pass(size_t requests, Choose&& choose) {
    if (until_next_ >= requests) [[likely]] {
      until_next_ -= requests;
      return;
    }
    size_t at = until_next_;
    for (; at < requests; at += DrawGap()) choose(at);
    until_next_ = at - requests;
  }
  // Counts a request chosen by Pass. `text()` returns the key; Count calls it only if the key gets a counter.
  template <typename Text>
  void Count(unsigned database, uint64_t hash, uint64_t now_mono_ms, Text&& text) {
    if (Counter* const counter = Find(static_cast<uint8_t>(database), hash, now_mono_ms)) [[unlikely]]
      Take(*counter, static_cast<uint8_t>(database), hash, text());
  }

  // At most `most` keys, the hottest first. Throws std::bad_alloc.
  std::vector<Hot> Hottest(size_t most, uint64_t now_mono_ms);
  // Begins anew.
  void Reset(uint64_t now_mono_ms) noexcept;

 private:
  struct Counter {
    uint64_t hash;
    uint32_t requests;  // 0: a free counter
    uint8_t database;
    uint8_t key_size;
  };
  static_assert(kDatabasesMax <= 256 && kLongestKey <= 255);

  // Adds the weight to the key's counter and returns null. A key without a counter: returns the counter to take over, or
  // null.
  Counter* Find(uint8_t database, uint64_t hash, uint64_t now_mono_ms) noexcept;
  void Take(Counter& counter, uint8_t database, uint64_t hash, std::string_view key) noexcept;
  // Ends the periods that are over.
  void FollowTime(uint64_t now_mono_ms) noexcept;
  void HalveCounts(uint64_t times) noexcept;
  // The distance to the next request that is counted.
  size_t DrawGap() noexcept;
  // A random number below `end`.
  uint64_t Draw(uint64_t end) noexcept;
  char* KeyOf(const Counter& counter) const noexcept;

  size_t until_next_ = 0;  // requests to pass before the next sample
  uint32_t gap_ = 1;       // from one sample to the next, on average
  uint32_t weight_ = 1;    // gap_ when the next sample was drawn
  uint32_t samples_ = 0;   // in this period
  uint64_t random_ = 0;
  uint64_t total_ = 0;  // weights of all keys
  uint64_t period_began_mono_ms_;
  uint64_t carried_ms_ = 0;  // of earlier periods, halved like the counts
  std::array<Counter, kCounters> counters_{};
  std::unique_ptr<char[]> keys_;  // kLongestKey bytes for each
};

}  // namespace mayfly
