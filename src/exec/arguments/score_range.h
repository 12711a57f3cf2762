// Reads ranges of scores, names and ranks for commands on sorted sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cache/types/member_range.h"
#include "exec/dispatch/context.h"

namespace mayfly {

// "1.5", "(1.5" without the score itself, "-inf", "+inf". As strtod reads it, which is how Redis does: blanks before
// the number are fine, "" is 0, and a zero byte ends the text. Nothing after having answered the error.
std::optional<ScoreRange> ReadScoreRange(Context& ctx, std::string_view min, std::string_view max);

// "[name", "(name" without the name itself, "-" for the lowest, "+" for the highest. Borrows the texts. Nothing after
// having answered the error.
std::optional<NameRange> ReadNameRange(Context& ctx, std::string_view min, std::string_view max);

// The ranks from `start` to `stop` of `size` members; a negative one counts from the end.
RankRange ClipRanks(int64_t start, int64_t stop, size_t size) noexcept;

}  // namespace mayfly
