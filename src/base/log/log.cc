#include "base/log/log.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/log/syslog.h"
#include "base/text/numbers.h"
#include "base/time/clock.h"

namespace mayfly {
namespace {

// Appends a text to a line and keeps the line one line, whatever bytes a client's name or address has.
template <typename Line>
void AppendOnOneLine(Line& line, std::string_view text) noexcept {
  constexpr std::string_view kLineEnds = "\r\n";
  while (!text.empty()) {
    const std::string_view plain = text.substr(0, text.find_first_of(kLineEnds));
    line.Append(plain);
    text.remove_prefix(plain.size());
    if (text.empty()) return;
    line.Append(" ");
    text.remove_prefix(1);
  }
}

// The beginning of a line, up to the limit of the system's log.
class ShortLine {
 public:
  void Append(std::string_view text) noexcept {
    used_ += text.copy(bytes_.data() + used_, bytes_.size() - used_);
  }
  std::string_view view() const noexcept { return {bytes_.data(), used_}; }

 private:
  size_t used_ = 0;
  std::array<char, Syslog::kLineBytes> bytes_;
};

// Collects a line on the stack. A line that fits the buffer is a single write: lines of several processes that share a file
// do not mix.
class LineWriter {
 public:
  explicit LineWriter(int file) noexcept : file_(file) {}

  void Append(std::string_view text) noexcept {
    while (!text.empty()) {
      if (used_ == bytes_.size()) Flush();
      const size_t copied = text.copy(bytes_.data() + used_, bytes_.size() - used_);
      used_ += copied;
      text.remove_prefix(copied);
    }
  }
  // Writes the buffer to the file. After a failed write the rest of the line is lost.
  void Flush() noexcept {
    const char* at = bytes_.data();
    while (used_ != 0 && reason_ == 0) {
      const ssize_t written = write(file_, at, used_);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        reason_ = written < 0 ? errno : EIO;
      } else {
        at += written;
        used_ -= static_cast<size_t>(written);
        begun_ = true;
      }
    }
    used_ = 0;
  }
  // The errno of the failed write; 0: no write failed.
  int reason() const noexcept { return reason_; }
  // Returns true if the file has got at least one byte.
  bool begun() const noexcept { return begun_; }

 private:
  static constexpr size_t kLineBytes = 4096;

  const int file_;
  int reason_ = 0;
  bool begun_ = false;
  size_t used_ = 0;
  std::array<char, kLineBytes> bytes_;
};

// Appends "12345:M 21 Nov 2025 01:23:45.678 * ".
void AppendHead(LineWriter& line, Log::Level level, int64_t wall_ms) noexcept {
  constexpr std::string_view kMarks = ".-*#";
  const auto seconds = static_cast<time_t>(wall_ms / kMsPerSecond);
  tm broken_down{};
  localtime_r(&seconds, &broken_down);
  std::array<char, 64> date{};
  strftime(date.data(), date.size(), "%d %b %Y %H:%M:%S", &broken_down);
  std::array<char, 96> head{};
  const int length =
      std::snprintf(head.data(), head.size(), "%d:M %s.%03d %c ", getpid(), date.data(),
                    static_cast<int>(wall_ms % kMsPerSecond), kMarks[static_cast<size_t>(level)]);
  line.Append({head.data(), static_cast<size_t>(std::max(length, 0))});
}

void WriteToSyslog(Syslog& syslog, Log::Level level, int64_t wall_ms,
                   std::initializer_list<Log::Piece> pieces) noexcept {
  using enum Syslog::Severity;
  constexpr std::array kSeverities = {kDebug, kInfo, kNotice, kWarning};  // as Redis maps its levels
  ShortLine line;
  for (const Log::Piece& piece : pieces) AppendOnOneLine(line, piece.view());
  syslog.Send(kSeverities[static_cast<size_t>(level)], wall_ms, line.view());
}

int OpenToAppend(const std::string& path) noexcept {
  constexpr mode_t kAsUmaskSays = 0666;
  return open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kAsUmaskSays);
}

}  // namespace

void Log::Piece::Write(int64_t number) noexcept {
  static_assert(sizeof digits_ >= kMaxIntegerText);
  digit_count_ = FormatInteger(number, digits_.data());
}

bool Log::Writable() const noexcept {
  if (path_.empty()) return true;
  const int file = OpenToAppend(path_);
  if (file >= 0) close(file);
  return file >= 0;
}

void Log::Write(Level level, std::initializer_list<Piece> pieces) noexcept {
  if (!Takes(level)) return;
  const int64_t wall_ms = clock_.Read().wall_ms;
  if (syslog_ != nullptr) WriteToSyslog(*syslog_, level, wall_ms, pieces);
  const int file = path_.empty() ? STDOUT_FILENO : OpenToAppend(path_);
  if (file < 0) return NoteLoss(errno, torn_);
  LineWriter line(file);
  if (torn_) line.Append("\n");
  if (lost_ != 0) {
    AppendHead(line, Level::kWarning, wall_ms);
    line.Append("lines of this log that were lost: ");
    line.Append(Piece(lost_).view());
    line.Append(" (");
    line.Append(std::strerror(lost_reason_));
    line.Append(")\n");
  }
  AppendHead(line, level, wall_ms);
  for (const Piece& piece : pieces) AppendOnOneLine(line, piece.view());
  line.Append("\n");
  line.Flush();
  if (file != STDOUT_FILENO) close(file);
  if (line.reason() != 0) return NoteLoss(line.reason(), torn_ || line.begun());
  lost_ = 0;
  torn_ = false;
}

void Log::NoteLoss(int reason, bool torn) noexcept {
  lost_reason_ = reason;
  torn_ = torn;
  if (lost_++ != 0 || complaints_.Note(clock_.Read().mono_ms) == 0) return;
  LineWriter line(STDERR_FILENO);
  line.Append("mayfly: cannot write to the log");
  if (!path_.empty()) {
    line.Append(" ");
    AppendOnOneLine(line, path_);
  }
  line.Append(": ");
  line.Append(std::strerror(reason));
  line.Append("; its lines are lost until that is mended\n");
  line.Flush();
}

}  // namespace mayfly
