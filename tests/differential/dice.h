// The one source of chance of a run that draws requests: the same seed, or the same bytes, draw the same ones.
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
  // Chance comes from a fuzzer: each draw uses up some of the bytes. Zeros come after their end. Borrows them.
  explicit Dice(std::span<const uint8_t> bytes) : from_bytes_(true), bytes_(bytes) {}

  // REQUIRES: limit > 0.
  size_t Below(size_t limit) {
    if (from_bytes_) return TakeFor(limit - 1) % limit;
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random_);
  }
  int64_t Between(int64_t least, int64_t most) {
    if (from_bytes_) {
      const uint64_t span = static_cast<uint64_t>(most) - static_cast<uint64_t>(least);
      const uint64_t drawn = span == UINT64_MAX ? Bits() : TakeFor(span) % (span + 1);
      return static_cast<int64_t>(static_cast<uint64_t>(least) + drawn);
    }
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
  uint64_t Bits() { return from_bytes_ ? Take(sizeof(uint64_t)) : random_(); }
  // Whether the fuzzer's bytes are used up.
  bool Done() const noexcept { return from_bytes_ && bytes_.empty(); }

 private:
  uint64_t Take(size_t count) {
    uint64_t value = 0;
    for (; count != 0; --count) {
      value = value << 8U | (bytes_.empty() ? 0U : bytes_.front());
      if (!bytes_.empty()) bytes_ = bytes_.subspan(1);
    }
    return value;
  }
  // As many bytes as a number up to `most` needs, so that a fuzzer's small change stays a small one.
  uint64_t TakeFor(uint64_t most) {
    size_t count = 0;
    for (; most != 0; most >>= 8U) ++count;
    return Take(count);
  }

  std::mt19937_64 random_;
  bool from_bytes_ = false;
  std::span<const uint8_t> bytes_;
};

}  // namespace mayfly::testing
