// The latest invalidated tags (cache/tags/tags.h): an older lease is void for these tags. SET with IFLEASE and TAGS
// tests whether one of the value's tags was invalidated after the lease was given: a value computed from old data must not
// be stored.
//
// Only hashes are remembered, in a ring. For a lease older than the ring AnySince returns true: a client then computes the
// value once more than necessary. Loop thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/waiting/key_place.h"

namespace mayfly {

class Invalidations {
 public:
  static constexpr size_t kRemembered = 1024;

  // Borrows the hasher.
  explicit Invalidations(const Hasher& hasher) noexcept : hash_(hasher) {}

  // The number of invalidations so far.
  uint64_t count() const noexcept { return count_; }
  void Note(unsigned db, std::string_view tag) noexcept { hashes_[count_++ % kRemembered] = HashOf(db, tag); }
  // True if the tag was invalidated after the first `count` invalidations, or if the ring no longer reaches back to `count`.
  bool AnySince(uint64_t count, unsigned db, std::string_view tag) const noexcept {
    if (count_ - count > kRemembered) return true;
    const size_t hash = HashOf(db, tag);
    for (uint64_t at = count; at != count_; ++at) {
      if (hashes_[at % kRemembered] == hash) return true;
    }
    return false;
  }

 private:
  size_t HashOf(unsigned db, std::string_view tag) const noexcept { return hash_({db, tag}); }

  KeyPlaceHash hash_;
  std::array<size_t, kRemembered> hashes_{};
  uint64_t count_ = 0;
};

}  // namespace mayfly
