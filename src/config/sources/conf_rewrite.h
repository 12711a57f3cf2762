// CONFIG REWRITE: changes single options in the text of a conf file and leaves the rest unchanged.
//
// If the file names the option, the option's last line is changed and earlier lines are removed. If the file does not name
// the option, or if an include after the last line would override the line, the new line is added at the end.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/option.h"

namespace mayfly::config {

// The new line for one option.
struct ConfLine {
  const Option* option;
  std::string text;       // without the last line end; empty: the option's lines are removed
  bool included = false;  // an included file names the option
};

// The line that sets the option to its value in `settings`, or in `foreign` if only Redis has the option. The line holds no
// line end, and reads back as the same value.
std::string LineOf(const Option& option, const Settings& settings,
                   const std::map<const Option*, std::string>& foreign);

std::string RewriteConf(std::string_view text, std::vector<ConfLine> lines);

}  // namespace mayfly::config
