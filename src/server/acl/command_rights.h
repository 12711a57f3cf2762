// The commands that a selector allows. For example `+get -@dangerous +client|list +select|0`.
//
// A bit for each command and subcommand; a rule for a container is a rule for all its subcommands. `+select|0`, for a
// command without subcommands, allows the command with this first argument only. Describe does not return the rules as
// given, but the fewest rules with the same bits, as in Redis 7.0.
//
// Borrows the catalogue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/acl/command_catalogue.h"
#include "server/acl/rule_error.h"

namespace mayfly {

class CommandRights {
 public:
  explicit CommandRights(const CommandCatalogue& catalogue)
      : catalogue_(&catalogue), allowed_(catalogue.commands().size()) {}

  // Applies one rule: "+...", "-...", allcommands or nocommands.
  [[nodiscard]] RuleError Apply(std::string_view rule);

  // With any arguments.
  bool Allows(uint32_t id) const noexcept { return allowed_[id]; }
  // With this first argument, in any case.
  bool AllowsFirst(uint32_t id, std::string_view argument) const noexcept;
  bool AllowsAll() const noexcept;

  // Rules that give the same rights: "-@all +@read +set".
  std::string Describe() const;

 private:
  // The number of a category's commands that are allowed, and that are not.
  struct Share {
    size_t allowed = 0;
    size_t denied = 0;
  };

  void PutAll(bool allow);
  void Put(uint32_t id, bool allow);
  void PutCategory(uint32_t category, bool allow);
  RuleError AllowNamed(std::string_view name);
  std::vector<Share> Shares() const;
  // Appends the categories that cover most of the difference from all commands, or from no commands, and applies the
  // categories to `described`.
  void DescribeCategories(std::string& text, CommandRights& described) const;

  const CommandCatalogue* catalogue_;
  std::vector<bool> allowed_;      // by id
  bool commands_to_come_ = false;  // after +@all: commands of later versions are allowed, too
  std::map<uint32_t, std::vector<std::string>> first_arguments_;
};

}  // namespace mayfly
