// A Pack holds the members of a small value in one allocation: fields and values, members and scores, the
// elements of a list. It is the one codec of all small forms.
//
//   | bytes 4 | items 4 | item | item | ...
//   item:  | head 1 to 9 | text, if it is one | size of head and text, read backwards, 1 or more |
//
//   head 0 to 127        a text of that many bytes
//        128, 129        a text; its size is in the next 2 or 4 bytes
//        130             a real number in the next 8 bytes
//        131 to 138      an integer in the next 1 to 8 bytes
//        144 to 255      an integer from 0 to 111
//
// Each item has one form only, so equal items have equal bytes. A text that is the canonical form of an integer is
// kept as one.
//
// Positions (At) are valid until the next change. Searching reads items one after another: it is for a few hundred
// at most. If memory runs out, a method throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "base/numbers.h"
#include "base/pointer48.h"

namespace mayfly {

// What goes into a pack, and what comes out of it.
struct PackItem {
  enum class Kind : uint8_t { kText, kInteger, kReal };
  // Bytes that Text may need.
  static constexpr size_t kRoom = 32;

  Kind kind = Kind::kText;
  std::string_view text = {};
  int64_t integer = 0;
  double real = 0;

  // An integer, if `text` is the canonical form of one.
  [[gnu::always_inline]] static PackItem Of(std::string_view text) noexcept {
    constexpr size_t kLongestInteger = 20;
    if (text.size() - 1 < kLongestInteger && text[0] <= '9') [[unlikely]]
      return OfDigits(text);
    return {.text = text};
  }
  static PackItem Of(int64_t integer) noexcept { return {.kind = Kind::kInteger, .integer = integer}; }
  // An integer, if `real` is one of less than 54 bits (but not -0).
  static PackItem Of(double real) noexcept;

  // The item as a text: itself, or digits in `room`, which has kRoom bytes.
  // REQUIRES: kind is not kReal.
  std::string_view Text(char* room) const noexcept {
    if (kind == Kind::kText) return text;
    return {room, FormatInteger(integer, room)};
  }
  // The number. REQUIRES: kind is not kText.
  double Number() const noexcept { return kind == Kind::kReal ? real : static_cast<double>(integer); }

 private:
  static PackItem OfDigits(std::string_view text) noexcept;
};

class Pack {
 public:
  // Where an item begins, or where the last one ends.
  using At = uint32_t;
  // A text of this many bytes or more does not fit.
  static constexpr size_t kTooLong = size_t{1} << 30;

  Pack() noexcept = default;  // 6 bytes, without alignment
  Pack(Pack&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Pack& operator=(Pack&& other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Pack() { ::operator delete(block_.get()); }
  // Throws std::bad_alloc.
  Pack Clone() const;

  // Number of items.
  size_t size() const noexcept { return block_ == nullptr ? 0 : block_->items; }
  bool empty() const noexcept { return size() == 0; }
  // Bytes of all items.
  size_t bytes() const noexcept { return end() - begin(); }
  // Memory, as the allocator rounds it.
  size_t memory() const noexcept;

  At begin() const noexcept { return sizeof(Block); }
  At end() const noexcept { return block_ == nullptr ? sizeof(Block) : block_->bytes; }
  // REQUIRES: `at` is not end().
  At Next(At at) const noexcept;
  // REQUIRES: `at` is not begin().
  At Prev(At at) const noexcept;
  // The item with this index, counted from 0; from the nearer end.
  // REQUIRES: index <= size(), which gives end().
  At Seek(size_t index) const noexcept;
  // A text is a view into the pack.
  // REQUIRES: `at` is not end().
  PackItem Read(At at) const noexcept;
  bool Is(At at, const PackItem& item) const noexcept;
  // The first of the items `from`, `from` + stride, ... that equals `item`, or end().
  At Find(const PackItem& item, At from, size_t stride = 1) const noexcept;

  // Bytes that the item takes in a pack.
  static size_t SizeOf(const PackItem& item) noexcept;
  // In front of the item at `at`. Throws std::bad_alloc.
  // REQUIRES: no text lies in this pack, or is too long.
  void Insert(At at, std::span<const PackItem> items) { Exchange(at, 0, items); }
  void Append(std::span<const PackItem> items) { Insert(end(), items); }
  // Throws std::bad_alloc. REQUIRES: as Insert.
  void Replace(At at, const PackItem& item) { Exchange(at, 1, {&item, 1}); }
  // Replaces `count` items by others. Throws std::bad_alloc. REQUIRES: as Insert, and there are that many.
  void Exchange(At at, size_t count, std::span<const PackItem> items);
  // REQUIRES: there are that many from `at` on.
  void Erase(At at, size_t count) noexcept;

  // Reads every item; for tests.
  bool Validate() const noexcept;

 private:
  struct Block {
    uint32_t bytes;  // with this header
    uint32_t items;
  };
  // The bytes before an item's text, or all of an item that is no text.
  struct Head;

  uint8_t* Bytes() const noexcept { return reinterpret_cast<uint8_t*>(block_.get()); }
  // Of head and text.
  size_t InnerSize(At at) const noexcept;
  // Exchanges [from, to) for `size` bytes that the caller fills.
  uint8_t* Splice(At from, At to, size_t size);
  static uint8_t* Write(uint8_t* out, const PackItem& item) noexcept;

  Pointer48<Block> block_;  // null while it was never filled
};

}  // namespace mayfly
