// One row of the table of options, and the look-up of a row.
//
// The conf file, the command line, the environment, CONFIG GET and CONFIG SET all use this table, and a test
// compares conf/mayfly.conf with it. It has two halves: the options that have an effect here
// (option_table.cc), and those that only Redis has (redis_options.cc). The latter are kept as texts, so that a
// redis.conf can be used as it is. Static data, never changed.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/settings.h"

namespace mayfly::config {

// The kind of an option that only Redis has. It suffices to refuse each value that Redis refuses, and to
// answer CONFIG GET in Redis's form (bytes as a plain number).
enum class Foreign : uint8_t {
  kYesNo,
  kInteger,
  kBytes,
  kChoice,         // one of Option::choices
  kShutdownFlags,  // some of Option::choices
  kText,
  kWords,          // several words, joined by one space
  kSavePoints,     // "" or pairs of seconds and changes
  kOomScores,      // three numbers
  kFileName,       // without a path
  kDirectoryName,  // without a path
  kTitleTemplate,  // text with {variables}
  kReplicaOf,      // "no one" is the same as ""
};

// Where an option's value lives. The type of the member is the type of the option.
using Target = std::variant<
    Foreign, bool Settings::*, int64_t Settings::*, uint64_t Settings::*, std::string Settings::*,
    std::vector<BindAddress> Settings::*, std::vector<double> Settings::*, std::vector<Renaming> Settings::*,
    EvictionPolicy Settings::*, LogLevel Settings::*, DebugCommand Settings::*, ClusterMode Settings::*,
    EndpointType Settings::*, HostName Settings::*, Supervised Settings::*, SyslogFacility Settings::*,
    TlsAuthClients Settings::*, MaxMemory Settings::*, OutputLimits Settings::*, ClientMemory Settings::*,
    FileMode Settings::*, Directory Settings::*, EventClasses Settings::*, Duration Settings::*,
    std::vector<TtlRule> Settings::*, std::vector<NamespaceTerms> Settings::*,
    std::vector<UserLine> Settings::*, PubSubDefault Settings::*>;

enum OptionFlag : uint32_t {
  kFixed = 1 << 0,      // needs a restart: CONFIG SET refuses it
  kProtected = 1 << 1,  // the same, with the error that Redis gives for paths
  kSecret = 1 << 2,     // its value is never shown in a log line or an error
  kMultiWord = 1 << 3,  // its value may be several words
  kIgnored = 1 << 4,    // accepted and remembered, without effect
  kRefused = 1 << 5,    // any value but the default is an error, because its silent loss would hurt
  kInert = 1 << 6,      // CONFIG GET answers the default, which is in force whatever was set
  kQuiet = 1 << 7,      // no warning if it is set to its default
  kNoConfig = 1 << 8,   // CONFIG does not know it; if only Redis has it, neither do MAYFLY_ variables
  kRepeats = 1 << 9,    // each line of a file adds to the value; "" empties it
  kToken = 1 << 10,     // of letters, digits and a few signs: it is a part of lines that programs read
};

// Usual bounds of numbers.
inline constexpr int64_t kIntMax = std::numeric_limits<int32_t>::max();
inline constexpr int64_t kIntMin = std::numeric_limits<int32_t>::min();
inline constexpr int64_t kUnsignedMax = std::numeric_limits<uint32_t>::max();
inline constexpr int64_t kNoMax = std::numeric_limits<int64_t>::max();

struct Option {
  std::string_view name;
  std::string_view alias;  // an older name for the same option, or ""
  Target target;
  std::string_view default_text;  // as a conf file would have it
  uint32_t flags = 0;
  int64_t min = 0;  // of a number, inclusive; of a file's name, 1 if it must not be empty
  int64_t max = kNoMax;
  // What the option is for. If it is refused: why. If it is ignored: a warning of its own, or nothing.
  std::string_view doc;
  // The words that it may be, separated by spaces; CONFIG GET answers "yes" for "relative=yes".
  std::string_view choices = {};

  bool Has(OptionFlag flag) const noexcept { return (flags & flag) != 0; }
};

std::span<const Option> MayflyOptions() noexcept;
std::span<const Option> RedisOptions() noexcept;

// By name or alias, in any case; nullptr for an unknown name.
const Option* FindOption(std::string_view name) noexcept;

}  // namespace mayfly::config
