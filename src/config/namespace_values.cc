#include "config/namespace_values.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "base/databases_max.h"
#include "base/text/ascii.h"
#include "base/text/numbers.h"
#include "config/nearest.h"
#include "config/scalars.h"
#include "config/words.h"

namespace mayfly::config {
namespace {

constexpr size_t kNameMax = 64;
constexpr size_t kPrefixMax = 1024;
constexpr std::array<std::string_view, 4> kNamespaceWords = {"prefix", "maxmemory", "maxkeys", "default-ttl"};

bool IsNamespaceWord(std::string_view word) noexcept {
  return std::any_of(kNamespaceWords.begin(), kNamespaceWords.end(),
                     [&](auto known) { return SameIgnoringCase(word, known); });
}

// A name begins with a letter: a number after a misspelt word must not count as one more namespace.
bool IsName(std::string_view text) noexcept {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  const bool begins = !text.empty() && ((text[0] | 0x20) >= 'a' && (text[0] | 0x20) <= 'z');
  return begins && text.size() <= kNameMax && std::all_of(text.begin(), text.end(), fits);
}

// A prefix stands between commas in INFO, and between spaces in CONFIG SET.
bool IsPrefix(std::string_view text) noexcept {
  const auto fits = [](char c) {
    return c > ' ' && c <= '~' && c != ',' && c != '"' && c != '\'' && c != '\\';
  };
  return !text.empty() && text.size() <= kPrefixMax && std::all_of(text.begin(), text.end(), fits);
}

Problem ReadPart(const std::string& word, const std::string& value, NamespaceTerms& space) {
  if (SameIgnoringCase(word, "default-ttl")) return ReadDuration(value, space.default_ttl);
  if (SameIgnoringCase(word, "prefix")) {
    if (!IsPrefix(value))
      return "a prefix has 1 to 1024 printable characters, but no spaces, commas, quotes and backslashes";
    space.prefix = value;
    return std::nullopt;
  }
  const std::optional<uint64_t> amount = ParseBytes(value);
  const bool bytes = SameIgnoringCase(word, "maxmemory");
  if (!amount || *amount > kBytesMax)
    return bytes ? "maxmemory must be a memory value" : "maxkeys must be a number, as 500, 10k or 1m";
  (bytes ? space.maxmemory_bytes : space.maxkeys) = *amount;
  return std::nullopt;
}

// A misspelt word must not become one more namespace.
Problem CheckName(const std::string& name) {
  if (!IsName(name))
    return "a name has 1 to 64 letters, digits, '-', '_' and '.', and begins with a letter: '" +
           Printable(name) + "'";
  if (IsNamespaceWord(name)) return "a namespace begins with its name";
  for (const std::string_view word : kNamespaceWords) {
    if (AreNear(name, word))
      return "'" + name + "' is too much like the word '" + std::string(word) + "' to be a name";
  }
  return std::nullopt;
}

// Takes the words after the name from the front of `words`, up to the next name.
Problem ReadTerms(std::span<const std::string>& words, NamespaceTerms& space) {
  if (words.empty() || !IsNamespaceWord(words[0])) {
    const std::string found = words.empty() ? "nothing" : "'" + Printable(words[0]) + "'";
    return "after '" + space.name + "' comes prefix, maxmemory, maxkeys or default-ttl with its value, not " +
           found;
  }
  while (!words.empty() && IsNamespaceWord(words[0])) {
    if (words.size() < 2) return "a value is missing after '" + words[0] + "'";
    if (Problem problem = ReadPart(words[0], words[1], space)) return problem;
    words = words.subspan(2);
  }
  return std::nullopt;
}

// Adds `space`, or replaces the namespace with the same name.
void Put(NamespaceTerms space, std::vector<NamespaceTerms>& all) {
  const auto same =
      std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.name == space.name; });
  if (same != all.end())
    *same = std::move(space);
  else
    all.push_back(std::move(space));
}

Problem CheckPrefixes(const std::vector<NamespaceTerms>& all) {
  for (auto space = all.begin(); space != all.end(); ++space) {
    const auto other =
        std::find_if(all.begin(), space, [&](const auto& before) { return before.prefix == space->prefix; });
    if (other != space) return "'" + other->name + "' and '" + space->name + "' have the same prefix";
  }
  return std::nullopt;
}

}  // namespace

Problem ReadNamespaces(std::span<const std::string> words, std::vector<NamespaceTerms>& spaces) {
  if (words.empty() || (words.size() == 1 && words[0].empty())) {
    spaces.clear();
    return std::nullopt;
  }
  std::vector<NamespaceTerms> all = spaces;
  while (!words.empty()) {
    NamespaceTerms space{.name = words[0], .prefix = words[0] + ":"};
    words = words.subspan(1);
    if (Problem problem = CheckName(space.name)) return problem;
    if (Problem problem = ReadTerms(words, space)) return problem;
    Put(std::move(space), all);
  }
  if (Problem problem = CheckPrefixes(all)) return problem;
  spaces = std::move(all);
  return std::nullopt;
}

Problem ChangeNamespace(const std::string& name, std::span<const std::string> words,
                        std::vector<NamespaceTerms>& spaces) {
  if (Problem problem = CheckName(name)) return problem;
  const auto known =
      std::find_if(spaces.begin(), spaces.end(), [&](const auto& other) { return other.name == name; });
  NamespaceTerms space = known != spaces.end() ? *known : NamespaceTerms{.name = name, .prefix = name + ":"};
  if (Problem problem = ReadTerms(words, space)) return problem;
  if (!words.empty())
    return "'" + Printable(words[0]) + "' is none of prefix, maxmemory, maxkeys, default-ttl";
  std::vector<NamespaceTerms> all = spaces;
  Put(std::move(space), all);
  if (Problem problem = CheckPrefixes(all)) return problem;
  spaces = std::move(all);
  return std::nullopt;
}

std::string FormatNamespaces(const std::vector<NamespaceTerms>& spaces) {
  std::vector<std::string> words;
  for (const NamespaceTerms& space : spaces) {
    words.insert(words.end(), {space.name, "prefix", space.prefix});
    if (space.maxmemory_bytes != 0)
      words.insert(words.end(), {"maxmemory", std::to_string(space.maxmemory_bytes)});
    if (space.maxkeys != 0) words.insert(words.end(), {"maxkeys", std::to_string(space.maxkeys)});
    if (space.default_ttl.ms != 0)
      words.insert(words.end(), {"default-ttl", FormatDuration(space.default_ttl)});
  }
  return JoinWords(words);
}

Problem CheckNamespaces(const Settings& settings) {
  const auto databases = static_cast<size_t>(settings.databases);
  if (databases + settings.namespaces.size() <= kDatabasesMax) return std::nullopt;
  return std::to_string(settings.namespaces.size()) + " namespaces beside " + std::to_string(databases) +
         " databases are too many: there may be " + std::to_string(kDatabasesMax) + " of both together";
}

}  // namespace mayfly::config
