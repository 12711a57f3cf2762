#include "server/acl/command_catalogue.h"

#include <utility>

#include "base/text/ascii.h"

namespace mayfly {

void CommandCatalogue::Add(KnownCommand command) {
  by_name_.emplace(command.name, static_cast<uint32_t>(commands_.size()));
  commands_.push_back(std::move(command));
}

std::optional<uint32_t> CommandCatalogue::Find(std::string_view name) const {
  const auto found = by_name_.find(LowerCase(name));
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

uint32_t CommandCatalogue::CategoryOf(std::string_view name) const noexcept {
  for (size_t i = 0; i < categories_.size(); ++i) {
    if (SameIgnoringCase(name, categories_[i])) return uint32_t{1} << i;
  }
  return 0;
}

}  // namespace mayfly
