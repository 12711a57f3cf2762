// The first line of a script with its engine and flags. For example "#!lua flags=no-writes,allow-stale". The flags are the
// permissions of the script.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mayfly::script {

struct Shebang {
  uint32_t flags = 0;   // ScriptFlag; kNoShebang: no such line
  size_t size = 0;      // of the line, without the line end
  std::string problem;  // not empty: Redis's error, without a code
};

// Throws std::bad_alloc.
Shebang ReadShebang(std::string_view text);

struct FlagName {
  uint32_t flag;
  std::string_view name;
};
// In Redis's order.
std::span<const FlagName> FlagNames() noexcept;

}  // namespace mayfly::script
