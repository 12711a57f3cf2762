// The bytes kept by a connection between two reads: waiting requests and the beginning of an incomplete request.
//
//   memory  | taken | kept ............ | room |
//                   ^begin              ^end   ^capacity
//
// New bytes are stored in the room directly after the kept bytes: both are one string. Keep then says which part of the
// string is still needed. Growing costs amortised O(1) a byte; an empty tail holds no memory. Loop thread only. Units:
// bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "base/memory/heap.h"

namespace mayfly::net {

class InputTail {
 public:
  std::string_view view() const noexcept { return {memory_.get() + begin_, end_ - begin_}; }
  size_t size() const noexcept { return end_ - begin_; }
  bool empty() const noexcept { return end_ == begin_; }
  // As the allocator counts it.
  size_t memory() const noexcept { return capacity_ == 0 ? 0 : MallocSizeClass(capacity_); }

  // Room of at least `least` bytes directly after view(); view() may have moved. Throws std::bad_alloc without a change.
  std::span<char> Room(size_t least) {
    if (capacity_ - end_ < least) MakeRoom(least);
    return {memory_.get() + end_, capacity_ - end_};
  }
  // Replaces the kept bytes by `bytes`. `bytes` may be a part of view() followed by Room(), and then stay in place, or lie
  // elsewhere and are copied. Throws std::bad_alloc without a change.
  void Keep(std::string_view bytes) {
    if (bytes.empty()) return Release();
    // A tail that was large must not hold its memory for a few bytes.
    const bool fits = bytes.size() <= capacity_ && capacity_ <= kKeptSlack * (bytes.size() + kQuantum);
    if (!fits) return MoveToFresh(bytes, RoundUp(bytes.size()));
    if (Holds(bytes.data())) {
      begin_ = static_cast<size_t>(bytes.data() - memory_.get());
    } else {
      begin_ = 0;
      std::memcpy(memory_.get(), bytes.data(), bytes.size());
    }
    end_ = begin_ + bytes.size();
  }
  void Release() noexcept {
    memory_.reset();
    begin_ = end_ = capacity_ = 0;
  }

 private:
  static constexpr size_t kQuantum = 64;
  static constexpr size_t kKeptSlack = 4;

  static size_t RoundUp(size_t n) noexcept { return (n + kQuantum - 1) / kQuantum * kQuantum; }

  bool Holds(const char* p) const noexcept {
    const std::less<const char*> before;  // for pointers into different objects
    return !before(p, memory_.get()) && before(p, memory_.get() + capacity_);
  }

  void MoveToFresh(std::string_view bytes, size_t capacity) {
    auto fresh = std::make_unique_for_overwrite<char[]>(capacity);
    bytes.copy(fresh.get(), bytes.size());
    memory_ = std::move(fresh);
    capacity_ = capacity;
    begin_ = 0;
    end_ = bytes.size();
  }

  void MakeRoom(size_t least) {
    const size_t kept = size();
    // Moves the bytes to the front only if at least half of the memory comes free: moves stay rare.
    if (begin_ < capacity_ / 2 || capacity_ - kept < least)
      return MoveToFresh(view(), std::max(RoundUp(kept + least), 2 * kept));
    std::memmove(memory_.get(), memory_.get() + begin_, kept);
    begin_ = 0;
    end_ = kept;
  }

  std::unique_ptr<char[]> memory_;
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t capacity_ = 0;
};

}  // namespace mayfly::net
