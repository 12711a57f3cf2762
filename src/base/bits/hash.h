// The keyed hash of keys: XXH3 with a secret drawn at start. Without the secret nobody can construct colliding keys.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace mayfly {

class Hasher {
 public:
  // Draws the secret from the kernel's random generator.
  Hasher();
  // Derives the secret from `seed`, for repeatable tests and benchmarks.
  explicit Hasher(uint64_t seed) noexcept;

  uint64_t operator()(std::string_view key) const noexcept {
    return XXH3_64bits_withSecret(key.data(), key.size(), secret_.data(), secret_.size());
  }

 private:
  static constexpr size_t kSecretBytes = 192;
  std::array<unsigned char, kSecretBytes> secret_;
};

}  // namespace mayfly
