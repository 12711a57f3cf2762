// A pointer in 6 bytes, without alignment, so that it fits into what would be padding. What it points to lies below
// 2^48, as all memory of a process does on x86-64 and arm64. Owns nothing.
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
    std::memcpy(bytes_.data(), &bits, bytes_.size());
    return *this;
  }
  T* get() const noexcept {
    uintptr_t bits = 0;
    std::memcpy(&bits, bytes_.data(), bytes_.size());
    return reinterpret_cast<T*>(bits);
  }
  T* operator->() const noexcept { return get(); }
  T& operator*() const noexcept { return *get(); }
  bool operator==(std::nullptr_t) const noexcept { return get() == nullptr; }

 private:
  static_assert(sizeof(uintptr_t) == 8 && std::endian::native == std::endian::little);

  std::array<uint8_t, 6> bytes_{};
};

}  // namespace mayfly
