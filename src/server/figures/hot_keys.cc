#include "server/figures/hot_keys.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/time/clock.h"

namespace mayfly {
namespace {

// The least length of a period for rates: the first requests after a start must not look like a burst.
constexpr uint64_t kLeastMs = 1'000;
constexpr uint64_t kCountBits = 32;

}  // namespace

HotKeys::HotKeys(uint64_t now_mono_ms)
    : period_began_mono_ms_(now_mono_ms),
      keys_(std::make_unique_for_overwrite<char[]>(kCounters * kLongestKey)) {}

char* HotKeys::KeyOf(const Counter& counter) const noexcept {
  return keys_.get() + static_cast<size_t>(&counter - counters_.data()) * kLongestKey;
}

uint64_t HotKeys::Draw(uint64_t end) noexcept {
  constexpr unsigned kDrawnBits = 31;
  random_ = random_ * 6364136223846793005 + 1442695040888963407;  // Knuth's; its upper bits are good
  return ((random_ >> (64 - kDrawnBits)) * end) >> kDrawnBits;
}

size_t HotKeys::DrawGap() noexcept {
  if (++samples_ > kPlenty && gap_ < kGapMax) {
    gap_ *= 2;
    samples_ /= 2;
  }
  weight_ = gap_;
  return static_cast<size_t>(1 + Draw(2 * uint64_t{gap_} - 1));
}

HotKeys::Counter* HotKeys::Find(uint8_t database, uint64_t hash, uint64_t now_mono_ms) noexcept {
  FollowTime(now_mono_ms);
  total_ += weight_;
  Counter* const begin = &counters_[hash % kSets * kWays];
  Counter* least = begin;
  for (Counter* counter = begin; counter != begin + kWays; ++counter) {
    if (counter->hash == hash && counter->database == database && counter->requests != 0) {
      counter->requests += weight_;
      return nullptr;
    }
    if (counter->requests < least->requests) least = counter;
  }
  return Draw(uint64_t{least->requests} + weight_) < weight_ ? least : nullptr;
}

void HotKeys::Take(Counter& counter, uint8_t database, uint64_t hash, std::string_view key) noexcept {
  if (key.size() > kLongestKey) return;
  counter = {.hash = hash,
             .requests = counter.requests + weight_,
             .database = database,
             .key_size = static_cast<uint8_t>(key.size())};
  if (!key.empty()) std::memcpy(KeyOf(counter), key.data(), key.size());
}

void HotKeys::FollowTime(uint64_t now_mono_ms) noexcept {
  const uint64_t periods = (now_mono_ms - period_began_mono_ms_) / kPeriodMs;
  if (periods == 0) [[likely]]
    return;
  period_began_mono_ms_ += periods * kPeriodMs;
  HalveCounts(std::min(periods, kCountBits));
  for (; gap_ > 1 && samples_ < kPlenty / 2; gap_ /= 2) samples_ *= 2;
  samples_ = 0;
}

void HotKeys::HalveCounts(uint64_t times) noexcept {
  for (uint64_t i = 0; i < times; ++i) {
    carried_ms_ = (carried_ms_ + kPeriodMs) / 2;
    total_ /= 2;
    for (Counter& counter : counters_) counter.requests /= 2;
  }
}

std::vector<HotKeys::Hot> HotKeys::Hottest(size_t most, uint64_t now_mono_ms) {
  FollowTime(now_mono_ms);
  const uint64_t window_ms = std::max(carried_ms_ + (now_mono_ms - period_began_mono_ms_), kLeastMs);
  std::vector<Hot> hot;
  for (const Counter& counter : counters_) {
    if (counter.requests == 0 || counter.requests * kCounters < total_) continue;
    hot.push_back({.database = counter.database,
                   .key = {KeyOf(counter), counter.key_size},
                   .per_second = static_cast<double>(counter.requests) * kMsPerSecond /
                                 static_cast<double>(window_ms)});
  }
  std::sort(hot.begin(), hot.end(), [](const Hot& a, const Hot& b) {
    return std::tie(b.per_second, a.database, a.key) < std::tie(a.per_second, b.database, b.key);
  });
  if (hot.size() > most) hot.resize(most);
  return hot;
}

void HotKeys::Reset(uint64_t now_mono_ms) noexcept {
  counters_.fill({});
  total_ = 0;
  carried_ms_ = 0;
  period_began_mono_ms_ = now_mono_ms;
}

}  // namespace mayfly
