// A tree of minima over up to 256 one-byte ids: finds the id with the least key.
//
//   minima_[1]            the least of all
//   minima_[2], [3]       the least of each half
//   ...
//   minima_[256 + id]     the key of a contestant; kNone for an id that does not take part
//
// Set and the searches are O(log n) and allocate nothing. Of equal keys the lowest id wins. Loop thread only.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "cache/entry/id_set.h"

namespace mayfly {

class Tournament {
 public:
  static constexpr uint64_t kNone = UINT64_MAX;
  static constexpr size_t kEnd = IdSet::kIds;

  Tournament() noexcept { minima_.fill(kNone); }

  uint64_t KeyOf(uint8_t id) const noexcept { return minima_[kEnd + id]; }
  void Set(uint8_t id, uint64_t key) noexcept {
    size_t node = kEnd + id;
    minima_[node] = key;
    for (node /= 2; node != 0; node /= 2) {
      const uint64_t least = std::min(minima_[2 * node], minima_[2 * node + 1]);
      if (minima_[node] == least) return;
      minima_[node] = least;
    }
  }
  // The least key; kNone if no id takes part.
  uint64_t least() const noexcept { return minima_[1]; }
  // The id with the least key.
  uint8_t First() const noexcept { return static_cast<uint8_t>(Descend(1, least())); }
  // The lowest id from `from` on with a key of at most `most`; kEnd if there is none.
  // REQUIRES: from <= kEnd, and most != kNone.
  size_t NextUpTo(size_t from, uint64_t most) const noexcept {
    assert(from <= kEnd && most != kNone);
    if (from == kEnd) return kEnd;
    size_t node = kEnd + from;
    if (minima_[node] <= most) return from;
    for (;;) {
      while (node % 2 == 1) node /= 2;  // a right child, or the root: has no right neighbour
      if (node == 0) return kEnd;
      ++node;
      if (minima_[node] <= most) return Descend(node, most);
    }
  }

 private:
  // The lowest id below `node` with a key of at most `most`.
  // REQUIRES: there is such an id.
  size_t Descend(size_t node, uint64_t most) const noexcept {
    assert(minima_[node] <= most);
    while (node < kEnd) {
      node *= 2;
      if (minima_[node] > most) ++node;
    }
    return node - kEnd;
  }

  std::array<uint64_t, 2 * kEnd> minima_;
};

}  // namespace mayfly
