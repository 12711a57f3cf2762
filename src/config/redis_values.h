// Texts into the values of the options that only Redis knows, which are kept as texts: each value that Redis
// would refuse is refused in its words, and each is answered in its form.
#pragma once

#include <span>
#include <string>

#include "config/option.h"
#include "config/problem.h"

namespace mayfly::config {

// Reads `words` as a value of `option`, into the text that CONFIG GET answers. On a problem nothing is
// changed. REQUIRES: `kind` is the option's target.
[[nodiscard]] Problem ReadRedisValue(const Option& option, Foreign kind, std::span<const std::string> words,
                                     std::string& text);

}  // namespace mayfly::config
