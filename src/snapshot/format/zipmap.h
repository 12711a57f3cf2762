// Zipmaps: Redis's packed form of hashes before 2.6. For reading only.
//
//   | fields 1 | field | value | field | value | ... | 0xFF |
//   field:  | length 1 or 5 | text |
//   value:  | length 1 or 5 | unused bytes 1 | text | unused bytes |
//
// A length is a byte below 0xFE, or 0xFE and 4 bytes with the lowest first. "fields" is 0xFE if there are that many or more.
// Next returns a field, its value, the next field, and so on. All of them are texts.
//
// Source: https://rdb.fnordig.de/file_format.html, and what redis-server 7.0.15 loads.
#pragma once

#include <cstddef>
#include <string_view>

#include "snapshot/format/packed.h"

namespace mayfly::rdb {

// Borrows the bytes. See packed.h.
class ZipmapReader {
 public:
  explicit ZipmapReader(std::string_view zipmap) noexcept;

  ItemStatus Next(PackedItem& item) noexcept;

 private:
  ItemStatus End() noexcept;
  ItemStatus Fail() noexcept;
  // Moves past a length. Returns false if the length is bad, or does not end before end_.
  bool ReadLength(size_t& length) noexcept;

  const char* bytes_;
  size_t at_ = 1;
  size_t end_;        // of the last value, where the end mark is
  size_t count_ = 0;  // fields and values read
  bool bad_;
};

}  // namespace mayfly::rdb
