// The log: one line for each event, in Redis's format. Existing tools can search the log.
//
//   12345:M 21 Nov 2025 01:23:45.678 * Ready to accept connections
//
// The mark before the text is the level: '.' debug, '-' verbose, '*' notice, '#' warning. The file is opened for each line
// and may be moved away at any time; lines are rare. Writing a line allocates no memory, so the log can also report that
// memory ran out.
//
// The log counts lines that cannot be written (the disk is full, the file cannot be opened). Standard error gets a report
// when lines begin to be lost, at most once in kComplainMs. The log itself gets a report as soon as a line can be written
// again. Lines may go to the system's log as well (base/log/syslog.h), without pid and date, because the system's log adds
// both. Loop thread only.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/log/log_throttle.h"
#include "base/time/clock.h"

namespace mayfly {

class Syslog;

class Log {
 public:
  enum class Level : uint8_t { kDebug, kVerbose, kNotice, kWarning, kNothing };

  static constexpr uint64_t kComplainMs = 10'000;

  // A part of a line: a number, or a text that must outlive the call.
  class Piece {
   public:
    explicit Piece(std::string_view text) noexcept : text_(text) {}
    template <std::integral Number>
    explicit Piece(Number number) noexcept {
      Write(static_cast<int64_t>(number));
    }
    std::string_view view() const noexcept {
      return digit_count_ != 0 ? std::string_view(digits_.data(), digit_count_) : text_;
    }

   private:
    void Write(int64_t number) noexcept;

    std::string_view text_;
    std::array<char, 20> digits_;  // room for each integer
    size_t digit_count_ = 0;
  };

  // Writes to `path`, or to standard output if `path` is empty. Borrows the clock.
  Log(Clock& clock, Level least, std::string path) : clock_(clock), least_(least), path_(std::move(path)) {}

  // Sends each line to the system's log, too. Borrows `syslog`.
  void AlsoTo(Syslog& syslog) noexcept { syslog_ = &syslog; }
  void set_least(Level least) noexcept { least_ = least; }
  bool Takes(Level level) const noexcept { return level >= least_ && level != Level::kNothing; }
  // Returns true if the log's file can be opened for writing.
  bool Writable() const noexcept;

  // Each method writes the pieces as one line: Warning("closing client ", peer, ": it holds ", bytes, " bytes").
  template <typename... Pieces>
  void Debug(const Pieces&... pieces) noexcept {
    Write(Level::kDebug, {Piece(pieces)...});
  }
  template <typename... Pieces>
  void Verbose(const Pieces&... pieces) noexcept {
    Write(Level::kVerbose, {Piece(pieces)...});
  }
  template <typename... Pieces>
  void Notice(const Pieces&... pieces) noexcept {
    Write(Level::kNotice, {Piece(pieces)...});
  }
  template <typename... Pieces>
  void Warning(const Pieces&... pieces) noexcept {
    Write(Level::kWarning, {Piece(pieces)...});
  }
  void Write(Level level, std::initializer_list<Piece> pieces) noexcept;

 private:
  void NoteLoss(int reason, bool torn) noexcept;

  Clock& clock_;
  Level least_;
  std::string path_;
  Syslog* syslog_ = nullptr;
  uint64_t lost_ = 0;    // lines lost since the last line written
  int lost_reason_ = 0;  // errno of the last lost line
  bool torn_ = false;    // the file has the beginning of a lost line, without a line end
  LogThrottle complaints_{kComplainMs};
};

}  // namespace mayfly
