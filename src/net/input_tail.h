// What a connection keeps of its input between two reads: the beginning of a request that has not arrived as
// a whole.
//
//   memory  | taken | kept ............ | room |
//                   ^begin              ^end
//
// Appending is amortised O(1) a byte; an empty tail holds no memory. Loop thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "base/heap.h"

namespace mayfly::net {

class InputTail {
 public:
  std::string_view view() const noexcept { return {memory_.get() + begin_, end_ - begin_}; }
  size_t size() const noexcept { return end_ - begin_; }
  bool empty() const noexcept { return end_ == begin_; }
  // As the allocator counts it.
  size_t memory() const noexcept { return capacity_ == 0 ? 0 : Heap::SizeClass(capacity_); }

  // Becomes a copy of `bytes`. REQUIRES: they are not in this tail.
  void Assign(std::string_view bytes) {
    if (bytes.empty()) return Release();
    begin_ = end_ = 0;
    // A tail that was large gives its memory back rather than holding it for a few bytes.
    if (capacity_ > kKeptSlack * (bytes.size() + kQuantum)) Release();
    Append(bytes);
  }
  // REQUIRES: `bytes` are not in this tail.
  void Append(std::string_view bytes) {
    if (bytes.empty()) return;
    std::memcpy(Room(bytes.size()).data(), bytes.data(), bytes.size());
    end_ += bytes.size();
  }
  // Room behind the kept bytes, at least `least` bytes. Throws std::bad_alloc.
  std::span<char> Room(size_t least) {
    if (capacity_ - end_ < least) MakeRoom(least);
    return {memory_.get() + end_, capacity_ - end_};
  }
  // So many bytes were stored at the front of Room.
  void Filled(size_t n) noexcept { end_ += n; }
  // REQUIRES: n <= size().
  void RemovePrefix(size_t n) noexcept {
    begin_ += n;
    if (begin_ == end_) Release();
  }
  // Keeps the first `n` bytes. REQUIRES: n <= size().
  void Truncate(size_t n) noexcept { end_ = begin_ + n; }
  void Release() noexcept {
    memory_.reset();
    begin_ = end_ = capacity_ = 0;
  }

 private:
  static constexpr size_t kQuantum = 64;
  static constexpr size_t kKeptSlack = 4;

  void MakeRoom(size_t least) {
    const size_t kept = size();
    // The room that was taken from is used again only where that is at least half of it, so that moving stays
    // rare.
    if (begin_ >= capacity_ / 2 && capacity_ - kept >= least) {
      std::memmove(memory_.get(), memory_.get() + begin_, kept);
    } else {
      size_t grown = (kept + least + kQuantum - 1) / kQuantum * kQuantum;
      if (capacity_ != 0) grown = std::max(grown, 2 * kept);
      auto larger = std::make_unique_for_overwrite<char[]>(grown);
      if (kept != 0) std::memcpy(larger.get(), memory_.get() + begin_, kept);
      memory_ = std::move(larger);
      capacity_ = grown;
    }
    begin_ = 0;
    end_ = kept;
  }

  std::unique_ptr<char[]> memory_;
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t capacity_ = 0;
};

}  // namespace mayfly::net
