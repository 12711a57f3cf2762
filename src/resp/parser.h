// From bytes to requests: RESP arrays of bulk strings, and inline lines. No I/O, no connection, no
// statistics.
//
// One parser per connection. It is shown the bytes that were received and not yet taken, beginning with the
// first byte of the first unfinished request, as one view, and hands out one request per call:
//
//     while ((status = parser.Next(input, limits, args, request)) == Status::kReady) {
//       input.remove_prefix(request.size);
//       ... args[request.first_arg] ... request.arg_count (0: nothing to do, Redis ignores such requests too)
//     }
//
// Arguments are views into `input`: nothing is copied. They die when the bytes are moved or overwritten, and
// so does nothing else: between calls the parser remembers offsets, not addresses. What it remembers of an
// unfinished request makes the whole cost O(bytes), however small the pieces are in which they arrive.
//
// Big arguments. When a long argument is incomplete, its payload need not pass through the read buffer:
//
//     input    *3 | $3 SET | $1 k | $500000 \r\n | first bytes of the payload
//              <--------- kept = StartBlock ----> <-- copied into the block -->
//
//     block    [ first bytes | ....... BlockRoom() ......... ]  500000 bytes, read from the socket,
//     BlockFilled(n)
//
//     input    *3 | $3 SET | $1 k | $500000 \r\n | \r\n | next request ...
//
// After kNeedMore, WantsBlock() says whether, and how large. The connection then may call StartBlock, keep
// only the first `kept` bytes of the input, and read into BlockRoom() until that is empty. What arrives after
// that belongs behind the kept bytes, as if the payload had never been there. The request then has the block
// as its argument (ArgList::BlockOf). A connection that never calls StartBlock works, too.
//
// Limits of a client that has to log in are applied as the bytes are parsed: a caller that parses ahead stops
// at each request while `authenticated` is false.
//
// Loop thread only. Units: bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shared_bytes.h"
#include "resp/args.h"
#include "resp/limits.h"

namespace mayfly::resp {

enum class Status : uint8_t { kReady, kNeedMore, kError };

// One request within an ArgList.
struct Request {
  size_t first_arg;
  size_t arg_count;
  size_t size;  // bytes of the input that it took
};

class Parser {
 public:
  // Takes the next request from the front of `input`; appends its arguments to `args` and describes it in
  // `request` (kReady), or asks to be called again with more input (kNeedMore, nothing appended), or finds
  // that the client does not speak the protocol (kError, for good: answer ErrorText() and close). Throws
  // std::bad_alloc. REQUIRES: after kNeedMore, `input` begins with the same bytes as the last time (but see
  // StartBlock).
  Status Next(std::string_view input, const Limits& limits, ArgList& args, Request& request);

  // "Protocol error: invalid bulk length": without the code. REQUIRES: Next returned kError.
  std::string ErrorText() const;

  // After kNeedMore: the size of the argument that is worth a block of its own; 0 when there is none.
  size_t WantsBlock() const noexcept { return block_wanted_ ? static_cast<size_t>(bulk_size_) : 0; }
  // Allocates that block and copies what `input` holds of the payload into it. Returns how many bytes of the
  // input to keep; those behind are in the block. Throws std::bad_alloc, and then nothing has changed.
  // REQUIRES: WantsBlock() != 0; `input` is that of the last Next.
  size_t StartBlock(std::string_view input);
  // Where the next bytes from the socket go; empty when they go behind the input.
  std::span<char> BlockRoom() noexcept;
  // REQUIRES: n <= BlockRoom().size(), and so many bytes were stored there.
  void BlockFilled(size_t n) noexcept { filled_ += n; }

  // Nothing of an unfinished request is remembered.
  bool idle() const noexcept { return state_ == State::kIdle; }
  // Bytes held in blocks.
  size_t memory() const noexcept;

 private:
  enum class State : uint8_t { kIdle, kStarted, kArguments, kInline, kFailed };
  enum class Error : uint8_t {
    kNone,
    kMultibulkLength,
    kBulkLength,
    kExpectedBulk,
    kLongCount,
    kLongBulkCount,
    kLongInline,
    kQuotes,
    kUnauthenticatedCount,
    kUnauthenticatedBulk,
  };
  struct Block {
    size_t index;  // in the request
    SharedBytes bytes;
  };

  static bool ParseWhole(std::string_view input, const Limits& limits, ArgList& args, Request& request);
  Status Resume(std::string_view input, const Limits& limits, ArgList& args, Request& request);
  Status Scan(std::string_view input, const Limits& limits);
  Status ScanCount(std::string_view input, const Limits& limits);
  Status ScanArguments(std::string_view input, const Limits& limits);
  Status ScanBulkSize(std::string_view input, const Limits& limits);
  Status ScanInline(std::string_view input, const Limits& limits);
  Status FindLineEnd(std::string_view input, char last, Error too_long, const Limits& limits, size_t& length);
  Status DeliverInline(std::string_view input, ArgList& args, Request& request);
  void Deliver(std::string_view input, ArgList& args, Request& request);
  Status Fail(Error error) noexcept;
  void Reset() noexcept;

  State state_ = State::kIdle;
  Error error_ = Error::kNone;
  char unexpected_ = 0;        // what stood in place of '$'
  bool in_block_ = false;      // the payload of the current argument goes to blocks_.back()
  bool block_wanted_ = false;  // see WantsBlock
  uint32_t count_ = 0;         // arguments of the request
  uint32_t done_ = 0;          // arguments scanned
  size_t scanned_ = 0;         // bytes of the request that need not be looked at again
  size_t searched_ = 0;        // bytes behind them that do not end the line
  int64_t bulk_size_ = -1;     // of the current argument; -1 before its header is read
  size_t filled_ = 0;          // bytes in the current block
  std::vector<Block> blocks_;
};

// Reads a plain decimal number and its line end at `p`. Returns the first byte behind, or null when they are
// not there as a whole or the number is not of the plain form. Like Redis, it does not look at the byte after
// '\r'.
inline const char* ReadCount(const char* p, const char* end, size_t& value) noexcept {
  constexpr ptrdiff_t kDigitsMax = 18;
  const char* const first = p;
  size_t number = 0;
  for (; p < end && static_cast<unsigned char>(*p - '0') <= 9 && p - first <= kDigitsMax; ++p)
    number = number * 10 + static_cast<unsigned char>(*p - '0');
  const ptrdiff_t digits = p - first;
  if (digits == 0 || digits > kDigitsMax || (*first == '0' && digits > 1)) return nullptr;
  if (end - p < 2 || *p != '\r') return nullptr;
  value = number;
  return p + 2;
}

// The way of nearly every request: all its bytes are there and its headers are plain. Returns false for
// everything else, with nothing appended, and leaves that to Resume, which starts again and is thorough.
inline bool Parser::ParseWhole(std::string_view input, const Limits& limits, ArgList& args,
                               Request& request) {
  static_assert(std::endian::native == std::endian::little);
  constexpr size_t kShortest = 6;              // "$0\r\n\r\n"
  constexpr uint32_t kOneDigit = 0x0A0D3024;   // "$0\r\n"
  constexpr uint32_t kTwoDigits = 0x0D303024;  // "$00\r"
  const char* p = input.data();
  const char* const end = p + input.size();
  if (input.size() < 4 + kShortest || *p != '*') return false;
  size_t count = static_cast<unsigned char>(p[1] - '1') + size_t{1};
  if (count <= 9 && p[2] == '\r') [[likely]] {
    p += 4;
  } else {
    p = ReadCount(p + 1, end, count);
    if (p == nullptr || count == 0 || count > static_cast<size_t>(limits.max_arguments)) return false;
  }
  if (count * kShortest > static_cast<size_t>(end - p))
    return false;  // so Reserve is never more than bytes came
  std::string_view* arg = args.Reserve(count);
  for (std::string_view* const last = arg + count; arg != last; ++arg) {
    if (static_cast<size_t>(end - p) < kShortest) return false;
    uint32_t header;
    std::memcpy(&header, p, sizeof header);
    size_t size = std::rotr(header - kOneDigit, 8);
    if (size <= 9) {
      p += 4;
    } else {
      const uint32_t digits = header - kTwoDigits;
      const uint32_t tens = (digits >> 8) & 0xFF;
      const uint32_t ones = digits >> 16;
      if ((digits & 0xFF) == 0 && tens - 1 <= 8 && ones <= 9) [[likely]] {
        size = tens * 10 + ones;
        p += 5;
      } else {
        if (*p != '$') return false;
        p = ReadCount(p + 1, end, size);
        if (p == nullptr || size > limits.max_bulk) return false;
      }
    }
    if (static_cast<size_t>(end - p) < size + 2) return false;
    *arg = std::string_view(p, size);
    p += size + 2;
  }
  request = {args.size(), count, static_cast<size_t>(p - input.data())};
  args.Commit(count);
  return true;
}

inline Status Parser::Next(std::string_view input, const Limits& limits, ArgList& args, Request& request) {
  if (state_ == State::kIdle && limits.authenticated && ParseWhole(input, limits, args, request)) [[likely]]
    return Status::kReady;
  return Resume(input, limits, args, request);
}

}  // namespace mayfly::resp
