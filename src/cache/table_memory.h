// The policy of a hash table, with a count of the bytes that the table has allocated.
#pragma once

#include <cassert>
#include <cstddef>
#include <utility>

namespace mayfly {

template <typename Policy>
class TableMemory {
 public:
  explicit TableMemory(Policy policy) noexcept : policy_(std::move(policy)) {}

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

 private:
  size_t bytes_ = 0;
  [[no_unique_address]] Policy policy_;
};

}  // namespace mayfly
