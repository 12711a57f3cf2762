#include "support/readme_table.h"

#include <algorithm>
#include <vector>

#include "config/option.h"

namespace mayfly::testing {
namespace {

struct Group {
  std::string_view name;
  std::string_view title;
};

// In the page's order: values, keys, what calls are made of, the server. A group that is not listed comes after these, under
// its own name.
constexpr Group kGroups[] = {{"string", "Strings"},
                             {"bitmap", "Bitmaps"},
                             {"hash", "Hashes"},
                             {"list", "Lists"},
                             {"set", "Sets"},
                             {"sorted-set", "Sorted sets"},
                             {"geo", "Places"},
                             {"hyperloglog", "HyperLogLogs"},
                             {"stream", "Streams"},
                             {"generic", "Keys"},
                             {"transactions", "Transactions"},
                             {"scripting", "Scripts and functions"},
                             {"pubsub", "Publish and subscribe"},
                             {"connection", "Connection"},
                             {"server", "Server"},
                             {"cluster", "Cluster"}};

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  std::replace(upper.begin(), upper.end(), '|', ' ');
  return upper;
}

// Escapes bars, since a bar would end the cell.
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
  text.append("\n## ").append(title).append("\n\n| command | since | |\n|---|---|---|\n").append(rows);
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

std::string FixedOptionsMarkdown() {
  constexpr size_t kLineWidth = 118;
  constexpr uint32_t kUnchangeable = config::kFixed | config::kProtected | config::kNoConfig;
  std::string text;
  size_t line = 0;
  for (const config::Option& option : config::MayflyOptions()) {
    if ((option.flags & kUnchangeable) == 0) continue;
    const std::string name = "`" + std::string(option.name) + "`";
    if (!text.empty()) {
      const bool fits = line + 2 + name.size() < kLineWidth;
      text += fits ? ", " : ",\n";
      line = fits ? line + 2 : 0;
    }
    text += name;
    line += name.size();
  }
  return text + ".\n";
}

std::optional<std::string> WithPart(std::string_view page, std::string_view name, std::string_view text) {
  const std::string first = "<!-- " + std::string(name) + ": made by scripts/readme_table -->\n";
  const std::string last = "<!-- end of " + std::string(name) + " -->\n";
  const size_t begin = page.find(first);
  const size_t end = page.find(last);
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return std::nullopt;
  std::string whole(page.substr(0, begin + first.size()));
  return whole.append(text).append(page.substr(end));
}

std::vector<MadePart> MadeParts(const CommandTable& commands) {
  return {{"commands.md", "commands", CommandTableMarkdown(commands)},
          {"options.md", "fixed options", FixedOptionsMarkdown()}};
}

}  // namespace mayfly::testing
