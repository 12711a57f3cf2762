// The memory of one Lua state, counted and bounded. A script that takes too much gets an error ("not enough memory") and the
// server lives on. Scripts take and free small blocks all the time: some free blocks are kept for the next request of their
// size. Loop thread only. Units: bytes.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

#include "script/lua/lua_api.h"

namespace mayfly::script {

class LuaHeap {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{256} << 20;
  // The garbage of scripts between two collections.
  static constexpr size_t kMostKept = size_t{256} << 10;

  // Counts in `used`; borrows `used`.
  explicit LuaHeap(uint64_t& used, uint64_t most = kMostBytes) noexcept : used_(used), most_(most) {}
  LuaHeap(const LuaHeap&) = delete;
  LuaHeap& operator=(const LuaHeap&) = delete;
  ~LuaHeap();

  uint64_t used() const noexcept { return used_; }
  // Collecting garbage takes a little memory, also beyond the bound.
  void set_bounded(bool bounded) noexcept { bounded_ = bounded; }
  // Returns null if memory runs out or the bound is reached. A block that becomes smaller always succeeds.
  void* Resize(void* block, size_t old_size, size_t new_size) noexcept;

 private:
  // Blocks of up to kSmall bytes have the size of their class, a multiple of kStep.
  static constexpr size_t kStep = 16;
  static constexpr size_t kSmall = 256;
  struct Free {
    Free* next;
  };
  // Returns 0 for a block that is not small, and for no block.
  static size_t ClassOf(size_t size) noexcept { return size <= kSmall ? (size + kStep - 1) / kStep : 0; }
  // Like malloc and free, for a size that is not 0.
  void* Take(size_t size) noexcept;
  void Return(void* block, size_t size) noexcept;
  void* Move(void* block, size_t old_size, size_t new_size) noexcept;

  uint64_t& used_;
  const uint64_t most_;
  bool bounded_ = true;
  [[maybe_unused]] size_t kept_ = 0;                 // sanitizers keep nothing
  std::array<Free*, kSmall / kStep + 1> free_ = {};  // by class
};

// Bytes that grow at their end, in the memory of a Lua state. The destructor frees the bytes, also when an error of Lua
// passes. A method that needs memory throws std::bad_alloc.
class LuaBuffer {
 public:
  explicit LuaBuffer(lua_State* L) noexcept : allocate_(lua_getallocf(L, &heap_)) {}
  LuaBuffer(const LuaBuffer&) = delete;
  LuaBuffer& operator=(const LuaBuffer&) = delete;
  ~LuaBuffer() { allocate_(heap_, data_, room_, 0); }

  // Returns the address of `n` free bytes. Write up to `n` bytes, then Commit the number written.
  char* Reserve(size_t n) {
    if (room_ - size_ < n) Grow(n);
    return data_ + size_;
  }
  void Commit(size_t n) noexcept {
    assert(n <= room_ - size_);
    size_ += n;
  }
  void Add(char byte) {
    *Reserve(1) = byte;
    ++size_;
  }
  void Add(std::string_view bytes);
  void Clear() noexcept { size_ = 0; }
  std::string_view view() const noexcept { return {data_, size_}; }

 private:
  static constexpr size_t kLeastRoom = 256;
  void Grow(size_t n);

  void* heap_ = nullptr;
  lua_Alloc allocate_;
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t room_ = 0;
};

}  // namespace mayfly::script
