// All users by name. There is always the user `default`.
//
// While the default user is enabled and needs no password, everybody is that user from the start; so a session without a
// user is always one that has to log in. A password that is set later applies to clients that connect from then
// on: those that are there stay logged in.
//
// Sessions borrow users, whose addresses stay the same until they are removed. Whoever changes or removes a user
// tells its sessions (exec/acl/user_changes.h). Loop thread only.
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

  // Makes the default user. Borrows the catalogue. REQUIRES: called once, before anything else.
  void Begin(const CommandCatalogue& catalogue);
  const CommandCatalogue& catalogue() const noexcept { return *catalogue_; }

  User& default_user() const noexcept { return *default_; }
  // Null if there is none.
  User* Find(std::string_view name) const;
  const ByName& by_name() const noexcept { return by_name_; }
  size_t size() const noexcept { return by_name_.size(); }

  // The user of that name, new if there was none, gets what `user` has. Throws std::bad_alloc.
  User& Put(User user);
  // The user without a place among the others; null if there is none. REQUIRES: it is not the default user.
  std::unique_ptr<User> Remove(std::string_view name);

  // All users but the default one go, and those of `others` come in their place.
  void TakeOthers(Users others) noexcept;

  // Whether somebody has a password to be guessed.
  bool guarded() const noexcept;
  // Who a client is before it logs in; null: nobody.
  const User* Newcomer() const noexcept {
    return default_->enabled() && default_->needs_no_password() ? default_ : nullptr;
  }
  // The user of this name if it is enabled and the password is right, else null.
  const User* Check(std::string_view name, std::string_view password) const;

  // One that may do everything without a password: what the default user is unless somebody changes it.
  static User MakeDefault(const CommandCatalogue& catalogue);

 private:
  const CommandCatalogue* catalogue_ = nullptr;
  ByName by_name_;
  User* default_ = nullptr;
};

// Gives `user` the password of the option requirepass; an empty one: it needs none. Throws std::bad_alloc.
void SetOnlyPassword(User& user, std::string_view password);

}  // namespace mayfly
