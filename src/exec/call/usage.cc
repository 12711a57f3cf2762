#include "exec/call/usage.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "exec/call/command.h"
#include "exec/call/errors.h"

namespace mayfly {

bool IsOfMayflyAlone(const TableRow& row) noexcept {
  return row.command->notes.starts_with("A command of Mayfly.");
}

std::string UsageOf(const TableRow& row) {
  std::string usage = UpperCase(row.full_name);
  std::replace(usage.begin(), usage.end(), '|', ' ');
  if (!row.command->syntax.empty()) usage.append(" ").append(row.command->syntax);
  return usage;
}

std::string SyntaxErrorNear(const TableRow& row, std::string_view word) {
  constexpr size_t kMostRepeated = 64;
  return std::string(errors::kSyntax)
      .append(" near '")
      .append(errors::Repeated(word, kMostRepeated))
      .append("': ")
      .append(UsageOf(row));
}

std::string SyntaxErrorAt(const TableRow& row, const Args& args) {
  if (!args.Done()) return SyntaxErrorNear(row, args.Peek());
  return std::string(errors::kSyntax).append(" at the end: ").append(UsageOf(row));
}

}  // namespace mayfly
