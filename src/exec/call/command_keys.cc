#include "exec/call/command_keys.h"

#include <algorithm>

#include "base/text/numbers.h"
#include "exec/call/args.h"

namespace mayfly {
namespace internal {

std::optional<Stretch> StretchOf(const KeySpec& spec, std::span<const std::string_view> call) noexcept {
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

// Before `word.from` no word counts; but where half of the arguments are keys, a word to skip may begin there: XREADGROUP has its
// options in any order, and GROUP may come late.
size_t KeyAfter(const KeyAfterWord& word, size_t at, std::span<const std::string_view> call) noexcept {
  if (word.half) at = 1;
  for (; at + 1 < call.size(); ++at) {
    const auto is = [&](std::string_view upper) { return EqualsIgnoringCase(call[at], upper); };
    if (at >= word.from && std::any_of(word.words.begin(), word.words.end(), is)) return at + 1;
    const auto skipped = std::ranges::find_if(word.skipped, is, &KeyAfterWord::Skipped::word);
    if (skipped != word.skipped.end()) at += skipped->arguments;  // perhaps beyond the end
  }
  return 0;
}

}  // namespace internal

std::vector<const KeySpec*> KeySpecsOf(const Command& command) {
  std::vector<const KeySpec*> specs;
  for (const KeySpec* spec : {&command.keys, &command.more_keys}) {
    if (spec->first != 0 || spec->use != 0) specs.push_back(spec);
  }
  return specs;
}

bool HasMovableKeys(const Command& command) {
  const std::vector<const KeySpec*> specs = KeySpecsOf(command);
  return !command.key_after_word.words.empty() ||
         std::any_of(specs.begin(), specs.end(), [](const KeySpec* spec) { return spec->count_at != 0; });
}

std::optional<std::vector<FoundKey>> KeysOf(const Command& command, std::span<const std::string_view> call) {
  std::vector<FoundKey> keys;
  if (!ForEachKey(command, call, [&keys](const FoundKey& key) { keys.push_back(key); })) return std::nullopt;
  return keys;
}

std::vector<std::string_view> KeyUseNames(uint16_t use) {
  struct UseName {
    uint16_t bit;
    std::string_view text;
  };
  constexpr UseName kNames[] = {{kKeyRO, "RO"},
                                {kKeyRW, "RW"},
                                {kKeyOW, "OW"},
                                {kKeyRM, "RM"},
                                {kKeyAccess, "access"},
                                {kKeyUpdate, "update"},
                                {kKeyInsert, "insert"},
                                {kKeyDelete, "delete"},
                                {kKeyVariableFlags, "variable_flags"},
                                {kKeyNone, "not_key"},
                                {kKeyIncomplete, "incomplete"}};
  std::vector<std::string_view> found;
  for (const UseName& name : kNames) {
    if ((use & name.bit) != 0) found.push_back(name.text);
  }
  return found;
}

}  // namespace mayfly
