#include "exec/dispatch/errors.h"

namespace mayfly::errors {

std::string InvalidExpireTime(std::string_view command) {
  return "ERR invalid expire time in '" + std::string(command) + "' command";
}

std::string WrongArity(std::string_view full_name) {
  return "ERR wrong number of arguments for '" + std::string(full_name) + "' command";
}

}  // namespace mayfly::errors
