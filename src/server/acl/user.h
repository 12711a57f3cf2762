// A user: passwords, flags and selectors. Changed rule by rule, in Redis's words.
//
//   on >secret ~app:* +@all -@dangerous (%R~shared:* +get)
//
// Passwords are kept as SHA-256 hashes. Sessions borrow users; a user that is changed is first copied, and
// assigned when all rules have been accepted (server/acl/users.h). Borrows the catalogue of commands.
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

  // Disabled, without a password, and allowed nothing; `all_channels`: but all channels (acl-pubsub-default).
  User(std::string_view name, const CommandCatalogue& catalogue, bool all_channels)
      : name_(name), catalogue_(&catalogue), selectors_{Selector(catalogue, all_channels)} {}

  // One rule. `all_channels`: what new selectors and a reset begin with. On an error nothing is changed. Throws
  // std::bad_alloc.
  [[nodiscard]] RuleError Apply(std::string_view rule, bool all_channels);

  const std::string& name() const noexcept { return name_; }
  bool enabled() const noexcept { return enabled_; }
  // Any password is right.
  bool needs_no_password() const noexcept { return needs_no_password_; }
  const std::vector<std::string>& passwords() const noexcept { return passwords_; }  // hashes
  // The first one is the user's own.
  const std::vector<Selector>& selectors() const noexcept { return selectors_; }
  // Whether there is a call that it may not make.
  bool restricted() const noexcept { return restricted_; }
  const QuickRights& quick() const noexcept { return quick_; }
  void SetQuick(QuickRights quick) noexcept {
    quick_ = std::move(quick);
    known_heads_.Clear();
  }
  // Whether keys of its requests are to be looked at, one by one, to know whether it may make them. Others of its requests are
  // allowed whatever they name, or are not allowed quickly.
  bool tests_keys() const noexcept { return restricted_ && quick_.tests_keys(); }
  // Whether it may make every call of this command, as far as is known quickly.
  bool MayFreely(uint32_t command_id) const noexcept { return !restricted_ || quick_.Freely(command_id); }
  // A cache, which looking at a user fills.
  KnownHeads& known_heads() const noexcept { return known_heads_; }

  // Whether it may log in with this password. Its time does not depend on how much of the password is right.
  bool Accepts(std::string_view password) const;
  // "on", "nopass" ...: what ACL GETUSER calls its flags.
  std::vector<std::string_view> Flags() const;
  // Rules that make such a user of a new one: "on #hash ~app:* resetchannels -@all +get".
  std::string Describe() const;

 private:
  // Whether dumped values that it restores are checked in depth. Only shown: Mayfly always checks them.
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

// Whether both are the same. Its time depends on the length of `given` only, not on how much of it is right.
bool SameSecret(std::string_view given, std::string_view secret) noexcept;

// A client's or a file's words as rules: a selector that was split at its spaces becomes one rule again.
struct MergedRules {
  std::vector<std::string> rules;
  bool unmatched = false;      // a selector does not end
  size_t unmatched_index = 0;  // the word that begins it
};
MergedRules MergeSelectors(std::span<const std::string_view> words);

}  // namespace mayfly
