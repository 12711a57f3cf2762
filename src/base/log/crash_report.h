// The report of a crash: the signal, the place, the words of a witness, and a backtrace.
//
// A crash is SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT. The report goes to the log's file and to standard error; it begins
// and ends with a line in the log's form. It is
// written by a signal handler, so it takes no memory and no lock, and it reads what may be broken last: if writing it
// crashes as well, what stands before is in the log already. Then the signal gets the effect that it had before Enable,
// normally to end the process, so the exit status and the core file are those of the crash.
//
// The handler has a stack of its own, so that it can report that another one was too small: the loop's or a fiber's. The
// report has no argument, key or value. Nor does it show the general registers, which hold pieces of what is copied.
//
// One per process, since signals belong to the process. Construct it on the thread whose stack may overflow.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/log/log.h"
#include "base/log/log_time.h"

namespace mayfly {

// Where the report's lines go. May be used in a signal handler.
class CrashText {
 public:
  // An address.
  struct Hex {
    uint64_t number;
  };

  // Borrows the descriptors; -1: none.
  CrashText(int first, int second) noexcept : files_{first, second} {}

  // Writes its pieces, texts and numbers, as one line.
  template <typename... Pieces>
  void Line(const Pieces&... pieces) noexcept {
    (Append(pieces), ...);
    EndLine();
  }
  // A part of a line that Line ends.
  void Append(std::string_view text) noexcept;
  void Append(Hex address) noexcept;
  template <std::integral Number>
  void Append(Number number) noexcept {
    Append(Log::Piece(number).view());
  }

  const std::array<int, 2>& files() const noexcept { return files_; }

 private:
  static constexpr size_t kLineBytes = 1024;

  void EndLine() noexcept;

  const std::array<int, 2> files_;
  size_t used_ = 0;
  std::array<char, kLineBytes> line_;  // what is longer is cut off
};

// For handlers of signals. The log's file, opened anew as the log does for each line: standard output if `path` is empty, -1
// if it cannot be opened.
int OpenLogInHandler(const std::string& path) noexcept;
// "12345:M 21 Nov 2025 01:23:45.678 # ", as the log begins a warning.
void AppendLogHead(CrashText& text, const LogTime& times) noexcept;

class CrashWitness {
 public:
  virtual ~CrashWitness() = default;
  // Writes what the process did when it crashed. Runs in a signal handler.
  virtual void Testify(CrashText& text) const noexcept = 0;
};

class CrashReport {
 public:
  // Off until Enable. `logfile` as the log has it; empty: standard output. Borrows the witness.
  CrashReport(std::string logfile, const CrashWitness& witness);
  CrashReport(const CrashReport&) = delete;
  CrashReport& operator=(const CrashReport&) = delete;
  ~CrashReport();

  void Enable(bool on) noexcept;
};

}  // namespace mayfly
