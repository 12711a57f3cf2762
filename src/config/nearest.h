// Finds the most similar name, for "did you mean ...?" in messages.
#pragma once

#include <string>
#include <string_view>

#include "config/option.h"

namespace mayfly::config {

// Whether a few letters that are wrong, missing, too many or exchanged make the difference. In any case.
bool AreNear(std::string_view text, std::string_view word);

// The name of the nearest option of which `fits` is true; empty if none is near.
std::string_view NearestOption(std::string_view name, bool (*fits)(const Option&));
// The nearest option, or else the shortest with `name` as its beginning or a word:
// ", did you mean '<before>maxmemory'?", or nothing.
std::string DidYouMean(std::string_view name, std::string_view before = {});

}  // namespace mayfly::config
