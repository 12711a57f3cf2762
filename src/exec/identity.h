// Who the server says it is: HELLO and INFO.
#pragma once

#include <string_view>

namespace mayfly {

// Clients ask for features by these, so they are a promise: the name is Redis's, and the version is the
// newest one whose commands for a cache are all here. Raise it when the field TTLs of 7.4 are.
inline constexpr std::string_view kServerName = "redis";
inline constexpr std::string_view kRedisVersion = "7.2.4";

inline constexpr std::string_view kMayflyVersion = MAYFLY_VERSION;
inline constexpr std::string_view kServerMode = "standalone";
inline constexpr std::string_view kServerRole = "master";

}  // namespace mayfly
