// All users by name. The user `default` always exists.
//
// While the default user is enabled and needs no password, every client is the default user from the start; a session
// without a user must therefore log in. A password set later applies to later connections: connected clients stay logged in.
//
// Sessions borrow users; the address of a user stays the same until the user is removed. A change or removal of a user must
// also update the user's sessions (exec/acl/user_changes.h). Loop thread only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "server/acl/user.h"

namespace mayfly {

class Users {
 public:
  using ByName = std::map<std::string, std::unique_ptr<User>, std::less<>>;

  // Makes the default user. Borrows the catalogue. REQUIRES: called once, before any other method.
  void Begin(const CommandCatalogue& catalogue);
  const CommandCatalogue& catalogue() const noexcept { return *catalogue_; }

  User& default_user() const noexcept { return *default_; }
  // Null for an unknown name.
  User* Find(std::string_view name) const;
  const ByName& by_name() const noexcept { return by_name_; }
  size_t size() const noexcept { return by_name_.size(); }

  // Assigns `user` to the user of the same name, made if unknown. Throws std::bad_alloc.
  User& Put(User user);
  // Removes and returns a user; null for an unknown name. REQUIRES: not the default user.
  std::unique_ptr<User> Remove(std::string_view name);

  // Replaces all users but the default user by the users of `others`.
  void TakeOthers(Users others) noexcept;

  // True if some user has a password to be guessed.
  bool guarded() const noexcept;
  // The user of a client before its login; null: the client must log in.
  const User* Newcomer() const noexcept {
    return default_->enabled() && default_->needs_no_password() ? default_ : nullptr;
  }
  // The user of this name if enabled and if the password is right, else null.
  const User* Check(std::string_view name, std::string_view password) const;

  // A user with all rights and without a password: the default user before any change.
  static User MakeDefault(const CommandCatalogue& catalogue);

 private:
  const CommandCatalogue* catalogue_ = nullptr;
  ByName by_name_;
  User* default_ = nullptr;
};

// Gives `user` the password of the option requirepass; empty: no password needed. Throws std::bad_alloc.
void SetOnlyPassword(User& user, std::string_view password);

}  // namespace mayfly
