// Converts texts to the typed members of Settings and back. Problems are Redis's error texts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/option.h"
#include "config/problem.h"

namespace mayfly::config {

// Reads `words` as the option's value. It goes to the option's member of `settings`, or, if only Redis has the
// option, to `foreign_text`, in the form in which Redis answers it. On a problem nothing is changed. A problem
// does not contain the value, so it may be shown for a secret.
[[nodiscard]] Problem ReadValue(const Option& option, std::span<const std::string> words, Settings& settings,
                                std::string& foreign_text);

// The words that an option of ours may be, if there is a fixed set of them.
std::span<const std::string_view> WordsFor(const Option& option) noexcept;

// The value in the form in which CONFIG GET answers it: bytes as a plain number, yes and no, names in lower
// case. If only Redis has the option: its default.
std::string FormatValue(const Option& option, const Settings& settings);

}  // namespace mayfly::config
