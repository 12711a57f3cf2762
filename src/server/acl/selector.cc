#include "server/acl/selector.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/glob.h"

namespace mayfly {

bool AnyAllows(const std::vector<std::string>& patterns, std::string_view channel, bool is_pattern) noexcept {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return is_pattern ? pattern == channel : GlobMatch(pattern, channel);
  });
}

// "~app:*", or "%R~app:*" with one or both letters.
RuleError Selector::AddKeys(std::string_view rule) {
  if (all_keys_) return RuleError::kAfterAllKeys;
  uint8_t access = 0;
  size_t at = 1;
  if (rule[0] == '~') {
    access = kReadsKey | kWritesKey;
  } else {
    for (; at < rule.size() && rule[at] != '~'; ++at) {
      const char letter = Upper(rule[at]);
      const uint8_t added = letter == 'R' ? kReadsKey : letter == 'W' ? kWritesKey : 0;
      if (added == 0 || (access & added) != 0) return RuleError::kSyntax;
      access |= added;
    }
    if (access == 0) return RuleError::kSyntax;
    at = std::min(at + 1, rule.size());
  }
  const std::string_view text = rule.substr(at);
  if (HasSpaces(text)) return RuleError::kSyntax;
  const auto same = std::find_if(keys_.begin(), keys_.end(),
                                 [&](const KeyPattern& pattern) { return pattern.text == text; });
  if (same != keys_.end())
    same->access |= access;
  else
    keys_.push_back({std::string(text), access});
  return RuleError::kNone;
}

RuleError Selector::AddChannels(std::string_view pattern) {
  if (all_channels_) return RuleError::kAfterAllChannels;
  if (HasSpaces(pattern)) return RuleError::kSyntax;
  if (std::find(channels_.begin(), channels_.end(), pattern) == channels_.end())
    channels_.emplace_back(pattern);
  return RuleError::kNone;
}

RuleError Selector::Apply(std::string_view rule) {
  const auto is = [&](std::string_view word) { return SameIgnoringCase(rule, word); };
  if (is("allkeys") || is("~*") || is("resetkeys")) {
    all_keys_ = !is("resetkeys");
    keys_.clear();
  } else if (is("allchannels") || is("&*") || is("resetchannels")) {
    all_channels_ = !is("resetchannels");
    channels_.clear();
  } else if (rule.starts_with('~') || rule.starts_with('%')) {
    return AddKeys(rule);
  } else if (rule.starts_with('&')) {
    return AddChannels(rule.substr(1));
  } else {
    return commands_.Apply(rule);
  }
  return RuleError::kNone;
}

bool Selector::MayUseKey(std::string_view key, uint8_t access) const noexcept {
  return all_keys_ || std::any_of(keys_.begin(), keys_.end(), [&](const KeyPattern& pattern) {
           return (pattern.access & access) == access && GlobMatch(pattern.text, key);
         });
}

bool Selector::MayUseAnyKey(uint8_t access) const noexcept {
  return all_keys_ || std::any_of(keys_.begin(), keys_.end(), [&](const KeyPattern& pattern) {
           return (pattern.access & access) == access && pattern.text == "*";
         });
}

bool Selector::MayUseChannel(std::string_view channel, bool is_pattern) const noexcept {
  return all_channels_ || AnyAllows(channels_, channel, is_pattern);
}

// As in Redis, "~*" also describes a pattern for all keys with both accesses; but not before further patterns, because no
// pattern may follow "~*".
std::string Selector::DescribeKeys() const {
  if (all_keys_) return "~*";
  std::string text;
  for (const KeyPattern& pattern : keys_) {
    if (!text.empty()) text += ' ';
    const bool both = pattern.access == (kReadsKey | kWritesKey);
    const bool all_of_several = both && pattern.text == "*" && keys_.size() > 1;
    text.append(all_of_several ? "%RW~" : both ? "~" : pattern.access == kReadsKey ? "%R~" : "%W~");
    text += pattern.text;
  }
  return text;
}

std::string Selector::DescribeChannels() const {
  if (all_channels_) return "&*";
  std::string text;
  for (const std::string& pattern : channels_) text.append(text.empty() ? "&" : " &").append(pattern);
  return text;
}

std::string Selector::Describe() const {
  std::string text = DescribeKeys();
  if (!text.empty()) text += ' ';
  if (!all_channels_) text += "resetchannels ";
  const std::string channels = DescribeChannels();
  text += channels;
  if (!channels.empty()) text += ' ';
  return text + commands_.Describe();
}

}  // namespace mayfly
