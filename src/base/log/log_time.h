// The time as the log writes it: "21 Nov 2025 01:23:45.678", in the time zone of the machine.
//
// For signal handlers, which must not ask the C library for the time zone, since that takes locks. So its offsets are
// learnt before: those of the next years, as far as is known today.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mayfly {

class LogTime {
 public:
  using Text = std::array<char, 40>;

  // Learns the offsets from this second of Unix time on.
  explicit LogTime(int64_t now_s) noexcept;

  // Written into `room`. May be used in a signal handler.
  std::string_view Write(int64_t wall_ms, Text& room) const noexcept;

 private:
  static constexpr int64_t kYears = 5;
  static constexpr size_t kOffsetsMax = 4 * kYears;  // two changes a year, and more where Ramadan counts

  struct Offset {
    int64_t since_s;
    int64_t offset_s;  // of local time from UTC
  };

  std::array<Offset, kOffsetsMax> offsets_;  // by time
  size_t count_ = 0;
};

}  // namespace mayfly
