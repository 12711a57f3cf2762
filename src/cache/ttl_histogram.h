// A histogram of keys and their bytes by remaining TTL.
//
// Why the histogram walks through the keys, instead of counting whenever a deadline changes. The ranges move with time, so
// counters would have to stand for fixed moments: fine enough for the nearest range, and for the whole length of the
// farthest. A SET EX on a key with a TTL would take the key's bytes from one counter and add them to another: by estimate 30
// instructions and two more cache lines, where most changes of a deadline only read the entry (TimingWheel::Move). And as a
// counter's time came nearer, the counter would have to be split into finer counters. The split needs the counter's keys:
// the lists of the wheel have these keys, but also keys whose deadline has moved since. A walk costs nothing until a client
// asks, and is exact for every key of the walk.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cache/keyspace/keyspace.h"
#include "cache/time/lifetime.h"

namespace mayfly {

class TtlHistogram {
 public:
  struct Range {
    std::string_view name;
    uint64_t below_ms;  // and not below the range before
  };
  static constexpr uint64_t kSecondMs = 1000;
  static constexpr uint64_t kMinuteMs = 60 * kSecondMs;
  static constexpr uint64_t kHourMs = 60 * kMinuteMs;
  static constexpr uint64_t kDayMs = 24 * kHourMs;
  static constexpr Range kRanges[] = {
      {"under_1s", kSecondMs},       {"1s_to_10s", 10 * kSecondMs}, {"10s_to_1m", kMinuteMs},
      {"1m_to_10m", 10 * kMinuteMs}, {"10m_to_1h", kHourMs},        {"1h_to_6h", 6 * kHourMs},
      {"6h_to_1d", kDayMs},          {"1d_to_7d", 7 * kDayMs},      {"from_7d", UINT64_MAX},
  };
  static constexpr size_t kExpiring = std::size(kRanges);

  struct Sum {
    uint64_t keys = 0;
    uint64_t bytes = 0;  // EntryMemory::Of
  };

  // REQUIRES: the entry has not expired.
  void Count(const Entry& entry, Now now) noexcept {
    Sum& sum = entry.expires() ? in_[RangeOf(static_cast<uint64_t>(ShownTtlMs(entry, now)))] : lasting_;
    ++sum.keys;
    sum.bytes += EntryMemory::Of(entry);
  }
  static constexpr size_t RangeOf(uint64_t ttl_ms) noexcept {
    size_t range = 0;
    while (range + 1 < kExpiring && ttl_ms >= kRanges[range].below_ms) ++range;
    return range;
  }

  // The keys with a TTL in this range.
  // REQUIRES: range < kExpiring.
  const Sum& In(size_t range) const noexcept { return in_[range]; }
  // The keys without a TTL, including keys of which only members have a TTL.
  const Sum& lasting() const noexcept { return lasting_; }

 private:
  std::array<Sum, kExpiring> in_{};
  Sum lasting_;
};

}  // namespace mayfly
