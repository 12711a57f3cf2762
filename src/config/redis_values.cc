#include "config/redis_values.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/ascii.h"
#include "base/text/numbers.h"
#include "config/scalars.h"
#include "config/words.h"

namespace mayfly::config {
namespace {

// Each reader takes the text of the value, or its words if the value may have several, and writes the answer of CONFIG GET
// to `normal`. After a problem `normal` has no meaning.
using Words = std::span<const std::string>;

// The names of an option's choices, and the answer of CONFIG GET for each.
struct Choices {
  explicit Choices(std::string_view text) {
    while (!text.empty()) {
      const std::string_view choice = text.substr(0, text.find(' '));
      const size_t equals = choice.find('=');
      names.push_back(choice.substr(0, equals));
      answers.push_back(equals == std::string_view::npos ? choice : choice.substr(equals + 1));
      text.remove_prefix(std::min(choice.size() + 1, text.size()));
    }
  }

  // The index of `name`; names.size() for an unknown name.
  size_t Find(std::string_view name) const {
    const auto same = [name](std::string_view other) { return SameIgnoringCase(name, other); };
    return static_cast<size_t>(std::find_if(names.begin(), names.end(), same) - names.begin());
  }

  std::vector<std::string_view> names;
  std::vector<std::string_view> answers;
};

Problem ReadChoice(const Option& option, const std::string& text, std::string& normal) {
  const Choices choices(option.choices);
  const size_t chosen = choices.Find(text);
  if (chosen == choices.names.size()) return NoneOf(choices.names);
  normal = choices.answers[chosen];
  return std::nullopt;
}

Problem CheckOomScores(Words words) {
  constexpr size_t kProcesses = 3;  // of a master, a replica and a child
  constexpr int64_t kScoreMax = 2000;
  if (words.size() != kProcesses) return "wrong number of arguments";
  for (const std::string& word : words) {
    const std::optional<int64_t> score = ParseInteger(word);
    if (!score || *score < -kScoreMax || *score > kScoreMax)
      return "Invalid oom-score-adj-values, elements must be between -2000 and 2000.";
  }
  return std::nullopt;
}

Problem CheckTitleTemplate(std::string_view text) {
  constexpr std::array<std::string_view, 7> kVariables = {"title",    "listen-addr", "server-mode", "port",
                                                          "tls-port", "unixsocket",  "config-file"};
  const char* const wrong = "template format is invalid or contains unknown variables";
  if (text.find_first_not_of(' ') == std::string_view::npos) return wrong;
  for (size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at)) {
    const size_t end = text.find('}', at);
    if (end == std::string_view::npos) return wrong;
    const std::string_view name = text.substr(at + 1, end - at - 1);
    if (std::find(kVariables.begin(), kVariables.end(), name) == kVariables.end()) return wrong;
    at = end;
  }
  return std::nullopt;
}

// `normal` holds `words` joined.
Problem ReadAs(const Option& option, Foreign kind, Words words, std::string& normal) {
  const std::string text = normal;
  switch (kind) {
    case Foreign::kYesNo: {
      bool yes = false;
      Problem problem = ReadYesNo(text, yes);
      normal = yes ? "yes" : "no";
      return problem;
    }
    case Foreign::kInteger: {
      int64_t number = 0;
      return ReadInteger(option, text, number);
    }
    case Foreign::kBytes: {
      uint64_t bytes = 0;
      Problem problem = ReadByteCount(option, text, bytes);
      normal = std::to_string(bytes);
      return problem;
    }
    case Foreign::kChoice:
      return ReadChoice(option, text, normal);
    case Foreign::kText:
    case Foreign::kWords:
      return std::nullopt;
    case Foreign::kOomScores:
      return CheckOomScores(words);
    case Foreign::kFileName:
      return CheckName(option, text, "filename");
    case Foreign::kDirectoryName:
      return CheckName(option, text, "dirname");
    case Foreign::kTitleTemplate:
      return CheckTitleTemplate(text);
  }
  return std::nullopt;
}

}  // namespace

Problem ReadRedisValue(const Option& option, Foreign kind, std::span<const std::string> words,
                       std::string& text) {
  assert(option.target == Target(kind));
  std::string normal = JoinWords(words);
  Problem problem = ReadAs(option, kind, words, normal);
  if (!problem) text = std::move(normal);
  return problem;
}

}  // namespace mayfly::config
