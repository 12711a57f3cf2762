// Which arguments of a call are keys, by the key specs of its row: COMMAND GETKEYS, later permissions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "exec/dispatch/command.h"

namespace mayfly {

struct FoundKey {
  std::string_view text;
  uint16_t use;  // KeyUse bits
};

// The specs of a row, in order; none if the command has no keys.
std::vector<const KeySpec*> KeySpecsOf(const Command& command);
// Whether the first and last key do not follow from positions alone.
bool HasMovableKeys(const Command& command);

// The keys of a call that begins with the command's name. Nothing if a spec does not fit the call, for
// example if it announces no keys, or more than there are.
std::optional<std::vector<FoundKey>> KeysOf(const Command& command, std::span<const std::string_view> call);

// "RO", "access" ...: what a command does to a key, as COMMAND shows it.
std::vector<std::string_view> KeyUseNames(uint16_t use);

}  // namespace mayfly
