// Lines into words and back, by the quoting rules of redis.conf; and texts made fit for a message.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::config {

// Splits at white space. "..." knows \n \r \t \b \a \xHH and \ before any other byte; '...' knows only \'. A
// closing quote must end its word. Nothing for quotes that do not pair up.
std::optional<std::vector<std::string>> SplitWords(std::string_view line);

// One word that SplitWords reads back as `text`, whatever bytes it holds; always in double quotes.
std::string QuoteWord(std::string_view text);

// Splits at each space, without any quoting, as CONFIG SET and Redis do for a value of several words: two
// spaces have an empty word between them. No words if `text` is empty.
std::vector<std::string> SplitAtSpaces(std::string_view text);

// With one space between two words: SplitAtSpaces takes them apart again, if none of them holds a space.
std::string JoinWords(std::span<const std::string> words);

// For messages: bytes that would not print on one line are shown as \xHH, and a long text is cut.
std::string Printable(std::string_view text);

std::string LowerCase(std::string_view text);
bool EqualIgnoringCase(std::string_view a, std::string_view b) noexcept;

}  // namespace mayfly::config
