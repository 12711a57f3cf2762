#include "config/scalars.h"

#include "base/ascii.h"
#include "base/numbers.h"
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

Problem ReadByteCount(const Option& option, const std::string& text, uint64_t& value) {
  const std::optional<uint64_t> bytes = ParseBytes(text);
  if (!bytes) return "argument must be a memory value";
  if (*bytes > kBytesMax || *bytes < static_cast<uint64_t>(option.min)) return OutOfRange(option);
  value = *bytes;
  return std::nullopt;
}

std::string NoneOf(std::span<const std::string_view> names) {
  std::string text = "argument(s) must be one of the following: ";
  for (size_t i = 0; i < names.size(); ++i) text.append(i == 0 ? "" : ", ").append(names[i]);
  return text;
}

}  // namespace mayfly::config
