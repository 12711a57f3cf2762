// The README's compatibility table, made from the command table, and its place between two markers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "exec/command_table.h"

namespace mayfly::testing {

// Markdown: one table for each group of commands.
std::string CommandTableMarkdown(const CommandTable& commands);

// `readme` with `table` between the markers; nothing where it lacks them.
std::optional<std::string> WithTable(std::string_view readme, std::string_view table);

}  // namespace mayfly::testing
