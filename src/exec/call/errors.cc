#include "exec/call/errors.h"

namespace mayfly::errors {

std::string InvalidExpireTime(std::string_view command) {
  return "ERR invalid expire time in '" + std::string(command) + "' command";
}

std::string WrongArity(std::string_view full_name) {
  return "ERR wrong number of arguments for '" + std::string(full_name) + "' command";
}

std::string WrongSubcommand(std::string_view container, std::string_view word) {
  constexpr size_t kMostRepeated = 128;
  return "ERR unknown subcommand or wrong number of arguments for '" +
         std::string(Repeated(word, kMostRepeated)) + "'. Try " + std::string(container) + " HELP.";
}

}  // namespace mayfly::errors
