#include "config/words.h"

#include <algorithm>
#include <cassert>
#include <cstdio>

#include "base/text/ascii.h"

namespace mayfly::config {
namespace {

constexpr std::string_view kSpaces = " \t\n\v\f\r";
constexpr size_t kMessageBytes = 80;

std::string Hex(char c) {
  char text[8];
  std::snprintf(text, sizeof text, "\\x%02x", static_cast<unsigned char>(c));
  return text;
}

// Reads the escape with its backslash at `at`, inside double quotes; moves `at` after the escape.
// REQUIRES: at + 1 < line.size().
char ReadEscape(std::string_view line, size_t& at) {
  assert(at + 1 < line.size());
  if (line[at + 1] == 'x' && at + 3 < line.size() && HexDigit(line[at + 2]) >= 0 &&
      HexDigit(line[at + 3]) >= 0) {
    const int value = HexDigit(line[at + 2]) * 16 + HexDigit(line[at + 3]);
    at += 4;
    return static_cast<char>(value);
  }
  const char letter = line[at + 1];
  at += 2;
  switch (letter) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return letter;
  }
}

// Reads the text between quotes into `word`; `at` moves from the opening quote to the byte after the closing quote. Returns
// false if the quotes do not pair up.
bool ReadQuoted(std::string_view line, size_t& at, std::string& word) {
  const char quote = line[at++];
  while (at < line.size() && line[at] != quote) {
    const bool escaped = line[at] == '\\' && at + 1 < line.size();
    if (escaped && quote == '"') {
      word += ReadEscape(line, at);
    } else if (escaped && line[at + 1] == '\'') {
      word += '\'';
      at += 2;
    } else {
      word += line[at++];
    }
  }
  if (at == line.size()) return false;
  ++at;
  return at == line.size() || kSpaces.find(line[at]) != std::string_view::npos;
}

}  // namespace

std::optional<std::vector<std::string>> SplitWords(std::string_view line) {
  std::vector<std::string> words;
  size_t at = 0;
  for (;;) {
    at = line.find_first_not_of(kSpaces, at);
    if (at == std::string_view::npos) return words;
    std::string word;
    while (at < line.size() && kSpaces.find(line[at]) == std::string_view::npos) {
      if (line[at] != '"' && line[at] != '\'') {
        word += line[at++];
      } else if (!ReadQuoted(line, at, word)) {
        return std::nullopt;
      }
    }
    words.push_back(std::move(word));
  }
}

std::string QuoteWord(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c >= ' ' && c <= '~') {
      quoted += c;
    } else {
      quoted += Hex(c);
    }
  }
  return quoted + '"';
}

std::vector<std::string> SplitAtSpaces(std::string_view text) {
  std::vector<std::string> words;
  if (text.empty()) return words;
  for (size_t end = text.find(' '); end != std::string_view::npos; end = text.find(' ')) {
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  words.emplace_back(text);
  return words;
}

std::string JoinWords(std::span<const std::string> words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) text.append(i == 0 ? "" : " ").append(words[i]);
  return text;
}

std::string Printable(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, kMessageBytes)) {
    if (c >= ' ' && c <= '~') {
      shown += c;
    } else {
      shown += Hex(c);
    }
  }
  if (text.size() > kMessageBytes) shown += "...";
  return shown;
}

}  // namespace mayfly::config
