#include "base/text/subsequence.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace mayfly {
namespace {

// Computes the table of the lengths for all prefixes of both texts, with a row for each byte of `outer`. For
// each pair of different bytes, calls visit(i, j, length without the byte of `outer`, length without the byte
// of `inner`). Returns the length for the whole texts.
template <typename Visit>
uint32_t FillTable(std::string_view outer, std::string_view inner, Visit&& visit) {
  assert(outer.size() <= UINT32_MAX && inner.size() <= UINT32_MAX);
  std::vector<uint32_t> row(inner.size() + 1, 0);
  for (size_t i = 0; i < outer.size(); ++i) {
    uint32_t without_both = 0;
    uint32_t length = 0;
    for (size_t j = 0; j < inner.size(); ++j) {
      const uint32_t without_outer = row[j + 1];
      if (inner[j] == outer[i]) {
        length = without_both + 1;
      } else {
        visit(i, j, without_outer, length);
        length = std::max(without_outer, length);
      }
      without_both = without_outer;
      row[j + 1] = length;
    }
  }
  return row.back();
}

// The pairs of bytes at which the walk back shortens the first text.
std::vector<bool> WaysBack(std::string_view a, std::string_view b) {
  std::vector<bool> shortens_a(a.size() * b.size());
  // The table's row belongs to the shorter text: the longer one may take most of the memory.
  if (b.size() <= a.size()) {
    FillTable(a, b, [&](size_t i, size_t j, uint32_t without_a, uint32_t without_b) {
      if (without_a > without_b) shortens_a[i * b.size() + j] = true;
    });
  } else {
    FillTable(b, a, [&](size_t j, size_t i, uint32_t without_b, uint32_t without_a) {
      if (without_a > without_b) shortens_a[i * b.size() + j] = true;
    });
  }
  return shortens_a;
}

}  // namespace

uint32_t CommonLength(std::string_view a, std::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  return FillTable(a, b, [](size_t, size_t, uint32_t, uint32_t) {});
}

std::vector<CommonRun> CommonRuns(std::string_view a, std::string_view b) {
  const std::vector<bool> shortens_a = WaysBack(a, b);
  std::vector<CommonRun> runs;
  size_t i = a.size();
  size_t j = b.size();
  size_t length = 0;
  const auto end_run = [&] {
    if (length > 0) runs.push_back({i, j, length});
    length = 0;
  };
  while (i > 0 && j > 0) {
    if (a[i - 1] == b[j - 1]) {
      ++length;
      --i;
      --j;
      continue;
    }
    end_run();
    if (shortens_a[(i - 1) * b.size() + (j - 1)]) {
      --i;
    } else {
      --j;
    }
  }
  end_run();
  return runs;
}

}  // namespace mayfly
