// A reference-counted block of bytes: a big value, or a payload for many clients.
//
// Invariant: the bytes do not change while more than one SharedBytes refers to the block (see Unique).
// Ownership: the last SharedBytes frees the block. Loop thread only: the count is not atomic.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string_view>
#include <utility>

namespace mayfly {

class SharedBytes {
 public:
  static constexpr size_t kHeaderBytes = 2 * sizeof(uint64_t);  // in addition to the bytes

  SharedBytes() noexcept = default;
  SharedBytes(const SharedBytes& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) ++block_->references;
  }
  SharedBytes(SharedBytes&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  SharedBytes& operator=(SharedBytes other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  [[gnu::always_inline]] ~SharedBytes() {
    if (block_ != nullptr) [[unlikely]]
      Drop();
  }

  // A new block of `size` uninitialised bytes. Throws std::bad_alloc.
  static SharedBytes Allocate(size_t size) {
    void* memory = nullptr;
    if (size < kPagedBytes)
      memory = std::malloc(sizeof(Block) + size);
    else if (posix_memalign(&memory, kPage, sizeof(Block) + size) != 0)
      memory = nullptr;
    if (memory == nullptr) throw std::bad_alloc();
    return SharedBytes(new (memory) Block{1, size});
  }
  static SharedBytes Copy(std::string_view bytes) {
    SharedBytes made = Allocate(bytes.size());
    bytes.copy(made.data(), bytes.size());
    return made;
  }

  // A new block of `size` zero bytes. Throws std::bad_alloc.
  static SharedBytes Zeros(size_t size) {
    void* memory = std::calloc(1, sizeof(Block) + size);
    if (memory == nullptr) throw std::bad_alloc();
    return SharedBytes(new (memory) Block{1, size});
  }

  explicit operator bool() const noexcept { return block_ != nullptr; }
  char* data() const noexcept { return reinterpret_cast<char*>(block_ + 1); }
  size_t size() const noexcept { return block_->size; }
  std::string_view view() const noexcept { return {data(), size()}; }
  bool Unique() const noexcept { return block_->references == 1; }
  // Until Resume, this object does not count among those that refer to the block, and only stays what it is. REQUIRES: another
  // object refers to the block until Resume.
  void Suspend() noexcept {
    assert(!Unique());
    --block_->references;
  }
  void Resume() noexcept { ++block_->references; }
  // Shortens the block to `new_size` bytes. Its memory is kept.
  // REQUIRES: new_size <= size().
  void Truncate(size_t new_size) noexcept {
    assert(new_size <= size());
    block_->size = new_size;
  }
  // Shortens the block to `new_size` bytes, and gives the rest of the memory back if the allocator can. The bytes may move.
  // REQUIRES: Unique(); new_size <= size().
  void Shrink(size_t new_size) noexcept;
  // Makes the bytes writable: replaces a shared block by a copy. If `size` exceeds size(), also extends the block by zeros
  // to `size`; the allocator's size classes make copying rare. If Detach throws std::bad_alloc, nothing has changed.
  void Detach(size_t size);

  // Release hands the reference over as a plain pointer for an entry to store. Adopt takes the reference back.
  void* Release() noexcept { return std::exchange(block_, nullptr); }
  static SharedBytes Adopt(void* released) noexcept { return SharedBytes(static_cast<Block*>(released)); }

 private:
  struct Block {
    uint64_t references;
    size_t size;
  };
  static_assert(sizeof(Block) == kHeaderBytes);
  // Larger blocks begin on a page. Jemalloc adds an unneeded page to each large block to vary the block's place in the
  // processor's cache; a block that begins on a page never touches the added page.
  static constexpr size_t kPagedBytes = 14 * 1024;
  static constexpr size_t kPage = 4096;
  explicit SharedBytes(Block* block) noexcept : block_(block) {}
  void Drop() noexcept {
    if (--block_->references == 0) std::free(block_);
  }
  Block* block_ = nullptr;
};

}  // namespace mayfly
