// Splits lines into words and quotes words, by the rules of redis.conf. Makes texts printable for messages.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::config {

// Splits at white space. Inside "..." the escapes \n \r \t \b \a \xHH are known, and \ before any other byte
// stands for that byte; inside '...' only \' is known. A closing quote must end its word. Returns nothing if
// quotes do not pair up.
std::optional<std::vector<std::string>> SplitWords(std::string_view line);

// `text` in double quotes, as one word that SplitWords reads back, whatever its bytes are.
std::string QuoteWord(std::string_view text);

// Splits at each space and knows no quotes: this is how Redis splits the value of a CONFIG SET. Between two
// spaces there is an empty word. An empty text has no words.
std::vector<std::string> SplitAtSpaces(std::string_view text);

// Joins with single spaces. SplitAtSpaces gives the words back, if none of them holds a space.
std::string JoinWords(std::span<const std::string> words);

// For messages: bytes that would not print on one line are shown as \xHH, and a long text is cut.
std::string Printable(std::string_view text);

}  // namespace mayfly::config
