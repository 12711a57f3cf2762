// Checks the values of options without an effect here as Redis checks them. A value that Redis would refuse is refused in
// Redis's words; any other value is kept as Redis's answer to CONFIG GET.
#pragma once

#include <span>
#include <string>

#include "config/option.h"
#include "config/problem.h"

namespace mayfly::config {

// Reads `words` as a value of `option`, and puts the answer of CONFIG GET into `text`. After a problem nothing is changed.
// REQUIRES: `kind` is the option's target.
[[nodiscard]] Problem ReadRedisValue(const Option& option, Foreign kind, std::span<const std::string> words,
                                     std::string& text);

}  // namespace mayfly::config
