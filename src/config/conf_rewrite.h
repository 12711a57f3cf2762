// Changes single options in the text of a conf file and leaves all else as it is: CONFIG REWRITE.
//
// An option that the file names keeps its place (the last one, where there are several); one that it does not
// name, or that an include behind it would override, comes to the end.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/option.h"

namespace mayfly::config {

// What the file is to say of one option.
struct ConfLine {
  const Option* option;
  std::string text;       // without its line end
  bool included = false;  // an included file names the option
};

// The line that sets the option to its value in `settings`, or, of one that only Redis knows, in `foreign`.
std::string LineOf(const Option& option, const Settings& settings,
                   const std::map<const Option*, std::string>& foreign);

std::string RewriteConf(std::string_view text, std::vector<ConfLine> lines);

}  // namespace mayfly::config
