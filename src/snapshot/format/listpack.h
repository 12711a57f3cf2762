// Listpacks: Redis's packed form of hashes, lists, sets and sorted sets since 7.0, and of the entries of streams.
//
//   | bytes 4 | items 2 | item | item | ... | 0xFF |      numbers have their lowest byte first
//   item:  | head 1 to 9 | text, if the item is a text | back length 1 to 5 |
//
//   head 0xxxxxxx              an integer from 0 to 127
//        10xxxxxx              a text of up to 63 bytes
//        110xxxxx + 1 byte     an integer of 13 bits, the highest first
//        1110xxxx + 1 byte     a text of up to 4095 bytes, the highest bits of the length first
//        0xF0 + 4 bytes        a text of any length
//        0xF1 to 0xF4          an integer in the next 2, 3, 4 or 8 bytes
//
// "bytes" is the size of the listpack with header and end mark. "items" is 65,535 if there are that many or more: then readers
// count. The back length is the size of head and text, 7 bits to a byte, the highest first; all bytes but the first have their
// highest bit set. So a listpack can be read backwards, too.
//
// Source: https://github.com/antirez/listpack, and what redis-server 7.0.15 writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "snapshot/format/packed.h"

namespace mayfly::rdb {

// Borrows the bytes. See packed.h.
class ListpackReader {
 public:
  explicit ListpackReader(std::string_view listpack) noexcept;

  ItemStatus Next(PackedItem& item) noexcept;

 private:
  ItemStatus End() noexcept;
  ItemStatus Fail() noexcept;
  // Reads head and text of the item at at_. Returns their size, or 0 if the item is bad or does not end before end_.
  size_t ReadInner(PackedItem& item) const noexcept;
  size_t ReadText(size_t head, uint64_t length, PackedItem& item) const noexcept;

  const char* bytes_;
  size_t at_;
  size_t end_;            // of the last item, where the end mark is
  size_t count_ = 0;      // items read
  size_t announced_ = 0;  // "items" of the header
  bool bad_ = false;
};

// Builds a listpack with the smallest form of each item, byte for byte as Redis does.
class ListpackWriter {
 public:
  // Redis's own limit of a listpack. The caller begins another one before.
  static constexpr size_t kMost = size_t{1} << 30;

  ListpackWriter() { Clear(); }

  // Appends a text, or an integer if the text is its decimal form. Throws std::bad_alloc, and has changed nothing then.
  // REQUIRES: bytes() + text.size() is less than kMost.
  void Append(std::string_view text);
  void Append(int64_t integer);

  // Number of items, and the size of the listpack with header and end mark.
  size_t items() const noexcept { return items_; }
  size_t bytes() const noexcept { return bytes_.size(); }
  // The finished listpack, a view into the writer that is valid until the next call. More may be appended after that.
  std::string_view Finish() noexcept;
  // Begins an empty listpack, in the same memory.
  void Clear();

 private:
  // Appends an item: head, text and their back length.
  void AppendInner(std::string_view head, std::string_view text);

  std::string bytes_;  // a listpack, but for the numbers in its header
  size_t items_ = 0;
};

}  // namespace mayfly::rdb
