// The longest common subsequence of two texts, for LCS.
//
// If several subsequences have the greatest length, the result is Redis's choice. Redis walks back from the ends of both
// texts: equal last bytes belong to the result. If the last bytes differ, Redis shortens the text whose shortening leaves
// the longer common subsequence, and the second text if both are equal. Time is O(a.size() * b.size()). CommonRuns needs one
// bit of memory for each pair of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mayfly {

// A run of the subsequence without a gap in either text.
struct CommonRun {
  size_t in_a = 0;  // offset in the first text
  size_t in_b = 0;
  size_t length = 0;
};

// The length of the subsequence. Throws std::bad_alloc.
// REQUIRES for both functions: the size of each text fits 32 bits.
uint32_t CommonLength(std::string_view a, std::string_view b);
// The runs of the subsequence, the last one first. Throws std::bad_alloc.
std::vector<CommonRun> CommonRuns(std::string_view a, std::string_view b);

}  // namespace mayfly
