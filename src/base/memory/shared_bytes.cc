#include "base/memory/shared_bytes.h"

#include <algorithm>
#include <cstring>

namespace mayfly {

void SharedBytes::Shrink(size_t new_size) noexcept {
  assert(Unique() && new_size <= size());
  void* const memory = std::realloc(block_, sizeof(Block) + new_size);
  if (memory == nullptr) return;
  block_ = static_cast<Block*>(memory);
  block_->size = new_size;
}

void SharedBytes::Detach(size_t wanted) {
  const size_t old = size();
  const size_t fresh = std::max(old, wanted);
  if (!Unique()) {
    SharedBytes copy = Allocate(fresh);
    std::memcpy(copy.data(), data(), old);
    std::swap(block_, copy.block_);
  } else if (fresh > old) {
    void* memory = std::realloc(block_, sizeof(Block) + fresh);
    if (memory == nullptr) throw std::bad_alloc();
    block_ = static_cast<Block*>(memory);
    block_->size = fresh;
  }
  std::memset(data() + old, 0, fresh - old);
}

}  // namespace mayfly
