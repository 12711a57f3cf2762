// The last words of a SET with a deadline: "PXAT" and the Unix time. The words are kept for the next SET: requests of one
// turn with the same TTL have the same deadline.
//
// Loop thread only. Units: milliseconds since 1970.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/text/numbers.h"
#include "base/text/short_bytes.h"
#include "resp/request_text.h"

namespace mayfly {

class DeadlineWords {
 public:
  // Write may touch this many bytes.
  static constexpr size_t kRoom = 64;

  // Writes the words and returns the end.
  [[gnu::always_inline]] char* Write(char* out, int64_t unix_ms) noexcept {
    if (unix_ms != unix_ms_) [[unlikely]]
      return WriteOther(out, unix_ms);
    internal::CopyEndPairs<1>(out, words_.data(), kUsual);
    return out + kUsual;
  }

 private:
  static constexpr std::string_view kName = "$4\r\nPXAT\r\n";
  static_assert(kName.size() + resp::kMostAroundWord + kMaxIntegerText <= kRoom);
  // The size with a time of 13 digits, as until the year 2286. Words of another size are not kept.
  static constexpr size_t kUsual = kName.size() + 5 + 13 + 2;

  [[gnu::noinline]] char* WriteOther(char* out, int64_t unix_ms) noexcept {
    char digits[kMaxIntegerText];
    const size_t size = FormatInteger(unix_ms, digits);
    CopyBytes(out, kName.data(), kName.size());
    char* const end = resp::WriteWord(out + kName.size(), {digits, size});
    if (end - out == kUsual) {
      unix_ms_ = unix_ms;
      CopyBytes(words_.data(), out, kUsual);
    }
    return end;
  }

  int64_t unix_ms_ = -1;
  std::array<char, kUsual> words_{};
};

}  // namespace mayfly
