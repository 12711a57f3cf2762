// Finds the longest prefix of a key among given prefixes, by one binary search.
//
//   sorted:     "app:"   "app:a:"   "app:b:"   "web:"
//   encloses:     -        0          0          -       the row of the longest other prefix of this prefix
//
// The strings with a common prefix lie side by side in sorted order. The search takes the last row that is not above the
// key, then the enclosing row of this row, and so on outwards: these rows include every prefix of the key. A table never
// changes after its construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly {

class PrefixTable {
 public:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  PrefixTable() = default;
  // REQUIRES: the prefixes differ from each other and are fewer than 2^16 - 1.
  explicit PrefixTable(std::span<const std::string> prefixes);

  // Returns the index, in the constructor's span, of the longest prefix of the key; kNone if no prefix fits.
  size_t Find(std::string_view key) const noexcept;

 private:
  static constexpr uint16_t kOutermost = std::numeric_limits<uint16_t>::max();
  struct Row {
    std::string prefix;
    uint16_t index;
    uint16_t enclosing = kOutermost;  // the row of the longest other prefix of this prefix
  };

  std::vector<Row> rows_;  // sorted by prefix
};

}  // namespace mayfly
