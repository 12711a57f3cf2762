// All commands by name: one hash look-up without allocation, in any case. Also each row's counters.
//
// Built once from the registered families; the rows themselves stay where they are. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exec/command.h"
#include "server/call_stats.h"

namespace mayfly {

// A row as the table keeps it: with what follows from it and what is counted for it.
struct TableRow {
  const Command* command = nullptr;
  const TableRow* parent = nullptr;  // the container, for a subcommand
  std::string full_name;             // "client|setname"
  std::string_view group;
  uint32_t acl = 0;                  // all categories, implied ones too
  std::vector<TableRow*> subcommands;
  mutable CallStats calls;
};

class CommandTable {
 public:
  // Every family that registered itself.
  CommandTable();
  CommandTable(const CommandTable&) = delete;
  CommandTable& operator=(const CommandTable&) = delete;

  // In any case; null where there is none.
  const TableRow* Find(std::string_view name) const noexcept;
  static const TableRow* FindSubcommand(const TableRow& container, std::string_view name) noexcept;
  // Without subcommands, sorted by name.
  const std::vector<TableRow*>& rows() const noexcept { return rows_; }
  void ResetStats() noexcept;

  // Names of the flags and categories, as COMMAND and ACL spell them.
  static std::vector<std::string_view> FlagNames(uint32_t flags);
  static std::vector<std::string_view> AclNames(uint32_t categories);

 private:
  static constexpr size_t kLongestName = 32;
  TableRow* Add(const Command& command, std::string_view group, const TableRow* parent);

  std::vector<std::unique_ptr<TableRow>> owned_;
  std::vector<TableRow*> rows_;
  std::vector<TableRow*> slots_;  // open addressing, a power of two
};

}  // namespace mayfly
