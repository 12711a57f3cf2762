// The shared state of a hash table's parts: policy, count of bytes, and the *order* of keys. The count is the bytes
// allocated by the table. The order is an odd number; the table multiplies all hashes by this number. So tables with
// different orders keep the same keys in different sequences. The order matters when a table is filled in the sequence of
// another table: with equal orders all new keys would belong to a few groups, and nearly all new keys would be stashed.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace mayfly {

template <typename Policy>
class TableMemory {
 public:
  // REQUIRES: order is odd.
  TableMemory(Policy policy, uint32_t order) noexcept : policy_(std::move(policy)), order_(order) {
    assert(order % 2 == 1);
  }

  // Null if out of memory. The block is aligned to 64.
  // REQUIRES: bytes is a multiple of 64.
  void* Allocate(size_t bytes) noexcept {
    assert(bytes % 64 == 0);
    void* made = policy_.Allocate(bytes);
    if (made != nullptr) bytes_ += bytes;
    return made;
  }
  void Free(void* block, size_t bytes) noexcept {
    policy_.Free(block, bytes);
    bytes_ -= bytes;
  }

  size_t bytes() const noexcept { return bytes_; }
  const Policy& policy() const noexcept { return policy_; }

  // The table uses this product in place of the hash.
  uint64_t Ordered(uint64_t hash) const noexcept { return hash * order_; }
  uint64_t OrderedHashOf(const typename Policy::Ref& ref) const noexcept {
    return Ordered(policy_.HashOf(ref));
  }
  // Another order.
  uint32_t NextOrder() const noexcept {
    constexpr uint32_t kStep = 2654435769;  // 2^32 by the golden ratio
    return order_ * kStep;
  }
  // REQUIRES: the table is empty.
  void ChangeOrder() noexcept { order_ = NextOrder(); }

 private:
  size_t bytes_ = 0;
  [[no_unique_address]] Policy policy_;
  uint32_t order_;
};

}  // namespace mayfly
