#include "script/shebang.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "config/words.h"
#include "script/run.h"

namespace mayfly::script {
namespace {

constexpr FlagName kFlagNames[] = {
    {kNoWrites, "no-writes"},
    {kAllowOom, "allow-oom"},
    {kAllowStale, "allow-stale"},
    {kNoCluster, "no-cluster"},
    {kAllowCrossSlotKeys, "allow-cross-slot-keys"},
};

std::string ReadFlags(std::string_view list, uint32_t& flags) {
  if (list.empty()) return {};
  for (;;) {
    const size_t end = list.find(',');
    const std::string_view word = list.substr(0, end);
    const FlagName* const known = std::ranges::find(kFlagNames, word, &FlagName::name);
    if (known == std::end(kFlagNames)) return "Unexpected flag in script shebang: " + std::string(word);
    flags |= known->flag;
    if (end == std::string_view::npos) return {};
    list.remove_prefix(end + 1);
  }
}

}  // namespace

std::span<const FlagName> FlagNames() noexcept { return kFlagNames; }

Shebang ReadShebang(std::string_view text) {
  if (!text.starts_with("#!")) return {.flags = kNoShebang, .problem = {}};
  Shebang shebang;
  shebang.size = text.find('\n');
  if (shebang.size == std::string_view::npos) {
    shebang.problem = "Invalid script shebang";
    return shebang;
  }
  const std::optional<std::vector<std::string>> words = config::SplitWords(text.substr(0, shebang.size));
  if (!words || words->empty()) {
    shebang.problem = "Invalid engine in script shebang";
    return shebang;
  }
  if (words->front() != "#!lua") shebang.problem = "Unexpected engine in script shebang: " + words->front();
  for (size_t i = 1; i < words->size() && shebang.problem.empty(); ++i) {
    constexpr std::string_view kFlags = "flags=";
    const std::string_view word = (*words)[i];
    if (word.starts_with(kFlags)) {
      shebang.problem = ReadFlags(word.substr(kFlags.size()), shebang.flags);
    } else {
      shebang.problem = "Unknown lua shebang option: " + std::string(word);
    }
  }
  return shebang;
}

}  // namespace mayfly::script
