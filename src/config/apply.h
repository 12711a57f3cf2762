// Applies one directive to the settings: shared by the start, CONFIG REWRITE and --check-config.
#pragma once

#include <string>
#include <vector>

#include "config/directive.h"
#include "config/option.h"
#include "config/problem.h"
#include "config/settings.h"

namespace mayfly::config {

// The words of the value. A value for several words may come as one text.
std::vector<std::string> WordsOf(const Option& option, const Directive& directive);

// Puts the value into `settings`, or into `foreign_text` if only Redis has the option, and the option's row into `option`.
// The text of a problem begins with the place; after a problem nothing is changed.
[[nodiscard]] Problem ApplyDirective(const Directive& directive, Settings& settings, const Option*& option,
                                     std::string& foreign_text);

// Returns true if the value of an option that only Redis has ends the start, because a silent loss of the value would hurt.
bool IsRefused(const Option& option, const std::string& value);
// The reason for the refusal. REQUIRES: IsRefused.
std::string Refusal(const Option& option, const std::string& value);

}  // namespace mayfly::config
