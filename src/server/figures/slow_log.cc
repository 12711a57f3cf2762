#include "server/figures/slow_log.h"

#include <algorithm>
#include <utility>

namespace mayfly {
namespace {

std::string Shortened(std::string_view argument) {
  std::string text(argument.substr(0, SlowLog::kArgumentBytesMax));
  if (argument.size() > SlowLog::kArgumentBytesMax)
    text += "... (" + std::to_string(argument.size() - SlowLog::kArgumentBytesMax) + " more bytes)";
  return text;
}

}  // namespace

std::vector<std::string> SlowLog::Shorten(std::span<const std::string_view> arguments) {
  const bool too_many = arguments.size() > kArgumentsMax;
  const size_t shown = too_many ? kArgumentsMax - 1 : arguments.size();
  std::vector<std::string> texts;
  texts.reserve(std::min(arguments.size(), kArgumentsMax));
  for (const std::string_view argument : arguments.first(shown)) texts.push_back(Shortened(argument));
  if (too_many) texts.push_back("... (" + std::to_string(arguments.size() - shown) + " more arguments)");
  return texts;
}

void SlowLog::Add(SlowCall call, size_t most) {
  calls_.push_front(std::move(call));
  calls_.front().id = next_id_++;
  Trim(most);
}

}  // namespace mayfly
