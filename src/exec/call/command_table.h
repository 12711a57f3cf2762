// All commands by name: one hash look-up without allocation, in any case. Also each row's counters.
//
// Built once from the registered families; the rows themselves stay where they are. Loop thread only.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/call/command.h"
#include "server/figures/call_stats.h"

namespace mayfly {

class CommandCatalogue;
class Histogram;

// A row in the table: the command with derived facts and counters.
struct TableRow {
  TableRow() noexcept;
  ~TableRow();

  const Command* command = nullptr;
  uint32_t id = 0;                   // from 0 on, without gaps; also for each subcommand
  const TableRow* parent = nullptr;  // the container, for a subcommand
  std::string full_name;             // "client|setname"
  std::string called;  // the name used by clients: the command's own name, or the name from rename-command
  std::string_view group;
  uint32_t acl = 0;  // all categories, implied ones too
  std::vector<TableRow*> subcommands;
  mutable CallStats calls;                     // counting does not change the table
  mutable std::unique_ptr<Histogram> latency;  // cycles of a call; null: no call yet, or not tracked
  uint64_t folded[2] = {};                     // the name, folded by CommandTable::Fold
  // Names of at most 16 letters with the same size and the same fold are equal.
  bool folds_exactly = false;

  // The facts for dispatch of each request, computed from the command's fields.
  uint32_t least_args = 0;  // with the name
  uint32_t spare_args = 0;  // allowed arguments beyond the least
  uint16_t first_key = 0;   // index; 0: no key
  uint8_t cursor = 1;       // index of the first argument after the name
  bool writes = false;      // changes keys, or needs memory for keys
  bool only_reads = false;  // changes no key, nor makes an inner call that changes keys
  bool needs_login = true;
  bool constant_time = false;
  bool reads_quickly = false;  // only_reads and constant_time
  bool names_one_key = false;  // in argument first_key, and no other key
  bool ends_batch = false;     // the client's next request cannot be read before this request has run
  bool Takes(size_t arg_count) const noexcept { return arg_count - least_args <= spare_args; }
};

class CommandTable {
 public:
  // Adds every registered family.
  CommandTable();
  ~CommandTable();
  CommandTable(const CommandTable&) = delete;
  CommandTable& operator=(const CommandTable&) = delete;

  // Renames the command `from` to `to` for all clients; an empty `to` removes the command. A problem is one line. REQUIRES:
  // no row was looked up yet.
  [[nodiscard]] std::optional<std::string> Rename(std::string_view from, std::string_view to);

  // Finds in any case; null for an unknown name.
  const TableRow* Find(std::string_view name) const noexcept;
  // Likewise by the command's own name, whatever Rename has made of it. Looks at every row.
  const TableRow* FindByOwnName(std::string_view name) const noexcept;
  // The row of a call, or of the call's subcommand. REQUIRES: arguments is not empty.
  const TableRow* FindCall(std::span<const std::string_view> arguments) const noexcept {
    assert(!arguments.empty());
    const TableRow* row = Find(arguments[0]);
    if (row == nullptr || row->subcommands.empty() || arguments.size() < 2) [[likely]]
      return row;
    const TableRow* sub = FindSubcommand(*row, arguments[1]);
    return sub != nullptr ? sub : row;
  }
  static const TableRow* FindSubcommand(const TableRow& container, std::string_view name) noexcept;
  // The number of rows and subcommands; all ids are less.
  size_t size() const noexcept { return owned_.size(); }
  // REQUIRES: id < size().
  const TableRow& row(uint32_t id) const noexcept {
    assert(id < size());
    return *owned_[id];
  }
  // The names and categories of the rows, for the rules of users.
  const CommandCatalogue& catalogue() const noexcept { return *catalogue_; }
  // Without subcommands, sorted by name.
  const std::vector<TableRow*>& rows() const noexcept { return rows_; }
  void ResetStats() const noexcept;
  void ForgetLatencies() const noexcept;

  // Names of the flags and categories, as spelled by COMMAND and ACL.
  static std::vector<std::string_view> FlagNames(uint32_t flags);
  static std::vector<std::string_view> AclNames(uint32_t categories);

 private:
  // A name of up to 16 bytes as two words with bit 5 of each byte set: letters become lower case. Only letters fold to
  // letters.
  struct Folded {
    uint64_t first;
    uint64_t last;
    size_t Slot(size_t size, size_t mask) const noexcept;
  };
  static Folded Fold(std::string_view name) noexcept;

  TableRow* Add(const Command& command, std::string_view group, TableRow* parent);
  static void Call(TableRow& row, std::string_view name);
  void Index();
  void FillCatalogue();

  std::vector<std::unique_ptr<TableRow>> owned_;
  std::vector<TableRow*> rows_;
  std::unique_ptr<CommandCatalogue> catalogue_;
  std::vector<TableRow*> slots_;  // open addressing, a power of two
};

}  // namespace mayfly
