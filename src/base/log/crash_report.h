// The report of a crash: the signal, the place, what the process was doing, and a backtrace.
//
// A crash is SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT. The report goes to the log's file and to standard error. The first
// and the last line of a report have the log's form. The writer is a signal handler: it takes no memory and no lock. Data
// that the crash may have damaged is read last, so if the handler crashes as well, the log already has the lines before.
// After the report the signal gets the effect from before Enable, normally the end of the process, so the crash determines
// the exit status and the core file.
//
// The handler has a stack of its own, to report overflows of the loop's or a fiber's stack. The report has no argument, key
// or value. Nor does the report show the general registers, which may hold pieces of copied data.
//
// One per process, since signals belong to the process. Construct the report on the thread whose stack may overflow.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/log/log_time.h"

namespace mayfly {

// The files that receive the lines of a report. May be used in a signal handler.
class CrashText {
 public:
  // An address.
  struct Hex {
    uint64_t number;
  };

  // Borrows the descriptors; -1: none.
  CrashText(int first, int second) noexcept : files_{first, second} {}

  // Writes the pieces, texts and numbers, as one line.
  template <typename... Pieces>
  void Line(const Pieces&... pieces) noexcept {
    (Append(pieces), ...);
    EndLine();
  }
  // Appends a part of a line; the next Line ends the line.
  void Append(std::string_view text) noexcept;
  void Append(Hex address) noexcept;
  template <std::integral Number>
  void Append(Number number) noexcept {
    AppendInteger(static_cast<int64_t>(number));
  }

  const std::array<int, 2>& files() const noexcept { return files_; }

 private:
  static constexpr size_t kLineBytes = 1024;

  void AppendInteger(int64_t number) noexcept;
  void EndLine() noexcept;

  const std::array<int, 2> files_;
  size_t used_ = 0;
  std::array<char, kLineBytes> line_;  // longer lines are cut off
};

// Opens the log's file for a signal handler, as the log does for each line. Returns standard output if `path` is empty, -1
// if the file cannot be opened.
int OpenLogInHandler(const std::string& path) noexcept;
// Appends the head of a warning in the log: "12345:M 21 Nov 2025 01:23:45.678 # ".
void AppendLogHead(CrashText& text, const LogTime& times) noexcept;

class CrashDetails {
 public:
  virtual ~CrashDetails() = default;
  // Writes what the process was doing at the crash. Runs in a signal handler.
  virtual void Append(CrashText& text) const noexcept = 0;
};

class CrashReport {
 public:
  // Off until Enable. `logfile` is the log's file; empty: standard output. Borrows `details`.
  CrashReport(std::string logfile, const CrashDetails& details);
  CrashReport(const CrashReport&) = delete;
  CrashReport& operator=(const CrashReport&) = delete;
  ~CrashReport();

  void Enable(bool on) noexcept;
};

}  // namespace mayfly
