// The name and version of the server in HELLO and INFO.
#pragma once

#include <string_view>

#include "server/server.h"

namespace mayfly {

// Clients choose their features by name and version: the name is Redis's, and the version is the newest with all its
// commands for a cache implemented here.
inline constexpr std::string_view kServerName = "redis";
inline constexpr std::string_view kRedisVersion = "7.4.0";

inline constexpr std::string_view kMayflyVersion = MAYFLY_VERSION;
inline std::string_view ModeOf(const Server& server) noexcept {
  return server.cluster != nullptr ? "cluster" : "standalone";
}

}  // namespace mayfly
