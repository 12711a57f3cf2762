#include "script/lua_heap.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace mayfly::script {

void* LuaHeap::Resize(void* block, size_t old_size, size_t new_size) noexcept {
  if (new_size == 0) {
    std::free(block);
    used_ -= old_size;
    return nullptr;
  }
  if (bounded_ && new_size > old_size && used_ + (new_size - old_size) > most_) return nullptr;
  void* const moved = std::realloc(block, new_size);
  if (moved == nullptr) return new_size <= old_size ? block : nullptr;  // Lua relies on the former
  used_ += new_size;
  used_ -= old_size;
  return moved;
}

void LuaBuffer::Add(std::string_view bytes) {
  if (bytes.empty()) return;
  std::memcpy(Reserve(bytes.size()), bytes.data(), bytes.size());
  size_ += bytes.size();
}

void LuaBuffer::Grow(size_t n) {
  const size_t wanted = std::max({kLeastRoom, 2 * room_, size_ + n});
  void* const moved = allocate_(heap_, data_, room_, wanted);
  if (moved == nullptr) throw std::bad_alloc();
  data_ = static_cast<char*>(moved);
  room_ = wanted;
}

}  // namespace mayfly::script
