// The quick path of Parser: requests that have arrived whole. Included by who parses.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "resp/args.h"
#include "resp/limits.h"
#include "resp/parser.h"

namespace mayfly::resp {

// Reads a decimal number and its line end at `p`. Returns the address after the line end, or null if the text is incomplete
// or the number has a sign or leading zeros. Like Redis, ReadCount does not check the byte after the carriage return.
inline const char* ReadCount(const char* p, const char* end, size_t& value) noexcept {
  constexpr ptrdiff_t kDigitsMax = 18;  // every number of 18 digits fits into 64 bits
  const char* const first = p;
  const char* const stop = end - first > kDigitsMax ? first + kDigitsMax : end;
  size_t number = 0;
  for (; p < stop && static_cast<unsigned char>(*p - '0') <= 9; ++p)
    number = number * 10 + static_cast<unsigned char>(*p - '0');
  if (end - p < 2 || *p != '\r' || p == first || (*first == '0' && p - first > 1)) return nullptr;
  value = number;
  return p + 2;
}

// Parses nearly every request: a complete request with numbers without a sign or leading zeros. Returns false for any other
// request, with nothing appended; Resume then parses the request from its first byte. Costs about 35 instructions, and 18 to
// 28 for each argument.
inline bool Parser::ParseWhole(std::string_view input, const Limits& limits, ArgList& args,
                               Request& request) {
  static_assert(std::endian::native == std::endian::little);
  constexpr uint32_t kCountHeader = 0x0A0D302A;  // "*0\r\n"
  const char* const data = input.data();
  if (input.size() < 4 + kShortestArgument) return false;
  uint32_t header;
  std::memcpy(&header, data, sizeof header);
  // A header minus its pattern is a digit in byte 1 and zeros elsewhere; after the rotation any other text is above 9.
  size_t count = std::rotr(header - kCountHeader, 8);
  size_t at = 4;
  if (count - 1 > 8) [[unlikely]] {
    const char* const after = *data == '*' ? ReadCount(data + 1, data + input.size(), count) : nullptr;
    if (after == nullptr || count - 1 >= static_cast<size_t>(limits.max_arguments)) return false;
    at = static_cast<size_t>(after - data);
    // Bounds the reserved memory by the number of received bytes.
    if (at + count * kShortestArgument > input.size()) return false;
  }
  if (!ParseArguments(input, limits, args.Reserve(count), count, at)) return false;
  request = {args.size(), count, at};
  args.Commit(count);
  return true;
}

[[gnu::always_inline]] inline bool Parser::ParseArguments(std::string_view input, const Limits& limits,
                                                          std::string_view* arg, size_t count, size_t& at) {
  constexpr uint32_t kOneDigit = 0x0A0D3024;   // "$0\r\n"
  constexpr uint32_t kTwoDigits = 0x0D303124;  // "$10\r"
  const char* const data = input.data();
  const size_t last_start = input.size() - kShortestArgument;  // no argument begins later
  for (std::string_view* const end = arg + count; arg != end; ++arg) {
    if (at > last_start) return false;
    uint32_t header;
    std::memcpy(&header, data + at, sizeof header);
    size_t size = std::rotr(header - kOneDigit, 8);
    if (size <= 9) {
      at += 4;
    } else {
      const uint32_t digits =
          header - kTwoDigits;  // tens less one in byte 1, ones in byte 2, zeros elsewhere
      // If a digit is too big, adding 119 or 118 sets the highest bit of its byte.
      if (((digits | (digits + 0x767700)) & 0xFF8080FF) == 0) [[likely]] {
        size = 10 + ((digits >> 8) & 0xFF) * 10 + (digits >> 16);
        at += 5;
      } else {
        if (data[at] != '$') return false;
        const char* const after = ReadCount(data + at + 1, data + input.size(), size);
        if (after == nullptr || size > limits.max_bulk) return false;
        at = static_cast<size_t>(after - data);
      }
    }
    *arg = std::string_view(data + at, size);
    at += size + 2;
  }
  return at <= input.size();
}

inline bool Parser::NextAfter(const Head& head, std::string_view input, const Limits& limits, ArgList& args,
                              Request& request) noexcept {
  assert(limits.authenticated);
  const size_t count = head.count();
  std::string_view* const arg = args.end();
  *arg = std::string_view(input.data() + sizeof head.shape, head.name_size());
  size_t at = sizeof head.shape + head.name_size() + 2;
  if (!ParseArguments(input, limits, arg + 1, count - 1, at)) return false;
  request = {args.size(), count, at};
  args.Commit(count);
  return true;
}

inline Status Parser::Next(std::string_view input, const Limits& limits, ArgList& args, Request& request) {
  if (state_ == State::kIdle && limits.authenticated && ParseWhole(input, limits, args, request)) [[likely]]
    return Status::kReady;
  return Resume(input, limits, args, request);
}

}  // namespace mayfly::resp
