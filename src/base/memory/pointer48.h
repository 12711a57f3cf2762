// A pointer in 6 bytes, without alignment, small enough for otherwise unused padding. The target lies below 2^48, like all
// memory of a process on x86-64 and arm64. Owns nothing.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mayfly {

template <typename T>
class Pointer48 {
 public:
  constexpr Pointer48() noexcept = default;
  explicit Pointer48(T* pointer) noexcept { *this = pointer; }
  Pointer48& operator=(T* pointer) noexcept {
    const auto bits = reinterpret_cast<uintptr_t>(pointer);
    assert(bits >> 48 == 0);
    const auto low = static_cast<uint32_t>(bits);
    const auto high = static_cast<uint16_t>(bits >> 32);
    std::memcpy(bytes_.data(), &low, sizeof low);
    std::memcpy(bytes_.data() + sizeof low, &high, sizeof high);
    return *this;
  }
  // Puts two words together in a register. A copy of 6 bytes would go through the stack, where a load of 8 bytes waits for
  // both stores, about 15 cycles.
  T* get() const noexcept {
    uint32_t low = 0;
    uint16_t high = 0;
    std::memcpy(&low, bytes_.data(), sizeof low);
    std::memcpy(&high, bytes_.data() + sizeof low, sizeof high);
    return reinterpret_cast<T*>(uintptr_t{high} << 32 | low);
  }
  T* operator->() const noexcept { return get(); }
  T& operator*() const noexcept { return *get(); }
  bool operator==(std::nullptr_t) const noexcept { return get() == nullptr; }

 private:
  static_assert(sizeof(uintptr_t) == 8 && std::endian::native == std::endian::little);

  std::array<uint8_t, 6> bytes_{};
};

}  // namespace mayfly
