#include "base/log/log_time.h"

#include <time.h>

#include <chrono>

namespace mayfly {
namespace {

constexpr int64_t kDayS = 86'400;
constexpr int64_t kMsPerS = 1000;

int64_t OffsetAt(int64_t unix_s) noexcept {
  const auto time = static_cast<time_t>(unix_s);
  tm local{};
  return localtime_r(&time, &local) != nullptr ? local.tm_gmtoff : 0;
}

// Appends the digits of a number, filled up with leading zeros.
char* Append(char* at, int64_t number, int digits) noexcept {
  for (int i = digits - 1; i >= 0; --i, number /= 10) at[i] = static_cast<char>('0' + number % 10);
  return at + digits;
}

char* Append(char* at, std::string_view text) noexcept { return at + text.copy(at, text.size()); }

}  // namespace

LogTime::LogTime(int64_t now_s) noexcept {
  constexpr int64_t kStepS = 7 * kDayS;  // no zone changes twice within a week
  constexpr int64_t kYearS = 366 * kDayS;
  offsets_[count_++] = {now_s, OffsetAt(now_s)};
  for (int64_t at = now_s; at < now_s + kYears * kYearS && count_ < offsets_.size(); at += kStepS) {
    const int64_t known = offsets_[count_ - 1].offset_s;
    if (OffsetAt(at + kStepS) == known) continue;
    int64_t before = at;
    int64_t after = at + kStepS;
    while (after - before > 1) {
      const int64_t middle = before + (after - before) / 2;
      (OffsetAt(middle) == known ? before : after) = middle;
    }
    offsets_[count_++] = {after, OffsetAt(after)};
  }
}

std::string_view LogTime::Write(int64_t wall_ms, Text& room) const noexcept {
  using std::chrono::days;
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  constexpr int64_t kHourS = 3600;
  constexpr int64_t kMinuteS = 60;
  const int64_t unix_s = wall_ms / kMsPerS;
  size_t at_offset = count_ - 1;
  while (at_offset != 0 && offsets_[at_offset].since_s > unix_s) --at_offset;
  const int64_t local_s = unix_s + offsets_[at_offset].offset_s;
  const std::chrono::year_month_day date{std::chrono::sys_days(days(local_s / kDayS))};
  const int64_t second = local_s % kDayS;
  char* at = room.data();
  at = Append(at, static_cast<unsigned>(date.day()), 2);
  at = Append(at, " ");
  at = Append(at, kMonths.substr(3 * (static_cast<unsigned>(date.month()) - 1), 3));
  at = Append(at, " ");
  at = Append(at, static_cast<int>(date.year()), 4);
  at = Append(at, " ");
  at = Append(at, second / kHourS, 2);
  at = Append(at, ":");
  at = Append(at, second % kHourS / kMinuteS, 2);
  at = Append(at, ":");
  at = Append(at, second % kMinuteS, 2);
  at = Append(at, ".");
  at = Append(at, wall_ms % kMsPerS, 3);
  return {room.data(), static_cast<size_t>(at - room.data())};
}

}  // namespace mayfly
