#include "exec/dispatch/command_keys.h"

#include <algorithm>

#include "base/numbers.h"

namespace mayfly {
namespace {

// Where the keys of one spec stand: the first, the one after the last, and the step.
struct Stretch {
  size_t begin;
  size_t end;
  size_t step;
};

std::optional<Stretch> StretchOf(const KeySpec& spec, std::span<const std::string_view> call) {
  const auto first = static_cast<size_t>(spec.first);
  const auto step = static_cast<size_t>(spec.step);
  if (first >= call.size()) return std::nullopt;
  if (spec.count_at == 0) {
    const int64_t last = spec.last < 0 ? static_cast<int64_t>(call.size()) + spec.last : spec.last;
    if (last < spec.first || last >= static_cast<int64_t>(call.size())) return std::nullopt;
    return Stretch{first, static_cast<size_t>(last) + 1, step};
  }
  const std::optional<int64_t> count = ParseInteger(call[static_cast<size_t>(spec.count_at)]);
  if (!count || *count < 1 || static_cast<uint64_t>(*count) > call.size()) return std::nullopt;
  const Stretch stretch{first, first + static_cast<size_t>(*count) * step, step};
  // The last key's own arguments may be cut off; the key may not.
  if (stretch.end - step >= call.size()) return std::nullopt;
  return stretch;
}

}  // namespace

std::vector<const KeySpec*> KeySpecsOf(const Command& command) {
  std::vector<const KeySpec*> specs;
  if (command.keys.first != 0) specs.push_back(&command.keys);
  if (command.more_keys.first != 0) specs.push_back(&command.more_keys);
  return specs;
}

bool HasMovableKeys(const Command& command) {
  const std::vector<const KeySpec*> specs = KeySpecsOf(command);
  return std::any_of(specs.begin(), specs.end(), [](const KeySpec* spec) { return spec->count_at != 0; });
}

std::optional<std::vector<FoundKey>> KeysOf(const Command& command, std::span<const std::string_view> call) {
  std::vector<FoundKey> keys;
  for (const KeySpec* spec : KeySpecsOf(command)) {
    const std::optional<Stretch> stretch = StretchOf(*spec, call);
    if (!stretch) return std::nullopt;
    for (size_t at = stretch->begin; at < std::min(stretch->end, call.size()); at += stretch->step)
      keys.push_back({call[at], command.key_use != nullptr ? command.key_use(call) : spec->use});
  }
  return keys;
}

std::vector<std::string_view> KeyUseNames(uint16_t use) {
  struct UseName {
    uint16_t bit;
    std::string_view text;
  };
  constexpr UseName kNames[] = {
      {kKeyRO, "RO"},         {kKeyRW, "RW"},         {kKeyOW, "OW"},
      {kKeyRM, "RM"},         {kKeyAccess, "access"}, {kKeyUpdate, "update"},
      {kKeyInsert, "insert"}, {kKeyDelete, "delete"}, {kKeyVariableFlags, "variable_flags"}};
  std::vector<std::string_view> found;
  for (const UseName& name : kNames) {
    if ((use & name.bit) != 0) found.push_back(name.text);
  }
  return found;
}

}  // namespace mayfly
