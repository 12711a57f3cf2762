// Converts texts to the typed members of Settings and back. Problems are Redis's error texts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/option.h"
#include "config/problem.h"

namespace mayfly::config {

// Reads `words` as the option's value. The value goes to the option's member of `settings`, or, if only Redis has the
// option, to `foreign_text`, in the form of Redis's answers. After a problem nothing is changed. The text of a problem never
// contains the value and may be shown even for a secret.
[[nodiscard]] Problem ReadValue(const Option& option, std::span<const std::string> words, Settings& settings,
                                std::string& foreign_text);

// The possible words of an option of Mayfly, if the option has a fixed set of words.
std::span<const std::string_view> WordsFor(const Option& option) noexcept;

// The value in the form of CONFIG GET: bytes as a plain number, yes and no, names in lower case. For an option that only
// Redis has: the default.
std::string FormatValue(const Option& option, const Settings& settings);

// True for an option that only Redis has: its value is in no settings.
bool HasSameValue(const Option& option, const Settings& one, const Settings& other) noexcept;

}  // namespace mayfly::config
