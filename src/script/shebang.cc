#include "script/shebang.h"

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

// Calls fn with each part between two separators until it returns false.
template <typename Fn>
void ForEachPart(std::string_view text, char separator, Fn&& fn) {
  for (;;) {
    const size_t end = text.find(separator);
    if (!fn(text.substr(0, end)) || end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

std::string ReadFlags(std::string_view list, uint32_t& flags) {
  std::string problem;
  if (list.empty()) return problem;
  ForEachPart(list, ',', [&](std::string_view word) {
    for (const FlagName& known : kFlagNames) {
      if (known.name != word) continue;
      flags |= known.flag;
      return true;
    }
    problem = "Unexpected flag in script shebang: " + std::string(word);
    return false;
  });
  return problem;
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
  bool is_first = true;
  ForEachPart(text.substr(0, shebang.size), ' ', [&](std::string_view part) {
    constexpr std::string_view kFlags = "flags=";
    if (part.empty()) return true;
    if (is_first) {
      is_first = false;
      if (part != "#!lua") shebang.problem = "Unexpected engine in script shebang: " + std::string(part);
    } else if (part.starts_with(kFlags)) {
      shebang.problem = ReadFlags(part.substr(kFlags.size()), shebang.flags);
    } else {
      shebang.problem = "Unknown lua shebang option: " + std::string(part);
    }
    return shebang.problem.empty();
  });
  return shebang;
}

}  // namespace mayfly::script
