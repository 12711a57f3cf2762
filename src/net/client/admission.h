// Decides whether a new connection becomes a client. The decision alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "config/settings.h"

namespace mayfly::net {

enum class Verdict : uint8_t {
  kWelcome,
  kTooMany,    // maxclients is reached
  kProtected,  // from another machine, while protected-mode is on and no login is required
};

struct Visitor {
  bool needs_no_login = true;  // every new client is the default user
  bool over_unix_socket;
  bool from_loopback;
  size_t clients_before;  // already connected clients
  size_t clients_max;     // maxclients, or the limit of an scraper's service
};

Verdict VerdictOn(const config::Settings& settings, const Visitor& visitor) noexcept;

// The whole reply to send before closing. REQUIRES: verdict != kWelcome.
std::string_view RefusalOf(Verdict verdict) noexcept;

}  // namespace mayfly::net
