// The entries of which a stream has told in this turn, as far as a small table remembers: a cheap first look, before that into
// TurnChanges.
//
// It may say that it knows an entry that it does not know (the block of memory has another key now), and forget one: whoever asks
// must be right in both cases.
//
// Loop thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mayfly {

class Entry;

class RecentEntries {
 public:
  static constexpr size_t kPlaces = 512;

  // False: the entry is there already.
  bool Add(const Entry& entry) noexcept {
    const auto address = reinterpret_cast<uintptr_t>(&entry);
    Place& place = places_[address / alignof(uint64_t) % kPlaces];
    if (place.address == address && place.round == round_) return false;
    place = {.address = address, .round = round_};
    return true;
  }
  void Clear() noexcept { ++round_; }

 private:
  struct Place {
    uintptr_t address = 0;
    uint64_t round = 0;
  };

  std::array<Place, kPlaces> places_{};
  uint64_t round_ = 1;
};

}  // namespace mayfly
