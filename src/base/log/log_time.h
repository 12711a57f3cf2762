// The time in the log's format: "21 Nov 2025 01:23:45.678", in the time zone of the machine.
//
// For signal handlers: the C library takes locks to find the time zone, so a handler must not ask the library. LogTime
// learns the offsets from UTC before: the offsets of the next years, as known today.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mayfly {

class LogTime {
 public:
  using Text = std::array<char, 40>;

  // Learns the offsets from second `now_s` of Unix time on.
  explicit LogTime(int64_t now_s) noexcept;

  // Writes the time into `room`. May be used in a signal handler.
  std::string_view Write(int64_t wall_ms, Text& room) const noexcept;

 private:
  static constexpr int64_t kYears = 5;
  static constexpr size_t kOffsetsMax =
      4 * kYears;  // two changes a year, more in countries that observe Ramadan

  struct Offset {
    int64_t since_s;
    int64_t offset_s;  // of local time from UTC
  };

  std::array<Offset, kOffsetsMax> offsets_;  // by time
  size_t count_ = 0;
};

}  // namespace mayfly
