// A set of one-byte ids; each id names a keyspace or quota. Owns nothing. Loop thread only.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace mayfly {

class IdSet {
 public:
  static constexpr size_t kIds = 256;

  void Add(uint8_t id) noexcept { words_[id / kBits] |= BitOf(id); }
  void Remove(uint8_t id) noexcept { words_[id / kBits] &= ~BitOf(id); }
  void AddAll(const IdSet& ids) noexcept {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= ids.words_[i];
  }
  bool Has(uint8_t id) const noexcept { return (words_[id / kBits] & BitOf(id)) != 0; }
  // Calls fn(id) for each id, lowest first.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t left = words_[i]; left != 0; left &= left - 1)
        fn(static_cast<uint8_t>(i * kBits + static_cast<size_t>(std::countr_zero(left))));
    }
  }
  // Empties the set and calls fn(id) for each former id.
  template <typename Fn>
  void TakeEach(Fn&& fn) {
    std::exchange(*this, IdSet()).ForEach(fn);
  }

 private:
  static constexpr size_t kBits = 64;
  static uint64_t BitOf(uint8_t id) noexcept { return uint64_t{1} << (id % kBits); }

  std::array<uint64_t, kIds / kBits> words_{};
};

}  // namespace mayfly
