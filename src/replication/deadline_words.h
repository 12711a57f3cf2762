// The last words of a SET with a deadline, "PXAT" and the Unix time. They are kept for the next one: requests of one turn that ask
// for the same TTL have the same deadline.
//
// Loop thread only. Units: milliseconds since 1970.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/text/numbers.h"
#include "resp/request_text.h"

namespace mayfly {

class DeadlineWords {
 public:
  // What Write may touch.
  static constexpr size_t kRoom = 64;

  // Writes the words. Returns their end.
  char* Write(char* out, int64_t unix_ms) noexcept {
    if (unix_ms != unix_ms_) Make(unix_ms);
    std::memcpy(out, words_.data(), kRoom);
    return out + size_;
  }

 private:
  static constexpr std::string_view kName = "$4\r\nPXAT\r\n";
  static_assert(kName.size() + resp::kMostAroundWord + kMaxIntegerText <= kRoom);

  void Make(int64_t unix_ms) noexcept {
    char digits[kMaxIntegerText];
    const size_t size = FormatInteger(unix_ms, digits);
    char* const number = words_.data() + kName.copy(words_.data(), kName.size());
    size_ = static_cast<size_t>(resp::WriteWord(number, {digits, size}) - words_.data());
    unix_ms_ = unix_ms;
  }

  int64_t unix_ms_ = -1;
  size_t size_ = 0;
  std::array<char, kRoom> words_{};
};

}  // namespace mayfly
