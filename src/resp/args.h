// The arguments of a batch of requests, one after the other; a request is a range of indexes in it.
//
// Most arguments are views into the connection's read buffer and die with it. What the buffer cannot hold is
// a block that the list keeps alive: a big argument that was read straight into its own block, which SET may
// adopt without a copy (BlockOf), and the text of inline arguments whose quotes had to be taken away.
// Ownership: the caller owns the list and clears it when the batch is done. Loop thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/shared_bytes.h"

namespace mayfly::resp {

class ArgList {
 public:
  // More room than this is given back by Clear.
  static constexpr size_t kKeptRoom = 4096;

  size_t size() const noexcept { return size_; }
  std::string_view operator[](size_t index) const noexcept { return args_[index]; }
  const std::string_view* data() const noexcept { return args_.get(); }

  // Room for `count` more; set them in order, then Commit. Moves the list. Throws std::bad_alloc.
  std::string_view* Reserve(size_t count) {
    if (room_ - size_ < count) [[unlikely]]
      Grow(size_ + count);
    return args_.get() + size_;
  }
  // REQUIRES: count <= what the last Reserve was asked for.
  void Commit(size_t count) noexcept { size_ += count; }
  void Add(std::string_view arg) {
    *Reserve(1) = arg;
    Commit(1);
  }

  // Keeps a block alive until Clear; `index` is the argument that is this block as a whole, or kNoArgument.
  static constexpr size_t kNoArgument = ~size_t{0};
  void Keep(size_t index, SharedBytes block) { blocks_.push_back({index, std::move(block)}); }
  // The block that argument `index` is, or null when it is a mere view.
  const SharedBytes* BlockOf(size_t index) const noexcept {
    for (const Block& block : blocks_) {
      if (block.index == index) return &block.bytes;
    }
    return nullptr;
  }

  // Forgets arguments behind the first `size`, for a request that turned out to be broken.
  void Truncate(size_t size) noexcept { size_ = std::min(size_, size); }
  void Clear() noexcept {
    size_ = 0;
    if (!blocks_.empty()) blocks_.clear();
    if (room_ > kKeptRoom) [[unlikely]] {
      args_.reset();
      room_ = 0;
    }
  }
  size_t memory() const noexcept { return room_ * sizeof(std::string_view); }

 private:
  struct Block {
    size_t index;
    SharedBytes bytes;
  };
  void Grow(size_t needed) {
    const size_t room = std::max({needed, room_ * 2, size_t{64}});
    auto larger = std::make_unique_for_overwrite<std::string_view[]>(room);
    std::copy_n(args_.get(), size_, larger.get());
    args_ = std::move(larger);
    room_ = room;
  }

  std::unique_ptr<std::string_view[]> args_;
  size_t size_ = 0;
  size_t room_ = 0;
  std::vector<Block> blocks_;  // few: only big and quoted arguments
};

}  // namespace mayfly::resp
