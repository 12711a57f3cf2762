// ArgList: the arguments of all requests of a batch, in one array. A request is a range of indices in the list.
//
// Most arguments are views into the connection's read buffer and become invalid with it. For two other kinds of arguments
// the list keeps a block alive: a big argument that was read straight into its own block, which SET may share without a copy
// (BlockOf), and the text of inline arguments after their quotes were removed.
//
// Ownership: the caller owns the list and clears it when the batch is done. Loop thread only.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory/shared_bytes.h"

namespace mayfly::resp {

class ArgList {
 public:
  // Clear frees an array with room for more arguments.
  static constexpr size_t kKeptRoom = 4096;

  size_t size() const noexcept { return static_cast<size_t>(end_ - args_.get()); }
  // REQUIRES: index < size().
  std::string_view operator[](size_t index) const noexcept {
    assert(index < size());
    return args_[index];
  }
  const std::string_view* data() const noexcept { return args_.get(); }
  // The address of the next argument.
  std::string_view* end() noexcept { return end_; }

  // Makes room for `count` more arguments and returns the address of the first. Store them in order, then
  // Commit. May move the list. Throws std::bad_alloc.
  std::string_view* Reserve(size_t count) {
    if (static_cast<size_t>(limit_ - end_) < count) [[unlikely]]
      Grow(size() + count);
    return end_;
  }
  // REQUIRES: count <= the count passed to the last Reserve; `count` arguments are stored.
  void Commit(size_t count) noexcept {
    assert(count <= static_cast<size_t>(limit_ - end_));
    end_ += count;
  }
  void Add(std::string_view arg) {
    *Reserve(1) = arg;
    Commit(1);
  }

  // Keeps a block alive until Clear. `index` names the argument that is the whole block; kNoArgument: no argument is.
  static constexpr size_t kNoArgument = ~size_t{0};
  void Keep(size_t index, SharedBytes block) { blocks_.push_back({index, std::move(block)}); }
  bool has_blocks() const noexcept { return !blocks_.empty(); }
  // The block that is the whole of argument `index`; null if the argument is a plain view.
  const SharedBytes* BlockOf(size_t index) const noexcept {
    for (const Block& block : blocks_) {
      if (block.index == index) return &block.bytes;
    }
    return nullptr;
  }

  // Removes all arguments after the first `size`, when a request turns out to be malformed.
  void Truncate(size_t size) noexcept {
    end_ = std::min(end_, args_.get() + size);
    std::erase_if(blocks_,
                  [=](const Block& block) { return block.index >= size && block.index != kNoArgument; });
  }
  void Clear() noexcept {
    end_ = args_.get();
    if (!blocks_.empty()) blocks_.clear();
    if (room() > kKeptRoom) [[unlikely]] {
      args_.reset();
      end_ = limit_ = nullptr;
    }
  }
  size_t memory() const noexcept { return room() * sizeof(std::string_view); }

 private:
  struct Block {
    size_t index;
    SharedBytes bytes;
  };
  size_t room() const noexcept { return static_cast<size_t>(limit_ - args_.get()); }
  void Grow(size_t needed) {
    const size_t larger_room = std::max({needed, room() * 2, size_t{64}});
    auto larger = std::make_unique_for_overwrite<std::string_view[]>(larger_room);
    end_ = std::copy(args_.get(), end_, larger.get());
    limit_ = larger.get() + larger_room;
    args_ = std::move(larger);
  }

  std::unique_ptr<std::string_view[]> args_;
  std::string_view* end_ = nullptr;    // after the last argument
  std::string_view* limit_ = nullptr;  // after the room for arguments
  std::vector<Block> blocks_;          // few: only for big and quoted arguments
};

}  // namespace mayfly::resp
