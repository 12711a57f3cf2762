#include "support/readme_table.h"

#include <algorithm>
#include <vector>

namespace mayfly::testing {
namespace {

constexpr std::string_view kBegin = "<!-- commands: made by scripts/readme_table -->\n";
constexpr std::string_view kEnd = "<!-- end of commands -->\n";

struct Group {
  std::string_view name;
  std::string_view title;
};

// In the README's order; a group that is not listed comes behind them by its own name.
constexpr Group kGroups[] = {{"string", "Strings"},        {"bitmap", "Bitmaps"}, {"generic", "Keys"},
                             {"connection", "Connection"}, {"server", "Server"},  {"cluster", "Cluster"}};

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  std::replace(upper.begin(), upper.end(), '|', ' ');
  return upper;
}

// A bar would end the cell.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

void AddRow(std::string& text, const TableRow& row) {
  const Command& command = *row.command;
  std::string usage = UpperCase(row.full_name);
  if (!command.syntax.empty()) usage.append(" ").append(command.syntax);
  text.append("| `").append(Cell(usage)).append("` | ").append(command.since).append(" | ");
  text.append(Cell(command.summary));
  if (!command.notes.empty()) text.append(" *").append(Cell(command.notes)).append("*");
  text += " |\n";
}

void AddGroup(std::string& text, const CommandTable& commands, std::string_view name,
              std::string_view title) {
  std::string rows;
  for (const TableRow* row : commands.rows()) {
    if (row->group != name) continue;
    if (row->command->handler != nullptr) AddRow(rows, *row);
    for (const TableRow* sub : row->subcommands) AddRow(rows, *sub);
  }
  if (rows.empty()) return;
  text.append("\n**").append(title).append("**\n\n| command | since | |\n|---|---|---|\n").append(rows);
}

}  // namespace

std::string CommandTableMarkdown(const CommandTable& commands) {
  std::string text;
  std::vector<std::string_view> done{"test"};  // commands that only tests have
  for (const Group& group : kGroups) {
    AddGroup(text, commands, group.name, group.title);
    done.push_back(group.name);
  }
  for (const TableRow* row : commands.rows()) {
    if (std::find(done.begin(), done.end(), row->group) != done.end()) continue;
    AddGroup(text, commands, row->group, row->group);
    done.push_back(row->group);
  }
  return text + "\n";
}

std::optional<std::string> WithTable(std::string_view readme, std::string_view table) {
  const size_t begin = readme.find(kBegin);
  const size_t end = readme.find(kEnd);
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return std::nullopt;
  std::string text(readme.substr(0, begin + kBegin.size()));
  return text.append(table).append(readme.substr(end));
}

}  // namespace mayfly::testing
