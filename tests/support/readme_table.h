// The parts of README.md that are made from the program's own tables. Each part lies between two lines:
//
//   <!-- commands: made by scripts/readme_table -->
//   <!-- end of commands -->
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "exec/dispatch/command_table.h"

namespace mayfly::testing {

// Part "commands": one table for each group of commands.
std::string CommandTableMarkdown(const CommandTable& commands);

// Part "fixed options": the names of the options that CONFIG SET does not change.
std::string FixedOptionsMarkdown();

// `readme` with `text` as its part `name`; nothing if it lacks the two lines.
std::optional<std::string> WithPart(std::string_view readme, std::string_view name, std::string_view text);

// `readme` with all its parts brought up to date; nothing if it lacks the lines of one.
std::optional<std::string> WithAllParts(std::string_view readme, const CommandTable& commands);

}  // namespace mayfly::testing
