// The parts of the manual (docs/) that are made from the program's own tables. Each part lies between two lines:
//
//   <!-- commands: made by scripts/readme_table -->
//   <!-- end of commands -->
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/call/command_table.h"

namespace mayfly::testing {

// Part "commands": one table for each group of commands.
std::string CommandTableMarkdown(const CommandTable& commands);

// Part "fixed options": the names of the options that CONFIG SET does not change.
std::string FixedOptionsMarkdown();

// A part of a page: the page's file within docs/, the part's name, and the text between the two lines.
struct MadePart {
  std::string page;
  std::string name;
  std::string text;
};

// All parts, as the program's tables make them.
std::vector<MadePart> MadeParts(const CommandTable& commands);

// `page` with `text` as its part `name`; nothing if the page lacks the two lines.
std::optional<std::string> WithPart(std::string_view page, std::string_view name, std::string_view text);

}  // namespace mayfly::testing
