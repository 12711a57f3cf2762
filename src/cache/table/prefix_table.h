// Finds the longest prefix of a key among given prefixes, by one binary search.
//
//   sorted:     "app:"   "app:a:"   "app:b:"   "web:"
//   encloses:     -        0          0          -       the longest other prefix that it begins with
//
// The strings that begin with a prefix lie side by side in sorted order. So every prefix of the key is the last entry
// that is not above the key, or one that encloses it: the search goes outwards from there. Never changed once made.
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
  // REQUIRES: no two are equal, and there are fewer than 2^16.
  explicit PrefixTable(std::span<const std::string> prefixes);

  // The index, in what the constructor was given, of the longest prefix of the key; kNone if none is one.
  size_t Find(std::string_view key) const noexcept;

 private:
  static constexpr uint16_t kOutermost = std::numeric_limits<uint16_t>::max();
  struct Row {
    std::string prefix;
    uint16_t index;
    uint16_t enclosing = kOutermost;  // a row above
  };

  std::vector<Row> rows_;  // by prefix
};

}  // namespace mayfly
