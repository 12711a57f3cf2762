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

#include "base/time/histogram.h"
#include "exec/call/command.h"
#include "server/acl/command_catalogue.h"
#include "server/figures/call_stats.h"

namespace mayfly {

// A row as the table keeps it: with what follows from it and what is counted for it.
struct TableRow {
  const Command* command = nullptr;
  uint32_t id = 0;                   // from 0 on, without gaps; subcommands have their own
  const TableRow* parent = nullptr;  // the container, for a subcommand
  std::string full_name;             // "client|setname"
  std::string called;  // what clients call it: its own name, unless rename-command says otherwise
  std::string_view group;
  uint32_t acl = 0;  // all categories, implied ones too
  std::vector<TableRow*> subcommands;
  mutable CallStats calls;                     // counting does not change what the table says
  mutable std::unique_ptr<Histogram> latency;  // cycles of a call; null: none was seen, or none is tracked
  uint64_t folded[2] = {};                     // the name as CommandTable::Fold has it
  // Names of at most 16 letters with the same size and the same fold are the same.
  bool folds_exactly = false;

  // What dispatch needs for each request, computed from the command's fields.
  uint32_t least_args = 0;  // with the name
  uint32_t spare_args = 0;  // more than the least that are allowed
  uint16_t first_key = 0;   // index; 0: no key
  uint8_t cursor = 1;       // index of the first argument after the name
  bool writes = false;      // changes keys, or needs memory for them
  bool only_reads = false;  // changes no key, nor makes a call that does
  bool needs_login = true;
  bool constant_time = false;
  bool reads_quickly = false;  // only_reads and constant_time
  bool names_one_key = false;  // in argument first_key, and no other
  bool ends_batch = false;     // what the client sent after it cannot be read before it has run
  bool Takes(size_t arg_count) const noexcept { return arg_count - least_args <= spare_args; }
};

class CommandTable {
 public:
  // Every family that registered itself.
  CommandTable();
  CommandTable(const CommandTable&) = delete;
  CommandTable& operator=(const CommandTable&) = delete;

  // From now on clients call the command `from` by the name `to`; if that is empty, the command is gone. A
  // problem is one line. REQUIRES: no row was looked up yet.
  [[nodiscard]] std::optional<std::string> Rename(std::string_view from, std::string_view to);

  // In any case; null if there is none.
  const TableRow* Find(std::string_view name) const noexcept;
  // The row of a call, or of its subcommand. REQUIRES: arguments is not empty.
  const TableRow* FindCall(std::span<const std::string_view> arguments) const noexcept {
    assert(!arguments.empty());
    const TableRow* row = Find(arguments[0]);
    if (row == nullptr || row->subcommands.empty() || arguments.size() < 2) [[likely]]
      return row;
    const TableRow* sub = FindSubcommand(*row, arguments[1]);
    return sub != nullptr ? sub : row;
  }
  static const TableRow* FindSubcommand(const TableRow& container, std::string_view name) noexcept;
  // Rows and subcommands; their ids are below this.
  size_t size() const noexcept { return owned_.size(); }
  // REQUIRES: id < size().
  const TableRow& row(uint32_t id) const noexcept {
    assert(id < size());
    return *owned_[id];
  }
  // What the rules of users know of the rows.
  const CommandCatalogue& catalogue() const noexcept { return catalogue_; }
  // Without subcommands, sorted by name.
  const std::vector<TableRow*>& rows() const noexcept { return rows_; }
  void ResetStats() const noexcept;
  void ForgetLatencies() const noexcept;

  // Names of the flags and categories, as COMMAND and ACL spell them.
  static std::vector<std::string_view> FlagNames(uint32_t flags);
  static std::vector<std::string_view> AclNames(uint32_t categories);

 private:
  // A name of up to 16 bytes as two words with bit 5 of each byte set, which puts letters in lower case. Only
  // a letter of either case folds to a letter.
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
  CommandCatalogue catalogue_;
  std::vector<TableRow*> slots_;  // open addressing, a power of two
};

}  // namespace mayfly
