// Finds the most similar name, for "did you mean ...?" in messages.
#pragma once

#include <string>
#include <string_view>

#include "config/option.h"

namespace mayfly::config {

// Returns true if the texts differ only in a few letters: wrong, missing, added or exchanged. In any case.
bool AreNear(std::string_view text, std::string_view word);

// The name of the nearest option with a true `fits`; empty if no option is near.
std::string_view NearestOption(std::string_view name, bool (*fits)(const Option&));
inline bool IsAnyOption(const Option&) { return true; }
// Returns ", did you mean '<before>maxmemory'?" for the nearest option with a true `fits`, or else for the shortest such
// option with `name` as its beginning or a word; an empty text without such an option.
std::string DidYouMean(std::string_view name, std::string_view before = {},
                       bool (*fits)(const Option&) = IsAnyOption);

}  // namespace mayfly::config
