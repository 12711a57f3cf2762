// The commands that a selector allows. For example `+get -@dangerous +client|list +select|0`.
//
// A bit for each command and subcommand; a rule for a container is one for all of its subcommands. `+select|0`, of a command
// without subcommands, allows it with this first argument only. What Describe says are not the rules as they
// were given, but as few of them as lead to the same bits, as in Redis 7.0.
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

  // One rule that begins with '+' or '-', or allcommands or nocommands.
  [[nodiscard]] RuleError Apply(std::string_view rule);

  // With any arguments.
  bool Allows(uint32_t id) const noexcept { return allowed_[id]; }
  // With this first argument, in any case.
  bool AllowsFirst(uint32_t id, std::string_view argument) const noexcept;
  bool AllowsAll() const noexcept;

  // Rules that give the same rights: "-@all +@read +set".
  std::string Describe() const;

 private:
  // Of a category: how many of its commands are allowed, and how many are not.
  struct Share {
    size_t allowed = 0;
    size_t denied = 0;
  };

  void PutAll(bool allow);
  void Put(uint32_t id, bool allow);
  void PutCategory(uint32_t category, bool allow);
  RuleError AllowNamed(std::string_view name);
  std::vector<Share> Shares() const;
  // Appends the categories that most of the difference to all commands, or to none, comes from, and puts them into
  // `described`.
  void DescribeCategories(std::string& text, CommandRights& described) const;

  const CommandCatalogue* catalogue_;
  std::vector<bool> allowed_;      // by id
  bool commands_to_come_ = false;  // +@all was said last: what later versions add is allowed, too
  std::map<uint32_t, std::vector<std::string>> first_arguments_;
};

}  // namespace mayfly
