// The rules for names of clients: CLIENT SETNAME, CLIENT SETINFO, HELLO SETNAME.
#pragma once

#include <algorithm>
#include <string_view>

namespace mayfly {

inline constexpr std::string_view kBadClientName =
    "ERR Client names cannot contain spaces, newlines or special characters.";

// Names stand in space-separated lines (CLIENT LIST), and thus have visible ASCII only. The empty name is allowed.
inline bool IsClientName(std::string_view name) noexcept {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '!' && c <= '~'; });
}

}  // namespace mayfly
