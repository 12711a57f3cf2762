#include "server/acl/rule_error.h"

namespace mayfly {

std::string_view TextOf(RuleError error) noexcept {
  switch (error) {
    case RuleError::kUnknownCommand:
      return "Unknown command or category name in ACL";
    case RuleError::kAfterAllKeys:
      return "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have "
             "any "
             "effect. Try 'resetkeys' to start with an empty list of patterns";
    case RuleError::kAfterAllChannels:
      return "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not "
             "have "
             "any effect. Try 'resetchannels' to start with an empty list of channels";
    case RuleError::kNoSuchPassword:
      return "The password you are trying to remove from the user does not exist";
    case RuleError::kBadHash:
      return "The password hash must be exactly 64 characters and contain only lowercase hexadecimal "
             "characters";
    case RuleError::kSubcommandArgument:
      return "Allowing first-arg of a subcommand is not supported";
    case RuleError::kNone:
    case RuleError::kSyntax:
      break;
  }
  return "Syntax error";
}

bool HasSpaces(std::string_view text) noexcept {
  return text.find_first_of(std::string_view(" \t\n\v\f\r\0", 7)) != std::string_view::npos;
}

}  // namespace mayfly
