// Parses the `syntax` text of a command row into the tree of arguments for COMMAND DOCS.
//
//   lower-case words     a value: "key", "seconds"; its type follows from its name
//   UPPER-CASE words     a literal word; before a value, the token of that value: "EX seconds"
//   [ ... ]              may be left out                    "[NX]"
//   < ... >              keeps choices together             "<MODULE module-name | PATTERN pattern>"
//   a | b                one of them, within brackets; outside of brackets | joins two single words: "ON|OFF"
//   x [x ...]            may be repeated; several words too: "key value [key value ...]"
//   [ ... ] ...          may be repeated with its token: "[GET encoding offset] ..."
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly {

enum class ArgumentType : uint8_t {
  kString,
  kInteger,
  kDouble,
  kKey,
  kPattern,
  kUnixTime,
  kPureToken,
  kOneOf,
  kBlock
};

struct SyntaxArgument {
  std::string name;
  ArgumentType type = ArgumentType::kString;
  std::string token;  // the literal word, or the one before the value
  bool optional = false;
  bool multiple = false;
  bool multiple_token = false;            // repeated together with its token
  std::vector<SyntaxArgument> arguments;  // of a choice or a block
};

// "string", "pure-token" ... as COMMAND DOCS spells it.
std::string_view NameOf(ArgumentType type) noexcept;

// Nothing if brackets do not match or a sign stands in the wrong place.
std::optional<std::vector<SyntaxArgument>> ParseSyntax(std::string_view syntax);

}  // namespace mayfly
