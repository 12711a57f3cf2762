// The one source of chance of a differential run: the same seed draws the same requests.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::testing {

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  // REQUIRES: limit > 0.
  size_t Below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random_); }
  int64_t Between(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }
  bool OneIn(size_t n) { return Below(n) == 0; }
  // REQUIRES: there are any.
  std::string Pick(std::span<const std::string_view> words) {
    return std::string(words[Below(words.size())]);
  }
  template <typename T>
  const T& Any(const std::vector<T>& of) {
    return of[Below(of.size())];
  }
  uint64_t Bits() { return random_(); }

 private:
  std::mt19937_64 random_;
};

}  // namespace mayfly::testing
