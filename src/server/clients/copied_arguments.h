// The arguments of a delayed request, in one allocation. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>

#include "base/memory/heap.h"

namespace mayfly {

class CopiedArguments {
 public:
  CopiedArguments() noexcept = default;
  // Throws std::bad_alloc.
  explicit CopiedArguments(std::span<const std::string_view> arguments) : count_(arguments.size()) {
    for (const std::string_view argument : arguments) text_bytes_ += argument.size();
    block_ = std::make_unique_for_overwrite<char[]>(block_bytes());
    char* text = block_.get() + count_ * sizeof(std::string_view);
    char* view = block_.get();
    for (const std::string_view argument : arguments) {
      argument.copy(text, argument.size());
      new (view) std::string_view(text, argument.size());
      text += argument.size();
      view += sizeof(std::string_view);
    }
  }

  // Views into this object; the views stay valid when the object is moved.
  std::span<const std::string_view> all() const noexcept {
    return {std::launder(reinterpret_cast<const std::string_view*>(block_.get())), count_};
  }
  // Of the arguments alone.
  uint64_t text_bytes() const noexcept { return text_bytes_; }
  // As the allocator counts it.
  uint64_t memory() const noexcept { return block_ == nullptr ? 0 : Heap::SizeClass(block_bytes()); }

 private:
  size_t block_bytes() const noexcept { return count_ * sizeof(std::string_view) + text_bytes_; }

  size_t count_ = 0;
  size_t text_bytes_ = 0;
  std::unique_ptr<char[]> block_;  // the views, then their bytes
};

}  // namespace mayfly
