#include "server/acl/user.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "base/bits/sha256.h"
#include "base/text/ascii.h"
#include "config/words.h"

namespace mayfly {
namespace {

bool IsHash(std::string_view text) noexcept {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == kSha256Digits && std::all_of(text.begin(), text.end(), is_digit);
}

// The hash meant by ">password", "<password", "#hash" or "!hash"; nothing for an invalid hash.
std::optional<std::string> HashOf(std::string_view rule) {
  const std::string_view text = rule.substr(1);
  if (rule[0] == '>' || rule[0] == '<') return Sha256HexOf(text);
  if (!IsHash(text)) return std::nullopt;
  return std::string(text);
}

// A word of a selector, in quotes if the plain word could not be read back: a ')' at the end would end the selector.
std::string SelectorWord(const std::string& word) {
  const bool plain = word.find_first_of("\"'") == std::string::npos && !word.ends_with(')');
  return plain ? word : config::QuoteWord(word);
}

std::string InParentheses(const Selector& selector) {
  std::string text;
  for (const std::string& word : config::SplitAtSpaces(selector.Describe()))
    text.append(text.empty() ? " (" : " ").append(SelectorWord(word));
  return text + ")";
}

}  // namespace

bool SameSecret(std::string_view given, std::string_view secret) noexcept {
  unsigned char differing = given.size() == secret.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    const char expected = secret.empty() ? '\0' : secret[i % secret.size()];
    differing = static_cast<unsigned char>(differing | static_cast<unsigned char>(given[i] ^ expected));
  }
  return differing == 0;
}

MergedRules MergeSelectors(std::span<const std::string_view> words) {
  MergedRules merged;
  bool open = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (open) {
      merged.rules.back().append(" ").append(word);
      open = !word.ends_with(')');
      continue;
    }
    merged.rules.emplace_back(word);
    open = word.starts_with('(') && !word.ends_with(')');
    if (open) merged.unmatched_index = i;
  }
  merged.unmatched = open;
  return merged;
}

// Returns true if the rule is a flag.
bool User::ApplyToFlags(std::string_view rule) {
  const auto is = [&](std::string_view word) { return SameIgnoringCase(rule, word); };
  if (is("on") || is("off")) {
    enabled_ = is("on");
  } else if (is("nopass") || is("resetpass")) {
    needs_no_password_ = is("nopass");
    passwords_.clear();
  } else if (is("sanitize-payload") || is("skip-sanitize-payload")) {
    sanitizing_ = is("sanitize-payload") ? Sanitizing::kOn : Sanitizing::kSkipped;
  } else if (is("clearselectors")) {
    selectors_.erase(selectors_.begin() + 1, selectors_.end());
  } else {
    return false;
  }
  return true;
}

RuleError User::AddPassword(std::string_view rule) {
  std::optional<std::string> hash = HashOf(rule);
  if (!hash) return RuleError::kBadHash;
  if (std::find(passwords_.begin(), passwords_.end(), *hash) == passwords_.end())
    passwords_.push_back(std::move(*hash));
  needs_no_password_ = false;
  return RuleError::kNone;
}

RuleError User::RemovePassword(std::string_view rule) {
  const std::optional<std::string> hash = HashOf(rule);
  if (!hash) return RuleError::kBadHash;
  const auto found = std::find(passwords_.begin(), passwords_.end(), *hash);
  if (found == passwords_.end()) return RuleError::kNoSuchPassword;
  passwords_.erase(found);
  return RuleError::kNone;
}

// "(~a* +get)". As in Redis, a selector with unpaired quotes allows nothing.
RuleError User::AddSelector(std::string_view rule, bool all_channels) {
  Selector selector(*catalogue_, all_channels);
  const auto words = config::SplitWords(rule.substr(1, rule.size() - 2));
  for (const std::string& word : words.value_or(std::vector<std::string>{})) {
    if (const RuleError error = selector.Apply(word); error != RuleError::kNone) return error;
  }
  selectors_.push_back(std::move(selector));
  return RuleError::kNone;
}

void User::Reset(bool all_channels) {
  User fresh(name_, *catalogue_, all_channels);
  fresh.sanitizing_ = Sanitizing::kOn;
  *this = std::move(fresh);
}

RuleError User::ApplyOne(std::string_view rule, bool all_channels) {
  if (rule.empty() || ApplyToFlags(rule)) return RuleError::kNone;
  if (rule[0] == '>' || rule[0] == '#') return AddPassword(rule);
  if (rule[0] == '<' || rule[0] == '!') return RemovePassword(rule);
  if (rule.size() > 1 && rule.starts_with('(') && rule.ends_with(')')) return AddSelector(rule, all_channels);
  if (!SameIgnoringCase(rule, "reset")) return selectors_[0].Apply(rule);
  Reset(all_channels);
  return RuleError::kNone;
}

RuleError User::Apply(std::string_view rule, bool all_channels) {
  const RuleError error = ApplyOne(rule, all_channels);
  restricted_ = std::none_of(selectors_.begin(), selectors_.end(),
                             [](const Selector& selector) { return selector.AllowsAll(); });
  return error;
}

// Compares with every password: the time must not tell the right password's place.
bool User::Accepts(std::string_view password) const {
  if (!enabled_) return false;
  if (needs_no_password_) return true;
  const std::string hash = Sha256HexOf(password);
  bool accepted = false;
  for (const std::string& known : passwords_) accepted |= SameSecret(hash, known);
  return accepted;
}

std::vector<std::string_view> User::Flags() const {
  std::vector<std::string_view> flags{enabled_ ? "on" : "off"};
  if (needs_no_password_) flags.emplace_back("nopass");
  if (sanitizing_ == Sanitizing::kSkipped) flags.emplace_back("skip-sanitize-payload");
  if (sanitizing_ == Sanitizing::kOn) flags.emplace_back("sanitize-payload");
  return flags;
}

std::string User::Describe() const {
  std::string text;
  for (const std::string_view flag : Flags()) text.append(flag).append(" ");
  for (const std::string& hash : passwords_) text.append("#").append(hash).append(" ");
  text += selectors_[0].Describe();
  for (size_t i = 1; i < selectors_.size(); ++i) text += InParentheses(selectors_[i]);
  return text;
}

}  // namespace mayfly
