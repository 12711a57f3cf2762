#include "exec/arguments/score_range.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/text/numbers.h"
#include "exec/call/errors.h"

namespace mayfly {
namespace {

// Returns nothing if the text is no number.
std::optional<double> ParseBound(std::string_view text) {
  if (const std::optional<double> number = ParseDouble(text)) return number;
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  if (*end != '\0' || std::isnan(number)) return std::nullopt;
  return number;
}

bool ReadScore(std::string_view text, double& score, bool& open) {
  open = text.starts_with('(');
  const std::optional<double> number = ParseBound(text.substr(open ? 1 : 0));
  score = number.value_or(0);
  return number.has_value();
}

std::optional<NameRange::Bound> ReadName(std::string_view text) {
  using Kind = NameRange::Bound::Kind;
  const auto is_sign = [&](char sign) {
    return text.starts_with(sign) && (text.size() == 1 || text[1] == '\0');
  };
  if (is_sign('-')) return NameRange::Bound{Kind::kLowest};
  if (is_sign('+')) return NameRange::Bound{Kind::kHighest};
  if (text.starts_with('[')) return NameRange::Bound{Kind::kClosed, text.substr(1)};
  if (text.starts_with('(')) return NameRange::Bound{Kind::kOpen, text.substr(1)};
  return std::nullopt;
}

}  // namespace

std::optional<ScoreRange> ReadScoreRange(Context& ctx, std::string_view min, std::string_view max) {
  ScoreRange range;
  if (ReadScore(min, range.min, range.min_open) && ReadScore(max, range.max, range.max_open)) return range;
  return ctx.Fail("ERR min or max is not a float"), std::nullopt;
}

std::optional<NameRange> ReadNameRange(Context& ctx, std::string_view min, std::string_view max) {
  const std::optional<NameRange::Bound> low = ReadName(min);
  const std::optional<NameRange::Bound> high = ReadName(max);
  if (low && high) return NameRange{*low, *high};
  return ctx.Fail("ERR min or max not valid string range item"), std::nullopt;
}

RankRange ClipRanks(int64_t start, int64_t stop, size_t size) noexcept {
  const auto count = static_cast<int64_t>(size);
  if (start < 0) start = std::max<int64_t>(start + count, 0);
  if (stop < 0) stop += count;
  stop = std::min(stop, count - 1);
  if (start > stop) return {};
  return {static_cast<size_t>(start), static_cast<size_t>(stop - start + 1)};
}

}  // namespace mayfly
