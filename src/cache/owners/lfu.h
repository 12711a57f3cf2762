// Redis's LFU counter: 8 bits, logarithmic in the number of hits, minus one for every few minutes without a hit. The counter
// is stored in the entry's stamp (cache/entry/entry.h):
//
//   bit 27   bits 26-24   bits 23-8            bits 7-0
//     1          0        minute of last hit   counter     an entry that was hit under an LFU policy
//     0      <------ time of last access ------------>     any other entry
//
// Bit 27 is Entry::kCountedStamp. A stamp without this bit counts as kLfuCountStart, the counter of a new key. So every
// stamp is valid under every policy. After a change from LRU to LFU all keys start alike, less the decay for their idle
// time. After a change from LFU to LRU the minute of the last hit gives the age. Minutes wrap after 45 days, as in Redis.
// Pure functions.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <random>

#include "cache/entry/entry.h"

namespace mayfly {

struct LfuRules {
  int64_t log_factor = 10;            // the higher the factor, the more hits raise a high counter by one
  int64_t decay_minutes = 1;          // minutes without a hit that cost one count; 0: no decay
  std::mt19937_64* random = nullptr;  // decides at random whether a hit raises the counter; borrowed
};

inline constexpr uint32_t kLfuCountMax = 255;
// The counter of a new key. With 0 the key would be the next victim before its second access.
inline constexpr uint32_t kLfuCountStart = 5;

// The counter at `now_mono_ms`, after decay.
inline uint32_t LfuCount(uint32_t stamp, uint64_t now_mono_ms, const LfuRules& rules) noexcept {
  const uint32_t count = (stamp & Entry::kCountedStamp) != 0 ? stamp & kLfuCountMax : kLfuCountStart;
  if (rules.decay_minutes == 0) return count;
  const uint64_t lost =
      Entry::IdleMs(stamp, now_mono_ms) / (Entry::kMinuteMs * static_cast<uint64_t>(rules.decay_minutes));
  return count - static_cast<uint32_t>(std::min<uint64_t>(lost, count));
}

// The stamp after one more hit.
// REQUIRES: rules.random is not null.
inline uint32_t LfuHit(uint32_t stamp, uint64_t now_mono_ms, const LfuRules& rules) noexcept {
  assert(rules.random != nullptr);
  uint32_t count = LfuCount(stamp, now_mono_ms, rules);
  if (count < kLfuCountMax) {
    const uint64_t above = count > kLfuCountStart ? count - kLfuCountStart : 0;
    const uint64_t one_in = above * static_cast<uint64_t>(rules.log_factor) + 1;
    if (one_in == 1 || (*rules.random)() <= UINT64_MAX / one_in) ++count;
  }
  return Entry::CountedStamp(count, now_mono_ms);
}

}  // namespace mayfly
