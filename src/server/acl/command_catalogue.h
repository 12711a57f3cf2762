// The names and categories of commands, for the rules of users.
//
// The floor above fills the catalogue from its table of commands; ids are the ids of the table's rows, and names are the
// names before any rename-command. Constant afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly {

struct KnownCommand {
  std::string name;  // in lower case; "client|kill" for a subcommand
  bool is_subcommand = false;
  uint32_t categories = 0;            // one bit for each of CommandCatalogue::categories()
  std::vector<uint32_t> subcommands;  // their ids
};

class CommandCatalogue {
 public:
  // Names of the categories; bit n stands for the n-th name. The names must outlive this object.
  void SetCategories(std::vector<std::string_view> names) { categories_ = std::move(names); }
  // REQUIRES: commands are added in the order of their ids, from 0 on without gaps.
  void Add(KnownCommand command);

  const std::vector<KnownCommand>& commands() const noexcept { return commands_; }
  const std::vector<std::string_view>& categories() const noexcept { return categories_; }
  // The id of "get" or "client|kill", in any case.
  std::optional<uint32_t> Find(std::string_view name) const;
  // The bit of a category, in any case; 0 for an unknown name.
  uint32_t CategoryOf(std::string_view name) const noexcept;

 private:
  std::vector<KnownCommand> commands_;
  std::vector<std::string_view> categories_;
  std::map<std::string, uint32_t, std::less<>> by_name_;
};

}  // namespace mayfly
