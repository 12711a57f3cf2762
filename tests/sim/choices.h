// The random choices of a simulation, drawn from a seed or from the bytes of a fuzzer's input. The same source
// gives the same choices on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace mayfly::sim {

class Choices {
 public:
  explicit Choices(uint64_t seed) : seed_(seed), random_(seed), from_bytes_(false) {}
  // Borrows the bytes. Every choice is 0 once they are used up.
  Choices(const uint8_t* data, size_t size) : data_(data), left_(size), from_bytes_(true) {}

  // REQUIRES: limit > 0.
  size_t Below(size_t limit) { return static_cast<size_t>(Draw(limit) % limit); }
  // REQUIRES: least <= most.
  size_t Between(size_t least, size_t most) { return least + Below(most - least + 1); }
  bool OneIn(size_t n) { return Below(n) == 0; }

  template <typename T>
  void Shuffle(std::vector<T>& items) {
    for (size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[Below(left)]);
  }

  // The fuzzer's input is used up.
  bool exhausted() const noexcept { return from_bytes_ && left_ == 0; }
  // How a person gets the same choices again.
  std::string Origin() const {
    return from_bytes_ ? "the fuzzer's input" : "MAYFLY_SIM_SEED=" + std::to_string(seed_);
  }

 private:
  uint64_t Draw(size_t limit) {
    if (!from_bytes_) return random_();
    uint64_t drawn = 0;
    for (size_t range = limit - 1; range != 0 && left_ != 0; range >>= 8, ++data_, --left_)
      drawn = drawn << 8 | *data_;
    return drawn;
  }

  uint64_t seed_ = 0;
  std::mt19937_64 random_;
  const uint8_t* data_ = nullptr;
  size_t left_ = 0;
  bool from_bytes_;
};

}  // namespace mayfly::sim
