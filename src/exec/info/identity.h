// The name and version of the server in HELLO and INFO.
#pragma once

#include <string_view>

#include "server/server.h"

namespace mayfly {

// Clients decide by these which features they use: the name is Redis's, and the version is the newest one
// whose commands for a cache are all implemented.
inline constexpr std::string_view kServerName = "redis";
inline constexpr std::string_view kRedisVersion = "7.4.0";

inline constexpr std::string_view kMayflyVersion = MAYFLY_VERSION;
inline constexpr std::string_view kServerRole = "master";
inline std::string_view ModeOf(const Server& server) noexcept {
  return server.cluster != nullptr ? "cluster" : "standalone";
}

}  // namespace mayfly
