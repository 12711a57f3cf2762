// Texts into typed members and back, with Redis's error texts for what is wrong.
#pragma once

#include <span>
#include <string>

#include "config/option.h"
#include "config/problem.h"

namespace mayfly::config {

// Reads `words` as the option's value: into its member of `settings`, or, of an option without a meaning
// here, its Redis form into `foreign_text`. `words` may be empty only for a multi-word option. On a problem
// nothing is changed. The problem names neither the option nor the value, so that it may be shown for a
// secret.
[[nodiscard]] Problem ReadValue(const Option& option, std::span<const std::string> words, Settings& settings,
                                std::string& foreign_text);

// The form in which CONFIG GET answers: bytes as a plain number, yes and no, names in lower case.
// REQUIRES: the option has a member (it is one of MayflyOptions).
std::string FormatValue(const Option& option, const Settings& settings);

}  // namespace mayfly::config
