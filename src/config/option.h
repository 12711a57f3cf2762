// One row of the table of options, and the look-up of a row.
//
// The conf file, the command line, the environment, CONFIG GET and CONFIG SET all use this table, and a test compares
// conf/mayfly.conf with the table. The table has two halves: the options with an effect here (option_table.cc), and the
// options that only Redis has (redis_options.cc). Values of the latter are kept as texts, for the use of an unchanged
// redis.conf. Static data, never changed.
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

// The kind of an option that only Redis has. The kind suffices to refuse each value that Redis refuses, and to answer CONFIG
// GET in Redis's form (bytes as a plain number).
enum class Foreign : uint8_t {
  kYesNo,
  kInteger,
  kBytes,
  kChoice,  // one of Option::choices
  kText,
  kWords,          // several words, joined by one space
  kOomScores,      // three numbers
  kFileName,       // without a path
  kDirectoryName,  // without a path
  kTitleTemplate,  // text with {variables}
};

// The place of an option's value. The type of the member is the type of the option.
using Target = std::variant<
    Foreign, bool Settings::*, int64_t Settings::*, uint64_t Settings::*, std::string Settings::*,
    std::vector<BindAddress> Settings::*, std::vector<double> Settings::*, std::vector<Renaming> Settings::*,
    EvictionPolicy Settings::*, LogLevel Settings::*, DebugCommand Settings::*, ClusterMode Settings::*,
    EndpointType Settings::*, HostName Settings::*, Supervised Settings::*, SyslogFacility Settings::*,
    TlsAuthClients Settings::*, MaxMemory Settings::*, OutputLimits Settings::*, ClientMemory Settings::*,
    FileMode Settings::*, Directory Settings::*, EventClasses Settings::*, Duration Settings::*,
    std::vector<TtlRule> Settings::*, std::vector<NamespaceTerms> Settings::*,
    std::vector<UserLine> Settings::*, PubSubDefault Settings::*, std::vector<SavePoint> Settings::*,
    ShutdownFlags Settings::*, LoadMode Settings::*, MasterAddress Settings::*>;

enum OptionFlag : uint32_t {
  kFixed = 1 << 0,      // needs a restart: CONFIG SET refuses the option
  kProtected = 1 << 1,  // like kFixed, with Redis's error for paths
  kSecret = 1 << 2,     // the value is never shown in a log line or an error
  kMultiWord = 1 << 3,  // the value may be several words
  kIgnored = 1 << 4,    // accepted and remembered, without effect
  kRefused = 1 << 5,  // any value but the default is an error, because a silent loss of the value would hurt
  kInert = 1 << 6,    // CONFIG GET answers the default, in force whatever the user sets
  kNoConfig =
      1 << 7,  // unknown to CONFIG; options that only Redis has are then unknown to MAYFLY_ variables, too
  kRepeats = 1 << 8,    // each line of a file adds to the value; "" empties the value
  kToken = 1 << 9,      // of letters, digits and a few signs: programs read the lines with the value
  kFileName = 1 << 10,  // the name of a file in the working directory: without a path
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
  std::string_view default_text;  // in the form of a conf file
  uint32_t flags = 0;
  int64_t min = 0;  // of a number, inclusive; of a file's name, 1 if the name must not be empty
  int64_t max = kNoMax;
  // The purpose of the option. For a refused option the reason. For an ignored option a warning of its own, or nothing.
  std::string_view doc;
  // The possible words of the value, separated by spaces; CONFIG GET answers "yes" for "relative=yes".
  std::string_view choices = {};

  bool Has(OptionFlag flag) const noexcept { return (flags & flag) != 0; }
};

std::span<const Option> MayflyOptions() noexcept;
std::span<const Option> RedisOptions() noexcept;

// By name or alias, in any case; nullptr for an unknown name.
const Option* FindOption(std::string_view name) noexcept;
// The option whose value lives in this member of Settings; nullptr if there is none.
const Option* FindOption(const Target& member) noexcept;

}  // namespace mayfly::config
