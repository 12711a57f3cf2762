// The arguments of a delayed request, in one allocation. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>

namespace mayfly {

class CopiedArguments {
 public:
  CopiedArguments() noexcept = default;
  // Throws std::bad_alloc.
  explicit CopiedArguments(std::span<const std::string_view> arguments);

  // Views into this object; the views stay valid when the object is moved.
  std::span<const std::string_view> all() const noexcept {
    return {std::launder(reinterpret_cast<const std::string_view*>(block_.get())), count_};
  }
  // Of the arguments alone.
  uint64_t text_bytes() const noexcept { return text_bytes_; }
  // As the allocator counts it.
  uint64_t memory() const noexcept;

 private:
  size_t block_bytes() const noexcept { return count_ * sizeof(std::string_view) + text_bytes_; }

  size_t count_ = 0;
  size_t text_bytes_ = 0;
  std::unique_ptr<char[]> block_;  // the views, then their bytes
};

}  // namespace mayfly
