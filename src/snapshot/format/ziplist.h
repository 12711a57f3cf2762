// Ziplists: Redis's packed form of hashes, lists and sorted sets before 7.0. For reading only.
//
//   | bytes 4 | offset of the last item 4 | items 2 | item | item | ... | 0xFF |      numbers have their lowest byte first
//   item:  | size of the item before 1 or 5 | head | text, if the item is a text |
//
//   size of the item before: a byte below 0xFE, or 0xFE and 4 bytes; 0 for the first item
//
//   head 00xxxxxx              a text of up to 63 bytes
//        01xxxxxx + 1 byte     a text of up to 16,383 bytes, the highest bits of the length first
//        10xxxxxx + 4 bytes    a text of any length, the highest byte first
//        0xC0, 0xD0, 0xE0      an integer in the next 2, 4 or 8 bytes
//        0xF0, 0xFE            an integer in the next 3 bytes, or in the next byte
//        0xF1 to 0xFD          an integer from 0 to 12
//
// "items" is 65,535 if there are that many or more.
//
// Source: https://rdb.fnordig.de/file_format.html, and what redis-server 7.0.15 loads.
#pragma once

#include <cstddef>
#include <string_view>

#include "snapshot/format/packed.h"

namespace mayfly::rdb {

// Borrows the bytes. See packed.h.
class ZiplistReader {
 public:
  explicit ZiplistReader(std::string_view ziplist) noexcept;

  ItemStatus Next(PackedItem& item) noexcept;

 private:
  ItemStatus End() noexcept;
  ItemStatus Fail() noexcept;
  // Reads the size of the item before, at `from`. Returns its bytes, or 0 if the size is wrong.
  size_t ReadBack(size_t from) const noexcept;
  // Reads head and text at `from`. Returns their size, or 0 if the item is bad or does not end before end_.
  size_t ReadInner(size_t from, PackedItem& item) const noexcept;
  size_t ReadText(size_t from, size_t head, uint64_t length, PackedItem& item) const noexcept;

  const char* bytes_;
  size_t at_;
  size_t end_;            // of the last item, where the end mark is
  size_t last_;           // where the last read item begins; at first where the first item begins
  size_t count_ = 0;      // items read
  size_t announced_ = 0;  // "items" of the header
  bool bad_ = false;
};

}  // namespace mayfly::rdb
