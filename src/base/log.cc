#include "base/log.h"

#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace mayfly {

std::string FormatLogLine(Log::Level level, std::string_view text, int pid, int64_t wall_ms) {
  constexpr std::string_view kMarks = ".-*#";
  const time_t seconds = static_cast<time_t>(wall_ms / 1000);
  tm broken_down{};
  localtime_r(&seconds, &broken_down);
  std::array<char, 64> date{};
  strftime(date.data(), date.size(), "%d %b %Y %H:%M:%S", &broken_down);
  std::array<char, 96> head{};
  const int length = std::snprintf(head.data(), head.size(), "%d:M %s.%03d %c ", pid, date.data(),
                                   static_cast<int>(wall_ms % 1000), kMarks[static_cast<size_t>(level)]);
  std::string line(head.data(), static_cast<size_t>(length));
  // One line per event, even if a client's name contains line ends.
  for (const char c : text) line += c == '\n' || c == '\r' ? ' ' : c;
  return line;
}

bool Log::Writable() const {
  if (path_.empty()) return true;
  std::FILE* file = std::fopen(path_.c_str(), "a");
  if (file == nullptr) return false;
  std::fclose(file);
  return true;
}

void Log::Write(Level level, std::string_view text) {
  if (!Takes(level)) return;
  const std::string line = FormatLogLine(level, text, getpid(), clock_.Read().wall_ms) + '\n';
  std::FILE* file = path_.empty() ? stdout : std::fopen(path_.c_str(), "a");
  if (file == nullptr) return;  // there is no place to report this
  std::fwrite(line.data(), 1, line.size(), file);
  if (file == stdout)
    std::fflush(file);
  else
    std::fclose(file);
}

}  // namespace mayfly
