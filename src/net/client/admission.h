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
  kProtected,  // from another machine, while protected-mode is on and nobody has to log in
};

struct Visitor {
  bool needs_no_login = true;  // whoever comes in is the default user
  bool over_unix_socket;
  bool from_loopback;
  size_t clients_before;  // clients that are connected already
  size_t clients_max;     // maxclients, or what an observer's service allows
};

Verdict VerdictOn(const config::Settings& settings, const Visitor& visitor) noexcept;

// The whole reply to send before closing. REQUIRES: verdict != kWelcome.
std::string_view RefusalOf(Verdict verdict) noexcept;

}  // namespace mayfly::net
