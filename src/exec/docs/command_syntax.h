// Parses the `syntax` text of a command row into the tree of arguments for COMMAND DOCS.
//
//   lower-case words     a value: "key", "seconds"; the name decides the type
//   UPPER-CASE words     a literal word; before a value, the token of that value: "EX seconds"
//   ""                   an empty argument
//   [ ... ]              optional                           "[NX]"
//   < ... >              keeps choices together             "<MODULE module-name | PATTERN pattern>"
//   a | b                a or b, within brackets; outside of brackets | joins two single words: "ON|OFF"
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
  std::string token;  // the literal word, or the word before the value
  bool optional = false;
  bool multiple = false;
  bool multiple_token = false;            // repeated together with its token
  std::vector<SyntaxArgument> arguments;  // of a choice or a block
};

// "string", "pure-token" ... as spelled in COMMAND DOCS.
std::string_view NameOf(ArgumentType type) noexcept;

// Returns nothing if brackets do not match or a sign stands in the wrong place.
std::optional<std::vector<SyntaxArgument>> ParseSyntax(std::string_view syntax);

}  // namespace mayfly
