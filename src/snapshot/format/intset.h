// Intsets: Redis's packed form of sets of integers. For reading only.
//
//   | bytes of a member 4 | members 4 | member | member | ... |      numbers have their lowest byte first
//
// A member has 2, 4 or 8 bytes. Members ascend.
//
// Source: https://rdb.fnordig.de/file_format.html, and what redis-server 7.0.15 writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "snapshot/format/packed.h"

namespace mayfly::rdb {

// Borrows the bytes. See packed.h.
class IntsetReader {
 public:
  explicit IntsetReader(std::string_view intset) noexcept;

  ItemStatus Next(PackedItem& item) noexcept;

 private:
  std::string_view rest_;  // the members that are not read
  size_t member_bytes_ = 0;
  int64_t last_ = 0;
  bool any_ = false;  // last_ is a member
  bool bad_ = true;
};

}  // namespace mayfly::rdb
