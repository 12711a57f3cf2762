// The keys written to the stream in this turn, as far as a small table remembers: a cheap check before the lookup in
// TurnChanges.
//
// The table identifies a key by the ends of the name. A lookup may find a key that was never added, and may miss an added
// key: the caller must be right in both cases. The answers depend on the names alone: equal turns make equal streams.
//
// Loop thread only.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/text/short_bytes.h"

namespace mayfly {

class RecentNames {
 public:
  static constexpr size_t kPlaces = 512;

  // Returns false if the table has the name already.
  [[gnu::always_inline]] bool Add(std::string_view name) noexcept {
    const uint64_t mixed = Mix(name);
    uint64_t& place = places_[mixed >> (64 - std::bit_width(kPlaces - 1))];
    const uint64_t tag = mixed + round_;
    if (place == tag) return false;
    place = tag;
    return true;
  }
  void Clear() noexcept { round_ += kOdd; }

 private:
  // Factors that spread the low bits: 2^64 / golden ratio, and a prime number of xxHash.
  static constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
  static constexpr uint64_t kOtherOdd = 0xC2B2AE3D27D4EB4F;

  [[gnu::always_inline]] static uint64_t Mix(std::string_view name) noexcept {
    uint64_t first = 0;
    uint64_t last = 0;
    if (name.size() >= sizeof first) [[likely]] {
      first = internal::LoadWord<uint64_t>(name.data());
      last = internal::LoadWord<uint64_t>(name.data() + name.size() - sizeof last);
    } else {
      for (const char c : name) last = last << 8 | static_cast<unsigned char>(c);
    }
    return (last + name.size()) * kOdd + first * kOtherOdd;
  }

  // The sum of a name's hash and the round in which the name was added.
  std::array<uint64_t, kPlaces> places_{};
  uint64_t round_ = 1;
};

}  // namespace mayfly
