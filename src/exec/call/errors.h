// Error texts shared by several commands, in Redis's words, each with a code.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace mayfly::errors {

inline constexpr std::string_view kSyntax = "ERR syntax error";
inline constexpr std::string_view kNotInteger = "ERR value is not an integer or out of range";
inline constexpr std::string_view kNotInt32 =
    "ERR value is out of range, value must between -2147483648 and 2147483647";
inline constexpr std::string_view kNotFloat = "ERR value is not a valid float";
inline constexpr std::string_view kWrongType =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr std::string_view kNoSuchKey = "ERR no such key";
inline constexpr std::string_view kSameObject = "ERR source and destination objects are the same";
inline constexpr std::string_view kNoSuchDatabase = "ERR DB index is out of range";
inline constexpr std::string_view kOverflow = "ERR increment or decrement would overflow";
inline constexpr std::string_view kOutOfMemory = "OOM command not allowed when used memory > 'maxmemory'.";
inline constexpr std::string_view kTtlRequired = "ERR a TTL is required for this key";
inline constexpr std::string_view kOwnersExhausted = "ERR namespaces have keys in too many databases";
inline constexpr std::string_view kBusyScript =
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
inline constexpr std::string_view kBusyFunction =
    "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.";
inline constexpr std::string_view kLoading = "LOADING Redis is loading the dataset in memory";
inline constexpr std::string_view kFewReplicas = "NOREPLICAS Not enough good replicas to write.";
inline constexpr std::string_view kReadOnly = "READONLY You can't write against a read only replica.";
inline constexpr std::string_view kMasterDown =
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
inline constexpr std::string_view kUnsaved =
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. "
    "Commands that may "
    "modify the data set are disabled, because this instance is configured to report errors during writes if "
    "RDB "
    "snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about "
    "the RDB "
    "error.";
inline constexpr std::string_view kStringTooBig =
    "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
inline constexpr std::string_view kNoAuth = "NOAUTH Authentication required.";
inline constexpr std::string_view kWrongPassword =
    "WRONGPASS invalid username-password pair or user is disabled.";

// The part of an argument repeated in an error: at most `most` bytes, and nothing from the first zero byte on, as in Redis:
// the line stays text.
inline std::string_view Repeated(std::string_view argument, size_t most = std::string_view::npos) noexcept {
  return argument.substr(0, std::min(most, argument.find('\0')));
}
std::string InvalidExpireTime(std::string_view command);
std::string WrongArity(std::string_view full_name);
// A container's error for arguments that fit no subcommand. `container`: upper case.
std::string WrongSubcommand(std::string_view container, std::string_view word);

}  // namespace mayfly::errors
