// Keyed hash of texts, for maps with look-ups by view without making a string. Clients choose the texts: without a key, a
// client could choose texts that all lie in one bucket.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/bits/hash.h"

namespace mayfly {

class TextHash {
 public:
  // NOLINTNEXTLINE(readability-identifier-naming): the standard library looks for this name
  using is_transparent = void;

  // Borrows the hasher.
  explicit TextHash(const Hasher& hasher) noexcept : hasher_(&hasher) {}
  size_t operator()(std::string_view text) const noexcept { return (*hasher_)(text); }

 private:
  const Hasher* hasher_;
};

}  // namespace mayfly
