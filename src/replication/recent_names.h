// The keys of which a stream has told in this turn, as far as a small table remembers: a cheap first look, before that into
// TurnChanges.
//
// It knows a key by the ends of its name. So it may say that it knows a key that it does not know, and forget one: whoever asks
// must be right in both cases. What it says depends on nothing but the names, so equal turns make equal streams.
//
// Loop thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/text/short_bytes.h"

namespace mayfly {

class RecentNames {
 public:
  static constexpr size_t kPlaces = 512;

  // False: the name is there already.
  bool Add(std::string_view name) noexcept {
    const uint64_t tag = TagOf(name);
    Place& place = places_[tag % kPlaces];
    if (place.tag == tag && place.round == round_) return false;
    place = {.tag = tag, .round = round_};
    return true;
  }
  void Clear() noexcept { ++round_; }

 private:
  struct Place {
    uint64_t tag = 0;
    uint64_t round = 0;
  };
  static uint64_t TagOf(std::string_view name) noexcept {
    constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio: spreads what is in the low bits
    uint64_t first = 0;
    uint64_t last = 0;
    if (name.size() >= sizeof first) {
      first = internal::LoadWord<uint64_t>(name.data());
      last = internal::LoadWord<uint64_t>(name.data() + name.size() - sizeof last);
    } else {
      for (const char c : name) last = last << 8 | static_cast<unsigned char>(c);
    }
    const uint64_t mixed = (last ^ name.size()) * kOdd ^ first;
    return (mixed ^ mixed >> 32) * kOdd >> 20;
  }

  std::array<Place, kPlaces> places_{};
  uint64_t round_ = 1;
};

}  // namespace mayfly
