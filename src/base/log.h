// The log: one line per event, in Redis's format, so that existing tools can search it.
//
//   12345:M 21 Nov 2025 01:23:45.678 * Ready to accept connections
//
// The mark before the text is the level: '.' debug, '-' verbose, '*' notice, '#' warning. The file is opened
// for each line, so it may be moved away at any time; lines are rare. Loop thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace mayfly {

class Log {
 public:
  enum class Level : uint8_t { kDebug, kVerbose, kNotice, kWarning, kNothing };

  // Writes to the file `path`, or to standard output if `path` is empty. Borrows the clock.
  Log(Clock& clock, Level least, std::string path) : clock_(clock), least_(least), path_(std::move(path)) {}

  void set_least(Level least) noexcept { least_ = least; }
  bool Takes(Level level) const noexcept { return level >= least_ && level != Level::kNothing; }
  // Whether the log file can be opened for writing.
  bool Writable() const;

  void Debug(std::string_view text) { Write(Level::kDebug, text); }
  void Verbose(std::string_view text) { Write(Level::kVerbose, text); }
  void Notice(std::string_view text) { Write(Level::kNotice, text); }
  void Warning(std::string_view text) { Write(Level::kWarning, text); }
  void Write(Level level, std::string_view text);

 private:
  Clock& clock_;
  Level least_;
  std::string path_;
};

// Formats the line for `text`, without a line end.
std::string FormatLogLine(Log::Level level, std::string_view text, int pid, int64_t wall_ms);

}  // namespace mayfly
