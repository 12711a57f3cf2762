#include "config/ttl_rule_values.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text/ascii.h"
#include "base/text/numbers.h"
#include "config/scalars.h"
#include "config/words.h"

namespace mayfly::config {
namespace {

// Every write goes through the list, so the list must not be long.
constexpr size_t kRulesMax = 128;
constexpr int64_t kPercentMax = 100;
constexpr std::array<std::string_view, 5> kRuleWords = {"default", "max", "jitter", "required", "into"};

bool IsRuleWord(std::string_view word) noexcept {
  return std::any_of(kRuleWords.begin(), kRuleWords.end(),
                     [&](auto known) { return SameIgnoringCase(word, known); });
}

Problem ReadTime(std::string_view text, std::optional<Duration>& time) {
  return ReadDuration(text, time.emplace());
}

// Takes the words of one rule from the front of `words`.
Problem ReadOne(std::span<const std::string>& words, TtlRule& rule) {
  rule.pattern = words[0];
  // CONFIG SET and CONFIG REWRITE put words between spaces.
  if (rule.pattern.empty() || rule.pattern.find_first_of(" \t\r\n") != std::string::npos)
    return "a pattern must not be empty or contain spaces; '?' matches one";
  if (IsRuleWord(rule.pattern)) return "a rule begins with a pattern of keys";
  words = words.subspan(1);
  if (words.empty() || !IsRuleWord(words[0])) {
    const std::string instead = words.empty() ? "" : ", not '" + Printable(words[0]) + "'";
    return "after '" + Printable(rule.pattern) + "' comes default, max, jitter, into or required" + instead;
  }
  while (!words.empty() && IsRuleWord(words[0])) {
    const std::string& word = words[0];
    words = words.subspan(1);
    if (SameIgnoringCase(word, "required")) {
      rule.required = true;
      continue;
    }
    if (words.empty()) return "a value is missing after '" + word + "'";
    const std::string& value = words[0];
    words = words.subspan(1);
    if (SameIgnoringCase(word, "into")) {
      rule.stream = value;
      if (value.empty() || value.find_first_of(" \t\r\n") != std::string::npos)
        return "the name of a stream must not be empty or contain spaces";
    } else if (SameIgnoringCase(word, "jitter")) {
      rule.jitter_percent = ParseInteger(value);
      if (!rule.jitter_percent || *rule.jitter_percent < 0 || *rule.jitter_percent > kPercentMax)
        return "jitter must be a percentage between 0 and 100";
    } else if (Problem problem =
                   ReadTime(value, SameIgnoringCase(word, "max") ? rule.max_ttl : rule.default_ttl)) {
      return problem;
    }
  }
  return std::nullopt;
}

}  // namespace

Problem ReadTtlRules(std::span<const std::string> words, std::vector<TtlRule>& rules) {
  if (words.empty() || (words.size() == 1 && words[0].empty())) {
    rules.clear();
    return std::nullopt;
  }
  std::vector<TtlRule> more;
  while (!words.empty()) {
    if (Problem problem = ReadOne(words, more.emplace_back())) return problem;
  }
  if (rules.size() + more.size() > kRulesMax) return "there may be at most 128 rules";
  rules.insert(rules.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return std::nullopt;
}

std::string FormatTtlRules(const std::vector<TtlRule>& rules) {
  std::vector<std::string> words;
  for (const TtlRule& rule : rules) {
    words.push_back(rule.pattern);
    const auto add = [&words](const char* word, const std::optional<Duration>& time) {
      if (time) words.insert(words.end(), {word, FormatDuration(*time)});
    };
    add("default", rule.default_ttl);
    add("max", rule.max_ttl);
    if (rule.jitter_percent) words.insert(words.end(), {"jitter", std::to_string(*rule.jitter_percent)});
    if (rule.required) words.emplace_back("required");
    if (!rule.stream.empty()) words.insert(words.end(), {"into", rule.stream});
  }
  return JoinWords(words);
}

}  // namespace mayfly::config
