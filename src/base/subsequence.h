// The longest sequence of bytes that two texts have in common, in order but with gaps: what LCS answers.
//
// Of several as long, it is the one that Redis finds by going back from both ends: the last byte of both if
// they are the same, else the way to the longer rest, and of two alike the one that shortens the second text.
// Time is a.size() * b.size(); memory for going back is one bit for each such pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mayfly {

// A run of the sequence that has no gap in either text.
struct CommonRun {
  size_t in_a = 0;  // where it begins
  size_t in_b = 0;
  size_t length = 0;
};

// REQUIRES for all: neither text is longer than 32 bits can say.
uint32_t CommonLength(std::string_view a, std::string_view b);
// The runs, the last first. Throws std::bad_alloc.
std::vector<CommonRun> CommonRuns(std::string_view a, std::string_view b);

}  // namespace mayfly
