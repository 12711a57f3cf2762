#include "exec/info/latency_graph.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <vector>

namespace mayfly {
namespace {

constexpr size_t kWidth = 80;
constexpr uint64_t kRows = 4;
// The top of a column, by its height within the row; the rows below are filled.
constexpr std::string_view kTops = "_o#";
constexpr char kFill = '|';
constexpr uint64_t kSteps = kRows * kTops.size();

struct Column {
  uint64_t step;  // 0: the lowest
  std::string age;
};

std::string AgeOf(int64_t seconds) {
  constexpr int64_t kMinute = 60;
  constexpr int64_t kHour = 60 * kMinute;
  constexpr int64_t kDay = 24 * kHour;
  if (seconds < kMinute) return std::to_string(seconds) + 's';
  if (seconds < kHour) return std::to_string(seconds / kMinute) + 'm';
  if (seconds < kDay) return std::to_string(seconds / kHour) + 'h';
  return std::to_string(seconds / kDay) + 'd';
}

// `row` counts from below.
char Drawn(uint64_t step, uint64_t row) noexcept {
  const uint64_t bottom = row * kTops.size();
  if (step < bottom) return ' ';
  return step - bottom < kTops.size() ? kTops[step - bottom] : kFill;
}

void Draw(std::string& text, std::span<const Column> columns) {
  for (uint64_t row = kRows; row-- > 0;) {
    for (const Column& column : columns) text += Drawn(column.step, row);
    text += '\n';
  }
  text.append(columns.size(), ' ') += '\n';
  size_t longest = 0;
  for (const Column& column : columns) longest = std::max(longest, column.age.size());
  for (size_t at = 0; at < longest; ++at) {  // the ages stand upright
    for (const Column& column : columns) text += at < column.age.size() ? column.age[at] : ' ';
    text += '\n';
  }
}

}  // namespace

std::string LatencyGraph(std::string_view name, const LatencyEvent& event, int64_t now_wall_s) {
  const std::vector<LatencySample>& samples = event.samples();
  assert(!samples.empty());
  const auto [low, high] =
      std::minmax_element(samples.begin(), samples.end(),
                          [](const LatencySample& a, const LatencySample& b) { return a.ms < b.ms; });
  const uint64_t range = std::max<uint64_t>(high->ms - low->ms, 1);
  std::vector<Column> columns;
  columns.reserve(samples.size());
  for (const LatencySample& sample : samples) {
    const uint64_t step = (sample.ms - low->ms) * kSteps / range;
    columns.push_back({std::min(step, kSteps - 1), AgeOf(now_wall_s - sample.wall_s)});
  }
  std::string text(name);
  text += " - high " + std::to_string(high->ms) + " ms, low " + std::to_string(low->ms) +
          " ms (all time high " + std::to_string(event.max_ms()) + " ms)\n";
  text.append(kWidth, '-') += '\n';
  for (size_t at = 0; at < columns.size(); at += kWidth) {
    if (at != 0) text += '\n';
    Draw(text, std::span(columns).subspan(at, std::min(kWidth, columns.size() - at)));
  }
  return text;
}

}  // namespace mayfly
