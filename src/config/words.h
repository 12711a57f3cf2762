// Splits lines into words and quotes words, by the rules of redis.conf. Makes texts printable for messages.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::config {

// Splits at white space. Inside "..." the escapes are \n \r \t \b \a \xHH, and \ before any other byte stands for that byte;
// inside '...' the only escape is \'. A closing quote must end its word. Returns nothing if quotes do not pair up.
std::optional<std::vector<std::string>> SplitWords(std::string_view line);

// Returns `text` in double quotes, as one word that SplitWords reads back, for any bytes.
std::string QuoteWord(std::string_view text);

// Splits at each space without regard to quotes, as Redis splits the value of a CONFIG SET. Two spaces enclose an empty
// word. An empty text has no words.
std::vector<std::string> SplitAtSpaces(std::string_view text);

// Joins with single spaces. SplitAtSpaces gives the words back, unless a word holds a space.
std::string JoinWords(std::span<const std::string> words);

// For messages: bytes that would not print on one line are shown as \xHH, and a long text is cut.
std::string Printable(std::string_view text);

}  // namespace mayfly::config
