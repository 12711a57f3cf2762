#include "server/acl/users.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace mayfly {
namespace {

// Applies a rule known to be right.
void Apply(User& user, std::string_view rule) {
  const RuleError error = user.Apply(rule, /*all_channels=*/false);
  assert(error == RuleError::kNone);
  static_cast<void>(error);
}

}  // namespace

User Users::MakeDefault(const CommandCatalogue& catalogue) {
  User user(User::kDefaultName, catalogue, /*all_channels=*/false);
  for (const std::string_view rule : {"+@all", "~*", "&*", "on", "nopass"}) Apply(user, rule);
  return user;
}

void Users::Begin(const CommandCatalogue& catalogue) {
  assert(catalogue_ == nullptr);
  catalogue_ = &catalogue;
  default_ = &Put(MakeDefault(catalogue));
}

User* Users::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found != by_name_.end() ? found->second.get() : nullptr;
}

User& Users::Put(User user) {
  if (User* const found = Find(user.name())) {
    *found = std::move(user);
    return *found;
  }
  std::string name = user.name();
  return *by_name_.emplace(std::move(name), std::make_unique<User>(std::move(user))).first->second;
}

std::unique_ptr<User> Users::Remove(std::string_view name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  assert(found->second.get() != default_);
  std::unique_ptr<User> user = std::move(found->second);
  by_name_.erase(found);
  return user;
}

void Users::TakeOthers(Users others) noexcept {
  others.by_name_.find(User::kDefaultName)->second.swap(by_name_.find(User::kDefaultName)->second);
  by_name_ = std::move(others.by_name_);
}

bool Users::guarded() const noexcept {
  return std::any_of(by_name_.begin(), by_name_.end(), [](const auto& named) {
    return !named.second->needs_no_password() || !named.second->enabled();
  });
}

const User* Users::Check(std::string_view name, std::string_view password) const {
  const User* const user = Find(name);
  return user != nullptr && user->Accepts(password) ? user : nullptr;
}

void SetOnlyPassword(User& user, std::string_view password) {
  Apply(user, "resetpass");
  password.empty() ? Apply(user, "nopass") : Apply(user, ">" + std::string(password));
}

}  // namespace mayfly
