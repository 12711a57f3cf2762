// Finds the keys among the arguments of a call, by the key specs of the command's row. For COMMAND GETKEYS and
// permissions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "exec/call/command.h"

namespace mayfly {

struct FoundKey {
  std::string_view text;
  uint16_t use;  // KeyUse bits
  size_t index;  // of the argument
};

namespace internal {

// The places of one spec's keys: the first, the end, and the step.
struct Stretch {
  size_t begin;
  size_t end;
  size_t step;
};
// Returns nothing if the spec does not fit the call.
std::optional<Stretch> StretchOf(const KeySpec& spec, std::span<const std::string_view> call) noexcept;
// The index of the first key after a word from argument `at` on; 0 for none.
size_t KeyAfter(const KeyAfterWord& word, size_t at, std::span<const std::string_view> call) noexcept;

}  // namespace internal

// True if some arguments may be keys.
inline bool TakesKeys(const Command& command) noexcept {
  const auto counts = [](const KeySpec& spec) { return spec.first != 0 && (spec.use & kKeyNone) == 0; };
  return counts(command.keys) || counts(command.more_keys) || !command.key_after_word.words.empty();
}

// Calls fn(FoundKey) for each key of a call that begins with the command's name, in the order of the specs. Allocates
// nothing. False if a spec does not fit the call, for example if the number of keys is 0, or larger than the rest of the
// call; fn may have been called for keys of earlier specs.
template <typename Fn>
bool ForEachKey(const Command& command, std::span<const std::string_view> call, Fn&& fn) {
  const KeyAfterWord& word = command.key_after_word;
  if (word.rest) {
    if (const size_t first = internal::KeyAfter(word, word.from, call); first != 0) {
      if (!call[static_cast<size_t>(command.keys.first)].empty()) return false;
      for (size_t at = first; at < call.size(); ++at) fn(FoundKey{call[at], command.keys.use, at});
      return true;
    }
  }
  for (const KeySpec* spec : {&command.keys, &command.more_keys}) {
    if (spec->first == 0 || (spec->use & kKeyNone) != 0) continue;
    const std::optional<internal::Stretch> stretch = internal::StretchOf(*spec, call);
    if (!stretch) return false;
    const uint16_t use = command.key_use != nullptr ? command.key_use(call) : spec->use;
    for (size_t at = stretch->begin; at < std::min(stretch->end, call.size()); at += stretch->step)
      fn(FoundKey{call[at], use, at});
  }
  if (word.words.empty() || word.rest) return true;
  if (word.half) {
    const size_t first = internal::KeyAfter(word, word.from, call);
    if (first == 0 || call.size() - first < 2) return false;
    const size_t keys = (call.size() - first) / 2;
    for (size_t i = 0; i < keys; ++i) fn(FoundKey{call[first + i], word.use, first + i});
    return true;
  }
  for (size_t at = internal::KeyAfter(word, word.from, call); at != 0;) {
    const size_t next = internal::KeyAfter(word, at + 1, call);
    if (word.every || next == 0) fn(FoundKey{call[at], word.use, at});
    at = next;
  }
  return true;
}

// Calls fn(std::string_view) for each shard channel of a call. REQUIRES: the command takes shard channels, and no keys.
template <typename Fn>
void ForEachChannel(const Command& command, std::span<const std::string_view> call, Fn&& fn) {
  const std::optional<internal::Stretch> stretch = internal::StretchOf(command.keys, call);
  if (!stretch) return;
  for (size_t at = stretch->begin; at < stretch->end; at += stretch->step) fn(call[at]);
}

// The specs of a row, in order; none if the command has no keys.
std::vector<const KeySpec*> KeySpecsOf(const Command& command);
// True if the first and last key do not follow from positions alone.
bool HasMovableKeys(const Command& command);

// All keys found by ForEachKey. Returns nothing if a spec does not fit the call.
std::optional<std::vector<FoundKey>> KeysOf(const Command& command, std::span<const std::string_view> call);

// "RO", "access" ...: the use of a key, as COMMAND shows it.
std::vector<std::string_view> KeyUseNames(uint16_t use);

}  // namespace mayfly
