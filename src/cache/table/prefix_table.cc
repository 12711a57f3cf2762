#include "cache/table/prefix_table.h"

#include <algorithm>
#include <cassert>

namespace mayfly {
namespace {

// Returns true if the prefix comes after the key. Compares byte by byte: nearly always one of the first bytes differs,
// before a call of memcmp would have begun.
bool IsAfter(std::string_view prefix, std::string_view key) noexcept {
  const size_t both = std::min(prefix.size(), key.size());
  for (size_t i = 0; i < both; ++i) {
    if (prefix[i] != key[i])
      return static_cast<unsigned char>(prefix[i]) > static_cast<unsigned char>(key[i]);
  }
  return prefix.size() > key.size();
}

}  // namespace

PrefixTable::PrefixTable(std::span<const std::string> prefixes) {
  assert(prefixes.size() < kOutermost);
  rows_.reserve(prefixes.size());
  for (const std::string& prefix : prefixes) rows_.push_back({prefix, static_cast<uint16_t>(rows_.size())});
  std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.prefix < b.prefix; });
  for (size_t i = 1; i < rows_.size(); ++i) {
    auto at = static_cast<uint16_t>(i - 1);
    while (at != kOutermost && !rows_[i].prefix.starts_with(rows_[at].prefix)) at = rows_[at].enclosing;
    rows_[i].enclosing = at;
  }
}

size_t PrefixTable::Find(std::string_view key) const noexcept {
  const auto above =
      std::upper_bound(rows_.begin(), rows_.end(), key,
                       [](std::string_view text, const Row& row) { return IsAfter(row.prefix, text); });
  if (above == rows_.begin()) return kNone;
  auto at = static_cast<uint16_t>(above - rows_.begin() - 1);
  while (at != kOutermost && !key.starts_with(rows_[at].prefix)) at = rows_[at].enclosing;
  return at != kOutermost ? rows_[at].index : kNone;
}

}  // namespace mayfly
