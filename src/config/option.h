// One row of the table of options, and how to find a row.
//
// The table feeds the conf file, the command line, the environment, CONFIG GET and CONFIG SET, and a test
// holds conf/mayfly.conf against it. It has two halves: the options that mean something here
// (option_table.cc) and those that only Redis knows (redis_options.cc), which are kept as text, so that a
// mounted redis.conf is accepted. Static data, never changed.
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

// The kind of a Redis option without a meaning here: enough to refuse each value that Redis refuses, and to
// answer CONFIG GET in Redis's form (bytes as a plain number).
enum class Foreign : uint8_t {
  kYesNo,
  kInteger,
  kBytes,
  kBytesOrPercent,
  kChoice,         // one of Option::choices
  kShutdownFlags,  // some of Option::choices
  kText,
  kWords,          // several words, joined by one space
  kSavePoints,     // "" or pairs of seconds and changes
  kOomScores,      // three numbers
  kEventClasses,   // letters, each a class of keyspace events
  kFileName,       // without a path
  kDirectoryName,  // without a path
  kHostName,
  kTitleTemplate,  // text with {variables}
  kReplicaOf,      // "no one" is the same as ""
};

// Where an option's value lives. The type of the member is the type of the option.
using Target = std::variant<
    Foreign, bool Settings::*, int64_t Settings::*, uint64_t Settings::*, std::string Settings::*,
    std::vector<BindAddress> Settings::*, std::vector<double> Settings::*, std::vector<Renaming> Settings::*,
    EvictionPolicy Settings::*, LogLevel Settings::*, DebugCommand Settings::*, MaxMemory Settings::*,
    OutputLimits Settings::*, FileMode Settings::*, Directory Settings::*>;

enum OptionFlag : uint32_t {
  kFixed = 1 << 0,      // needs a restart: CONFIG SET refuses it
  kProtected = 1 << 1,  // as above, with the error that Redis gives for paths
  kSecret = 1 << 2,     // never told in a log line or an error
  kMultiWord = 1 << 3,  // its value may be several words
  kIgnored = 1 << 4,    // accepted, remembered, without effect
  kRefused = 1 << 5,    // any value but the default is an error: its silent loss would hurt
  kInert = 1 << 6,      // CONFIG GET answers the default, whatever was asked for: that is what is in force
  kQuiet = 1 << 7,      // no warning when it is set to its default
  kNoConfig =
      1 << 8,  // a line of the file or command line, but no parameter of CONFIG and no MAYFLY_ variable
};

struct Option {
  std::string_view name;
  std::string_view alias;  // an older name for the same option, or ""
  Target target;
  std::string_view default_text;  // as a conf file would say it
  uint32_t flags = 0;
  int64_t min = 0;  // of a number, inclusive; of a file's name, 1 if it must not be empty
  int64_t max = std::numeric_limits<int64_t>::max();
  // What it is for; of a refused option why; of an ignored one what to tell the user, if there is something
  // special.
  std::string_view doc;
  // Of a Redis option: the words that it may be, separated by spaces; "relative=yes" is answered as yes.
  std::string_view choices = {};

  bool Has(OptionFlag flag) const noexcept { return (flags & flag) != 0; }
};

std::span<const Option> MayflyOptions() noexcept;
std::span<const Option> RedisOptions() noexcept;

// By name or alias, in any case; nullptr for an unknown name.
const Option* FindOption(std::string_view name) noexcept;

}  // namespace mayfly::config
