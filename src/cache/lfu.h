// How often an entry is used, by Redis's counter: 8 bits that grow with the logarithm of the hits and lose
// one for every few minutes in which there was none.
//
// It lies in the entry's stamp (cache/entry.h):
//
//   bit  27 | 26..24 | 23..........8 | 7..0
//       | 1 |   0    | minute of use | count |       Entry::kCountedStamp: a hit under an LFU policy was
//       counted | 0 |        time of use             |       any other entry
//
// A time stands for the count that new keys start with. So every stamp is valid under every policy: from LRU
// to LFU all keys start alike, less what they have idled; from LFU to LRU the minute of use is an age.
// Minutes wrap after 45 days, as Redis's do. Pure functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "cache/entry.h"

namespace mayfly {

struct LfuRules {
  int64_t log_factor = 10;            // the higher, the more hits a high count takes
  int64_t decay_minutes = 1;          // without a hit, until the count loses one; 0: never
  std::mt19937_64* random = nullptr;  // draws whether a hit counts; borrowed
};

inline constexpr uint32_t kLfuCountMax = 255;
// What a new key has, or it would be the victim before it was asked for a second time.
inline constexpr uint32_t kLfuCountStart = 5;

// The count by now.
inline uint32_t LfuCount(uint32_t stamp, uint64_t now_mono_ms, const LfuRules& rules) noexcept {
  const uint32_t count = (stamp & Entry::kCountedStamp) != 0 ? stamp & kLfuCountMax : kLfuCountStart;
  if (rules.decay_minutes == 0) return count;
  const uint64_t lost =
      Entry::IdleMs(stamp, now_mono_ms) / (Entry::kMinuteMs * static_cast<uint64_t>(rules.decay_minutes));
  return count - static_cast<uint32_t>(std::min<uint64_t>(lost, count));
}

// The stamp after one hit more. REQUIRES: rules.random is not null.
inline uint32_t LfuHit(uint32_t stamp, uint64_t now_mono_ms, const LfuRules& rules) noexcept {
  uint32_t count = LfuCount(stamp, now_mono_ms, rules);
  if (count < kLfuCountMax) {
    const uint64_t above = count > kLfuCountStart ? count - kLfuCountStart : 0;
    const uint64_t one_in = above * static_cast<uint64_t>(rules.log_factor) + 1;
    if (one_in == 1 || (*rules.random)() <= UINT64_MAX / one_in) ++count;
  }
  return Entry::CountedStamp(count, now_mono_ms);
}

}  // namespace mayfly
