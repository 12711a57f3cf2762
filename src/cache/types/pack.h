// A pack holds the members of a small value in one allocation. The members are fields and values, members and scores, or the
// elements of a list. All small forms use this one codec.
//
//   | bytes 4 | steps 2 | item | item | ...
//   item:  | head 1 to 9 | text, if the item is a text |
//
//   head 0 to 127        a text; the head is its size
//        128, 129        a text; its size is in the next 2 or 4 bytes
//        130             a real number in the next 8 bytes
//        131 to 138      an integer in the next 1 to 8 bytes
//        144 to 255      an integer from 0 to 111
//
// Each item has one form only, so equal items have equal bytes. A text that is the canonical form of an integer is stored as
// an integer.
//
// A Pack is read forwards only. In a LinkedPack<n> n items form a record, and the size of the items follows them. So records
// can be read backwards, too:
//
//   record:  | item 1 | ... | item n | size of the items, read backwards, 1 or more |
//
// A *step* is the distance of one Next: an item of a Pack, a record of a LinkedPack. Counts and indexes are of steps. The
// stored count takes two bytes; a walk counts 65,535 steps or more.
//
// Positions (At) are valid until the next change. Searching reads items one after another: a pack is for a few hundred items
// at most. If memory runs out, a method throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "base/memory/pointer48.h"
#include "base/prefetch.h"
#include "base/text/numbers.h"

namespace mayfly {

// An item outside a pack, as written and read.
struct PackItem {
  enum class Kind : uint8_t { kText, kInteger, kReal };
  // Bytes that Text may need.
  static constexpr size_t kRoom = 32;

  Kind kind = Kind::kText;
  std::string_view text = {};
  int64_t integer = 0;
  double real = 0;

  // An integer if `text` is the canonical form of an integer, else the text.
  [[gnu::always_inline]] static PackItem Of(std::string_view text) noexcept {
    constexpr size_t kLongestInteger = 20;
    if (text.size() - 1 < kLongestInteger && text[0] <= '9') [[unlikely]]
      return OfDigits(text);
    return {.text = text};
  }
  static PackItem Of(int64_t integer) noexcept { return {.kind = Kind::kInteger, .integer = integer}; }
  // An integer if `real` is an integer of less than 54 bits (but not -0), else a real number.
  static PackItem Of(double real) noexcept;

  // The item as a text: the text itself, or digits in `room`. `room` has kRoom bytes.
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

// The heads of items, and the sizes of items. Inline, since every walk through a pack needs the sizes.
namespace pack_format {

inline constexpr size_t kShortText = 127;  // the longest text whose head is one byte
inline constexpr uint8_t kText16 = 128;
inline constexpr uint8_t kText32 = 129;
inline constexpr uint8_t kReal = 130;
inline constexpr uint8_t kIntegerBase = 130;  // + number of bytes
inline constexpr uint8_t kTiny = 144;         // + the integer itself
inline constexpr unsigned kSizeBits = 7;      // bits of a backwards-read size in each byte

// The size of head and text of an item, short texts excepted.
size_t LongInnerSize(const uint8_t* item) noexcept;
// The size of an item's head and text.
[[gnu::always_inline]] inline size_t InnerSize(const uint8_t* item) noexcept {
  if (*item <= kShortText) [[likely]]
    return 1U + *item;
  return *item >= kTiny ? 1 : LongInnerSize(item);
}
// Number of bytes of a size that is read backwards.
inline size_t BackBytes(size_t size) noexcept {
  return size < (1U << kSizeBits) ? 1
                                  : (static_cast<size_t>(std::bit_width(size)) + kSizeBits - 1) / kSizeBits;
}

}  // namespace pack_format

// kRecord: the number of items in a record; 0: no links.
template <size_t kRecord>
class BasicPack {
 public:
  // The beginning of an item, or the end of the last item.
  using At = uint32_t;
  // A text of this many bytes or more does not fit.
  static constexpr size_t kTooLong = size_t{1} << 30;

  BasicPack() noexcept = default;  // 6 bytes, without alignment
  BasicPack(BasicPack&& other) noexcept : tagged_(std::exchange(other.tagged_, nullptr)) {}
  BasicPack& operator=(BasicPack&& other) noexcept {
    std::swap(tagged_, other.tagged_);
    return *this;
  }
  ~BasicPack() { ::operator delete(block()); }
  // Throws std::bad_alloc.
  BasicPack Clone() const;

  // Number of steps.
  size_t size() const noexcept {
    if (tagged_ == nullptr) return 0;
    return block()->steps != kManySteps ? block()->steps : CountSteps();
  }
  bool empty() const noexcept { return begin() == end(); }
  // Bytes of all items.
  size_t bytes() const noexcept { return end() - begin(); }
  // Memory, as rounded by the allocator.
  size_t memory() const noexcept;

  At begin() const noexcept { return sizeof(Block); }
  At end() const noexcept { return tagged_ == nullptr ? sizeof(Block) : block()->bytes; }
  // REQUIRES: `at` is not end(), and begins a record.
  At Next(At at) const noexcept {
    assert(at < end());
    const uint8_t* const first = Bytes() + at;
    size_t size = pack_format::InnerSize(first);
    for (size_t i = 1; i < kRecord; ++i) size += pack_format::InnerSize(first + size);
    return static_cast<At>(at + size + (kRecord != 0 ? pack_format::BackBytes(size) : 0));
  }
  // REQUIRES: `at` is not begin(), and begins a record or is end().
  At Prev(At at) const noexcept
    requires(kRecord != 0);
  // The second item of the record at `at`.
  At Second(At at) const noexcept
    requires(kRecord == 2);
  // The step with this index, counted from 0; a LinkedPack counts from the nearer end.
  // REQUIRES: index <= size(); size() gives end().
  At Seek(size_t index) const noexcept;
  // A text is a view into the pack.
  // REQUIRES: `at` is not end().
  PackItem Read(At at) const noexcept;
  // As Read(at).Text(room). REQUIRES: likewise, and the item is no real number.
  std::string_view ReadText(At at, char* room) const noexcept {
    const uint8_t* const item = Bytes() + at;
    if (*item <= pack_format::kShortText) [[likely]]
      return {reinterpret_cast<const char*>(item + 1), *item};
    return Read(at).Text(room);
  }
  bool Is(At at, const PackItem& item) const noexcept;
  // The first of the steps `from`, `from` + stride, ... with a first item equal to `item`, or end().
  At Find(const PackItem& item, At from, size_t stride = 1) const noexcept;

  // Bytes of the items in a pack. REQUIRES: the items are whole records.
  static size_t SizeOf(std::span<const PackItem> items) noexcept;
  // Inserts items in front of the step at `at`. Throws std::bad_alloc.
  // REQUIRES: the items are whole records; no text lies in this pack, or is too long.
  void Insert(At at, std::span<const PackItem> items) { Exchange(at, 0, items); }
  void Append(std::span<const PackItem> items) { Insert(end(), items); }
  // Replaces `count` steps by other steps. Throws std::bad_alloc. REQUIRES: as Insert, and there are `count` steps from `at`
  // on.
  void Exchange(At at, size_t count, std::span<const PackItem> items);
  // As Exchange, for one step of one item. REQUIRES: as Insert.
  void Replace(At at, const PackItem& item)
    requires(kRecord <= 1)
  {
    Exchange(at, 1, {&item, 1});
  }
  // REQUIRES: there are `count` steps from `at` on.
  void Erase(At at, size_t count) noexcept;

  // Prefetches for a reader a little later. Does not read the block.
  void Prefetch() const noexcept {
    const uint8_t* const first = Bytes();
    const size_t more = tag();
    for (size_t i = 0; i <= more; ++i) PrefetchToRead(first + i * kLine);
  }

  // Reads every item; for tests.
  bool Validate() const noexcept;

 private:
#pragma pack(push, 1)
  struct Block {
    uint32_t bytes;  // including this header
    uint16_t steps;  // at most kManySteps
  };
#pragma pack(pop)
  static constexpr size_t kManySteps = UINT16_MAX;  // kManySteps stands for this number or more
  static constexpr size_t kStepItems = kRecord == 0 ? 1 : kRecord;
  static constexpr size_t kLine = 64;
  static constexpr uintptr_t kTagMask = 7;     // blocks of 8 bytes have no larger alignment
  static constexpr size_t kTagMax = kTagMask;  // the processor itself goes on with the next lines

  uint8_t* Bytes() const noexcept {
    return reinterpret_cast<uint8_t*>(reinterpret_cast<uintptr_t>(tagged_.get()) & ~kTagMask);
  }
  Block* block() const noexcept { return reinterpret_cast<Block*>(Bytes()); }
  size_t tag() const noexcept { return reinterpret_cast<uintptr_t>(tagged_.get()) & kTagMask; }
  // Makes `block` the block of the pack, with `bytes` bytes in use.
  void Hold(uint8_t* block, size_t bytes) noexcept;
  size_t CountSteps() const noexcept;
  void SetSteps(size_t steps) noexcept;
  // Exchanges [from, to) for `size` bytes; the caller fills the new bytes.
  uint8_t* Splice(At from, At to, size_t size);

  // The address of the block plus the number of cache lines after its first line, but at most kTagMax: so Prefetch knows the
  // number of lines. Null until the first item.
  Pointer48<uint8_t> tagged_;
};

using Pack = BasicPack<0>;
template <size_t kRecord>
using LinkedPack = BasicPack<kRecord>;

extern template class BasicPack<0>;
extern template class BasicPack<1>;  // of list elements
extern template class BasicPack<2>;  // of members with scores

}  // namespace mayfly
