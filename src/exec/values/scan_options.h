// The cursor and options of SCAN, HSCAN, SSCAN and ZSCAN.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/glob.h"
#include "exec/dispatch/context.h"

namespace mayfly {

struct ScanOptions {
  static constexpr uint64_t kDefaultCount = 10;

  uint64_t count = kDefaultCount;
  std::string_view pattern = "*";
  std::optional<std::string> type = {};  // in lower case; of SCAN alone
  bool no_values = false;                // of HSCAN alone

  bool Matches(std::string_view name) const noexcept { return pattern == "*" || GlobMatch(pattern, name); }
};

// As strtoul reads it, which is how Redis does: a sign and leading zeros are fine, "" is 0, and a zero byte
// ends the text. Nothing for other bytes or more than 64 bits. A cursor that no SCAN has answered is safe; it
// just shows what comes after it.
std::optional<uint64_t> ParseCursor(std::string_view text) noexcept;

// Reads what follows the cursor. False after having answered the error.
bool ReadScanOptions(Context& ctx, Args& args, ScanOptions& options);

}  // namespace mayfly
