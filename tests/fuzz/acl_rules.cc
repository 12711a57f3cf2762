// Any rules for a user, one a line, and after an empty line a call: a description must make the same user again, and
// what is allowed quickly must be allowed by all of the rules.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "exec/acl/permission.h"
#include "exec/call/command_table.h"
#include "server/acl/user.h"

namespace mayfly {
namespace {

std::vector<std::string_view> Split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find(at, from), text.size());
    parts.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

// As an aclfile is read.
User ReadBack(const std::string& description, const CommandCatalogue& catalogue) {
  User user("app", catalogue, /*all_channels=*/false);
  const MergedRules merged = MergeSelectors(Split(description, ' '));
  if (merged.unmatched) std::abort();
  for (const std::string& rule : merged.rules) {
    if (user.Apply(rule, /*all_channels=*/false) != RuleError::kNone) std::abort();
  }
  return user;
}

void CheckCall(const User& user, const CommandTable& commands, std::span<const std::string_view> call) {
  const TableRow* const row = commands.FindCall(call);
  if (row == nullptr) return;
  const Permission permission = FindPermission(user, *row, call);
  if (permission.index >= call.size()) std::abort();
  if (permission.granted() !=
      FindPermission(ReadBack(user.Describe(), commands.catalogue()), *row, call).granted())
    std::abort();
  if (!user.restricted() && !permission.granted()) std::abort();
  if (IsQuicklyGranted(user, *row, call) && !permission.granted()) std::abort();
}

}  // namespace
}  // namespace mayfly

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mayfly;
  static const CommandTable kTable;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string_view> lines = Split(bytes, '\n');
  User user("app", kTable.catalogue(), /*all_channels=*/false);
  size_t line = 0;
  for (; line < lines.size() && !lines[line].empty(); ++line)
    static_cast<void>(user.Apply(lines[line], /*all_channels=*/false));
  const std::string description = user.Describe();
  if (ReadBack(description, kTable.catalogue()).Describe() != description) std::abort();
  user.SetQuick(QuickRightsOf(user, kTable));
  for (++line; line < lines.size(); ++line) CheckCall(user, kTable, Split(lines[line], ' '));
  return 0;
}
