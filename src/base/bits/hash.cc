#include "base/bits/hash.h"

#include <random>

#include <sys/random.h>

namespace mayfly {

Hasher::Hasher() {
  size_t filled = 0;
  while (filled < secret_.size()) {
    const ssize_t n = getrandom(secret_.data() + filled, secret_.size() - filled, 0);
    if (n > 0) filled += static_cast<size_t>(n);
  }
}

Hasher::Hasher(uint64_t seed) noexcept {
  std::mt19937_64 random(seed);
  for (unsigned char& byte : secret_) byte = static_cast<unsigned char>(random());
}

}  // namespace mayfly
