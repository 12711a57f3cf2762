// Who may use the server. There is one user, `default`, with the password of the option requirepass.
//
// While the default user needs no password, everybody is that user from the start; so a session without a user
// is always one that has to log in. A password that is set later applies to clients that connect from then on:
// those that are there stay logged in.
//
// Sessions borrow users, which live as long as this. A change of a user's rules concerns its sessions after
// their next Session::LogIn. Loop thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly {

struct User {
  static constexpr std::string_view kDefaultName = "default";

  std::string name;
  const std::string* password = nullptr;  // borrowed; null or empty: none is needed
  // Commands that the user may not run, by TableRow::id; those beyond the end are allowed.
  std::vector<bool> forbidden = {};

  bool restricted() const noexcept { return !forbidden.empty(); }
  bool MayRun(uint32_t row_id) const noexcept { return row_id >= forbidden.size() || !forbidden[row_id]; }
};

// Whether both are the same. Its time depends on the length of `given` only, not on how much of it is right.
inline bool SameSecret(std::string_view given, std::string_view secret) noexcept {
  unsigned char differing = given.size() == secret.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    const char expected = secret.empty() ? '\0' : secret[i % secret.size()];
    differing = static_cast<unsigned char>(differing | static_cast<unsigned char>(given[i] ^ expected));
  }
  return differing == 0;
}

class Users {
 public:
  User& default_user() noexcept { return default_; }
  // Whether there is a password to be guessed.
  bool guarded() const noexcept { return default_.password != nullptr && !default_.password->empty(); }
  // Who a client is before it logs in; null: nobody.
  const User* Newcomer() const noexcept { return guarded() ? nullptr : &default_; }
  // The user of this name if the password is right, else null. Without a password set, every password of the
  // user `default` is right, as in Redis.
  const User* Check(std::string_view name, std::string_view password) const noexcept {
    const bool right = !guarded() || SameSecret(password, *default_.password);
    return right && name == User::kDefaultName ? &default_ : nullptr;
  }

 private:
  User default_{.name = std::string(User::kDefaultName)};
};

}  // namespace mayfly
