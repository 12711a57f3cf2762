#include "script/lua/lua_heap.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace mayfly::script {

LuaHeap::~LuaHeap() {
  for (Free* first : free_) {
    while (first != nullptr) std::free(std::exchange(first, first->next));
  }
}

void* LuaHeap::Resize(void* block, size_t old_size, size_t new_size) noexcept {
  if (new_size == 0) {
    if (old_size != 0) Return(block, old_size);
    used_ -= old_size;
    return nullptr;
  }
  if (bounded_ && new_size > old_size && used_ + (new_size - old_size) > most_) return nullptr;
  void* const moved = old_size == 0 ? Take(new_size) : Move(block, old_size, new_size);
  if (moved == nullptr)
    return new_size <= old_size ? block : nullptr;  // Lua relies on success for smaller blocks
  used_ += new_size;
  used_ -= old_size;
  return moved;
}

// Sanitizers keep no free block, to see every use of a free block.
#ifdef MAYFLY_SANITIZE
void* LuaHeap::Take(size_t size) noexcept { return std::malloc(size); }
void LuaHeap::Return(void* block, size_t) noexcept { std::free(block); }
void* LuaHeap::Move(void* block, size_t, size_t new_size) noexcept { return std::realloc(block, new_size); }
#else
void* LuaHeap::Take(size_t size) noexcept {
  const size_t size_class = ClassOf(size);
  Free*& first = free_[size_class];
  if (first == nullptr) return std::malloc(size_class != 0 ? size_class * kStep : size);
  kept_ -= size_class * kStep;
  return std::exchange(first, first->next);
}

void LuaHeap::Return(void* block, size_t size) noexcept {
  const size_t size_class = ClassOf(size);
  if (size_class == 0 || kept_ >= kMostKept) return std::free(block);
  kept_ += size_class * kStep;
  free_[size_class] = new (block) Free{free_[size_class]};
}

void* LuaHeap::Move(void* block, size_t old_size, size_t new_size) noexcept {
  const size_t size_class = ClassOf(new_size);
  if (size_class == 0 && ClassOf(old_size) == 0) return std::realloc(block, new_size);
  if (size_class == ClassOf(old_size)) return block;
  void* const moved = Take(new_size);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, std::min(old_size, new_size));
  Return(block, old_size);
  return moved;
}
#endif

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
