// A user: passwords, flags and selectors. Changed rule by rule, in Redis's words.
//
//   on >secret ~app:* +@all -@dangerous (%R~shared:* +get)
//
// Passwords are kept as SHA-256 hashes. Sessions borrow users; a change works on a copy of the user, assigned when all rules
// have been accepted (server/acl/users.h). Borrows the catalogue of commands.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/acl/known_heads.h"
#include "server/acl/quick_rights.h"
#include "server/acl/rule_error.h"
#include "server/acl/selector.h"

namespace mayfly {

class User {
 public:
  static constexpr std::string_view kDefaultName = "default";

  // A disabled user without a password and without rights. `all_channels`: with the right to all channels
  // (acl-pubsub-default).
  User(std::string_view name, const CommandCatalogue& catalogue, bool all_channels)
      : name_(name), catalogue_(&catalogue), selectors_{Selector(catalogue, all_channels)} {}

  // Applies one rule. `all_channels`: the right to channels of new selectors and after a reset. An error changes nothing.
  // Throws std::bad_alloc.
  [[nodiscard]] RuleError Apply(std::string_view rule, bool all_channels);

  const std::string& name() const noexcept { return name_; }
  bool enabled() const noexcept { return enabled_; }
  // Any password is right.
  bool needs_no_password() const noexcept { return needs_no_password_; }
  const std::vector<std::string>& passwords() const noexcept { return passwords_; }  // hashes
  // The first selector is the user's main selector.
  const std::vector<Selector>& selectors() const noexcept { return selectors_; }
  // True if some call is forbidden to the user.
  bool restricted() const noexcept { return restricted_; }
  const QuickRights& quick() const noexcept { return quick_; }
  void SetQuick(QuickRights quick) noexcept {
    quick_ = std::move(quick);
    known_heads_.Clear();
  }
  // True if keys must be tested, request by request, before a request may run. The user's other requests are allowed with
  // any arguments, or need all rules.
  bool tests_keys() const noexcept { return restricted_ && quick_.tests_keys(); }
  // True if the user may make every call of this command, as far as known quickly.
  bool MayFreely(uint32_t command_id) const noexcept { return !restricted_ || quick_.Freely(command_id); }
  // A cache, filled also by const uses of a user.
  KnownHeads& known_heads() const noexcept { return known_heads_; }

  // True if the user may log in with this password. The time does not depend on how much of the password is right.
  bool Accepts(std::string_view password) const;
  // "on", "nopass" ...: the flags shown by ACL GETUSER.
  std::vector<std::string_view> Flags() const;
  // Rules that turn a new user into an equal user: "on #hash ~app:* resetchannels -@all +get".
  std::string Describe() const;

 private:
  // The flag for deep checks of restored values (sanitize-payload). Only shown: Mayfly always checks.
  enum class Sanitizing : uint8_t { kUnsaid, kOn, kSkipped };

  RuleError ApplyOne(std::string_view rule, bool all_channels);
  bool ApplyToFlags(std::string_view rule);
  RuleError AddPassword(std::string_view rule);
  RuleError RemovePassword(std::string_view rule);
  RuleError AddSelector(std::string_view rule, bool all_channels);
  void Reset(bool all_channels);

  std::string name_;
  const CommandCatalogue* catalogue_;
  bool enabled_ = false;
  bool needs_no_password_ = false;
  bool restricted_ = true;
  Sanitizing sanitizing_ = Sanitizing::kUnsaid;
  std::vector<std::string> passwords_;
  std::vector<Selector> selectors_;
  QuickRights quick_;
  mutable KnownHeads known_heads_;
};

// True if both texts are equal. The time depends only on the length of `given`, not on how much is right.
bool SameSecret(std::string_view given, std::string_view secret) noexcept;

// The words of a client or a file as rules: a selector split at its spaces becomes one rule again.
struct MergedRules {
  std::vector<std::string> rules;
  bool unmatched = false;      // a selector does not end
  size_t unmatched_index = 0;  // the word that begins the selector
};
MergedRules MergeSelectors(std::span<const std::string_view> words);

}  // namespace mayfly
