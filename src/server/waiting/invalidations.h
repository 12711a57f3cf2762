// The latest invalidated tags (cache/keyspace/tags.h): a lease from before is void for these tags. So a value is not stored that
// was computed from what was there before: SET with IFLEASE and TAGS asks whether one of its tags was invalidated since
// the lease was given.
//
// Only hashes are remembered, in a ring. Of what is older than the ring the answer is yes: then a value is computed once
// more than it had to be. Loop thread only.
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

  // Number of them so far.
  uint64_t count() const noexcept { return count_; }
  void Note(unsigned db, std::string_view tag) noexcept { hashes_[count_++ % kRemembered] = HashOf(db, tag); }
  // Whether the tag was invalidated after the first `count`, or that is not known any more.
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
