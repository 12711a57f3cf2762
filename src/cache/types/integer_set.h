// A small set of integers in one allocation, sorted. Each integer is as wide as the widest needs (2, 4 or 8 bytes).
//
//   | width 4 | count 4 | integer | integer | ...
//
// The set becomes wider when an integer needs more bytes, and never narrower. Binary search finds an integer; adding and
// removing move all larger integers, so the set is for a few hundred at most. If memory runs out, a method throws
// std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/memory/pointer48.h"

namespace mayfly {

class IntegerSet {
 public:
  IntegerSet() noexcept = default;  // 6 bytes, without alignment
  IntegerSet(IntegerSet&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  IntegerSet& operator=(IntegerSet&& other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~IntegerSet() { ::operator delete(block_.get()); }
  // Throws std::bad_alloc.
  IntegerSet Clone() const;

  size_t size() const noexcept { return block_ == nullptr ? 0 : block_->count; }
  // Bytes of an integer.
  size_t width() const noexcept { return block_ == nullptr ? sizeof(int16_t) : block_->width; }
  // Memory, as rounded by the allocator.
  size_t memory() const noexcept;

  // In rising order. REQUIRES: index < size().
  int64_t At(size_t index) const noexcept {
    assert(index < size());
    const char* const place = Place(index);
    if (block_->width == sizeof(int16_t)) return Load<int16_t>(place);
    if (block_->width == sizeof(int32_t)) return Load<int32_t>(place);
    return Load<int64_t>(place);
  }
  bool Contains(int64_t integer) const noexcept {
    const size_t index = LowerBound(integer);
    return index < size() && At(index) == integer;
  }
  // Returns false if the integer was in the set. Throws std::bad_alloc.
  bool Add(int64_t integer);
  // Returns false if the integer was not in the set.
  bool Remove(int64_t integer) noexcept;
  // REQUIRES: index < size().
  void RemoveAt(size_t index) noexcept;

  // Reads every integer; for tests.
  bool Validate() const noexcept;

 private:
  struct Block {
    uint32_t width;
    uint32_t count;
  };

  template <typename T>
  static int64_t Load(const char* place) noexcept {
    T integer;
    std::memcpy(&integer, place, sizeof integer);
    return integer;
  }
  static size_t WidthOf(int64_t integer) noexcept {
    if (integer >= INT16_MIN && integer <= INT16_MAX) return sizeof(int16_t);
    return integer >= INT32_MIN && integer <= INT32_MAX ? sizeof(int32_t) : sizeof(int64_t);
  }
  static size_t RoomFor(size_t width, size_t count) noexcept;
  static void Store(char* place, size_t width, int64_t integer) noexcept {
    // The low bytes come first.
    std::memcpy(place, &integer, width);
  }
  char* Place(size_t index) const noexcept {
    return reinterpret_cast<char*>(block_.get() + 1) + index * block_->width;
  }
  // The index of the first integer that is not smaller.
  size_t LowerBound(int64_t integer) const noexcept;
  // Both leave a gap at `index`.
  void Widen(size_t width, size_t index);
  void OpenGap(size_t index);

  Pointer48<Block> block_;  // null until the first Add
};

}  // namespace mayfly
