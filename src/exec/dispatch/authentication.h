// Who may come in: the one user `default` with the password of the option requirepass.
#pragma once

#include <string_view>

#include "config/settings.h"
#include "server/session.h"

namespace mayfly {

inline constexpr std::string_view kDefaultUser = "default";

// Whether both are the same. Its time depends on the length of `given` only, not on how much of it is right.
inline bool SameSecret(std::string_view given, std::string_view secret) noexcept {
  unsigned char differing = given.size() == secret.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    const char expected = secret.empty() ? '\0' : secret[i % secret.size()];
    differing = static_cast<unsigned char>(differing | static_cast<unsigned char>(given[i] ^ expected));
  }
  return differing == 0;
}

// Lets the session in when user and password are right; what it was let in for before stays otherwise.
// Without a password set, every password of the user `default` is right, as in Redis.
[[nodiscard]] inline bool Authenticate(Session& session, const config::Settings& settings,
                                       std::string_view user, std::string_view password) noexcept {
  const bool right = settings.requirepass.empty() || SameSecret(password, settings.requirepass);
  if (!right || user != kDefaultUser) return false;
  session.authenticated = true;
  return true;
}

inline bool MayEnter(const Session& session, const config::Settings& settings) noexcept {
  return session.authenticated || settings.requirepass.empty();
}

}  // namespace mayfly
