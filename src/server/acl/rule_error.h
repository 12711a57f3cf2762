// The errors in a rule of a user, with Redis's words.
#pragma once

#include <cstdint>
#include <string_view>

namespace mayfly {

enum class RuleError : uint8_t {
  kNone,
  kUnknownCommand,  // or category
  kSyntax,
  kAfterAllKeys,
  kAfterAllChannels,
  kNoSuchPassword,
  kBadHash,
  kSubcommandArgument,  // +config|get|x
};

// REQUIRES: error is not kNone.
std::string_view TextOf(RuleError error) noexcept;

// True if a text has white space or a zero byte, forbidden in a pattern and in a user's name.
bool HasSpaces(std::string_view text) noexcept;

}  // namespace mayfly
