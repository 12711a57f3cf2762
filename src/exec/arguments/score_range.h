// Reads ranges of scores, names and ranks for commands on sorted sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cache/types/member_range.h"
#include "exec/dispatch/context.h"

namespace mayfly {

// "1.5", "(1.5" without the score itself, "-inf", "+inf". Read like Redis, by strtod's rules: blanks before the number are
// accepted, "" is 0, and a zero byte ends the text. Returns nothing after an error reply.
std::optional<ScoreRange> ReadScoreRange(Context& ctx, std::string_view min, std::string_view max);

// "[name", "(name" without the name itself, "-" for the lowest name, "+" for the highest. Borrows the texts. Returns nothing
// after an error reply.
std::optional<NameRange> ReadNameRange(Context& ctx, std::string_view min, std::string_view max);

// The ranks from `start` to `stop` of `size` members; a negative rank counts from the end.
RankRange ClipRanks(int64_t start, int64_t stop, size_t size) noexcept;

}  // namespace mayfly
