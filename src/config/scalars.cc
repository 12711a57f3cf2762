#include "config/scalars.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/numbers.h"
#include "config/words.h"

namespace mayfly::config {
namespace {

Problem OutOfRange(const Option& option) {
  return "argument must be between " + std::to_string(option.min) + " and " + std::to_string(option.max) +
         " inclusive";
}

}  // namespace

Problem ReadYesNo(const std::string& text, bool& value) {
  if (!SameIgnoringCase(text, "yes") && !SameIgnoringCase(text, "no"))
    return "argument must be 'yes' or 'no'";
  value = SameIgnoringCase(text, "yes");
  return std::nullopt;
}

Problem ReadInteger(const Option& option, const std::string& text, int64_t& value) {
  const std::optional<int64_t> number = ParseInteger(text);
  if (!number) return "argument couldn't be parsed into an integer";
  if (*number < option.min || *number > option.max) return OutOfRange(option);
  value = *number;
  return std::nullopt;
}

Problem ReadDuration(std::string_view text, Duration& value) {
  // A thousand years: beyond them Unix times in ms would not fit into the integers of clients.
  constexpr uint64_t kMostMs = uint64_t{1000} * 365 * 24 * 60 * 60 * 1000;
  struct Unit {
    std::string_view name;
    uint64_t ms;
  };
  constexpr Unit kUnits[] = {{"ms", 1},           {"s", 1000},          {"m", 60 * 1000},
                             {"h", 3'600 * 1000}, {"d", 86'400 * 1000}, {"", 1000}};
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<uint64_t> number = ParseUnsigned(text.substr(0, digits));
  for (const Unit& unit : kUnits) {
    if (!number || !SameIgnoringCase(text.substr(digits), unit.name)) continue;
    if (*number > kMostMs / unit.ms) return "argument must be at most 1000 years";
    value.ms = *number * unit.ms;
    return std::nullopt;
  }
  return "argument must be a time: a number of seconds, or one with ms, s, m, h or d";
}

std::string FormatDuration(Duration value) {
  constexpr uint64_t kSecondMs = 1000;
  if (value.ms % kSecondMs == 0) return std::to_string(value.ms / kSecondMs);
  return std::to_string(value.ms) + "ms";
}

Problem ReadByteCount(const Option& option, const std::string& text, uint64_t& value) {
  const std::optional<uint64_t> bytes = ParseBytes(text);
  if (!bytes) return "argument must be a memory value";
  if (*bytes > static_cast<uint64_t>(option.max) || *bytes < static_cast<uint64_t>(option.min))
    return OutOfRange(option);
  value = *bytes;
  return std::nullopt;
}

Problem CheckName(const Option& option, const std::string& text, const char* what) {
  if (text.empty() && option.min > 0) return std::string(option.name) + " can't be empty";
  if (text.find_first_of("/\\") != std::string::npos)
    return std::string(option.name) + " can't be a path, just a " + what;
  return std::nullopt;
}

std::string NoneOf(std::span<const std::string_view> names) {
  std::string text = "argument(s) must be one of the following: ";
  for (size_t i = 0; i < names.size(); ++i) text.append(i == 0 ? "" : ", ").append(names[i]);
  return text;
}

}  // namespace mayfly::config
