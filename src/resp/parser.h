// Parses bytes to requests: RESP arrays of bulk strings, and inline lines. No I/O, no connection.
//
// One parser per connection. The caller passes the received bytes that are not yet consumed, as one view from the first
// unfinished request on, and gets one request per call:
//
//     while ((status = parser.Next(input, limits, args, request)) == Status::kReady) {
//       input.remove_prefix(request.size);
//       ... args[request.first_arg] ... request.arg_count (0: nothing to do, Redis ignores such requests too)
//     }
//
// Arguments are views into `input`: nothing is copied. Arguments become invalid when those bytes are moved or overwritten.
// Between calls the parser remembers offsets, not addresses: the connection may move its unfinished tail. The parser never
// scans a byte twice: a request costs O(bytes), in pieces of any size.
//
// Big arguments. The payload of a long, incomplete argument can bypass the read buffer:
//
//     input    *3 | $3 SET | $1 k | $500000 \r\n | first bytes of the payload
//              <--------- kept = StartBlock ----> <-- copied into the block -->
//
//     block    [ first bytes | ....... BlockRoom() .. \r\n ]  500002 bytes; then BlockFilled(n)
//
//     input    *3 | $3 SET | $1 k | $500000 \r\n | next request ...
//
// After kNeedMore, WantsBlock() returns the size of such an argument. The connection may then call StartBlock, keep only the
// first `kept` bytes of the input, and read into BlockRoom() until BlockRoom() is empty. The room has space for the payload
// and its line end, so no extra read fetches the line end. Later bytes are appended to the kept bytes, as if the payload had
// never been in the input. The finished request has the block, without the line end, as its argument (ArgList::BlockOf). A
// connection that never calls StartBlock works, too.
//
// A client that has not logged in has lower limits, and Next applies the limits of the moment. A caller that parses ahead
// therefore stops after each request while `authenticated` is false.
//
// Next and NextAfter are defined in resp/whole_requests.h, which their callers include.
//
// Loop thread only. Units: bytes.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory/shared_bytes.h"

namespace mayfly::resp {

class ArgList;
struct Limits;

enum class Status : uint8_t { kReady, kNeedMore, kError };

// One request within an ArgList.
struct Request {
  size_t first_arg;
  size_t arg_count;
  size_t size;  // bytes of the input taken by the request
};

// The usual beginning of a request: "*2\r\n$3\r\nGET", with up to nine arguments and a name of up to eight bytes. Clients
// send the same few heads again and again: a comparison recognises a head that was parsed once.
struct Head {
  uint64_t shape = 0;  // "*2\r\n$3\r\n"
  uint64_t name = 0;   // the bytes of the name, the first byte lowest

  static constexpr size_t kBytes = 16;  // Read always loads 16 bytes, even for a shorter head
  static constexpr size_t kMostArgs = 9;
  static constexpr std::array<uint64_t, 9> kNameMasks = {
      0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, ~uint64_t{0}};

  // Returns false if the input is too short, or the name too long. The result may be no head: see IsPlain.
  static bool Read(std::string_view input, Head& head) noexcept {
    if (input.size() < kBytes) return false;
    std::memcpy(&head.shape, input.data(), sizeof head.shape);
    std::memcpy(&head.name, input.data() + sizeof head.shape, sizeof head.name);
    if (head.name_size() - 1 >= sizeof head.name) return false;
    head.name &= kNameMasks[head.name_size()];
    return true;
  }
  bool IsPlain() const noexcept {
    constexpr uint64_t kPattern = 0x0A0D30240A0D302A;  // "*0\r\n$0\r\n"
    constexpr uint64_t kDigits = 0x0000FF000000FF00;
    return ((shape ^ kPattern) & ~kDigits) == 0 && count() - 1 < kMostArgs;
  }
  size_t count() const noexcept { return ((shape >> 8) & 0xFF) - '0'; }
  size_t name_size() const noexcept { return ((shape >> 40) & 0xFF) - '0'; }
  bool operator==(const Head&) const noexcept = default;
};

class Parser {
 public:
  // Takes the next request from the front of `input`. kReady: appends the arguments to `args` and describes the request in
  // `request`. kNeedMore: nothing is appended; call again with more input. kError, for good: the client does not speak the
  // protocol; answer ErrorText() and close. Throws std::bad_alloc. REQUIRES: after kNeedMore, `input` begins with the same
  // bytes as the last time (but see StartBlock).
  inline Status Next(std::string_view input, const Limits& limits, ArgList& args, Request& request);
  // Like Next, for a request that begins with `head` (Head::Read). Returns false, and does nothing, if the rest is
  // incomplete or not of the usual form: call Next. REQUIRES: idle(); limits.authenticated; args have room for
  // Head::kMostArgs.
  static inline bool NextAfter(const Head& head, std::string_view input, const Limits& limits, ArgList& args,
                               Request& request) noexcept;

  // "Protocol error: invalid bulk length": without the code. REQUIRES: Next returned kError.
  std::string ErrorText() const;

  // After kNeedMore: the size of the incomplete argument if it is large enough for a block of its own, else 0.
  size_t WantsBlock() const noexcept { return block_wanted_ ? static_cast<size_t>(bulk_size_) : 0; }
  // Allocates the block for that argument and copies the received part of the payload into the block. Returns the number of
  // bytes of the input to keep; the bytes after them are in the block. If StartBlock throws std::bad_alloc, nothing has
  // changed. REQUIRES: WantsBlock() != 0; `input` is the input of the last Next.
  size_t StartBlock(std::string_view input);
  // The room for the next bytes from the socket; empty if the next bytes belong after the input.
  std::span<char> BlockRoom() noexcept;
  // REQUIRES: n <= BlockRoom().size(), and BlockRoom() has got n bytes.
  void BlockFilled(size_t n) noexcept {
    assert(n <= awaited());
    filled_ += n;
  }

  // Returns true if a block was started since ExpectNoBig: after one big argument a client mostly sends another.
  bool expects_big() const noexcept { return expects_big_; }
  // Returns the former value of expects_big.
  bool ExpectNoBig() noexcept { return std::exchange(expects_big_, false); }

  // Forgets the unfinished request; the next call of Next starts at the first byte of its input. For a caller that goes back
  // to an earlier request. REQUIRES: BlockRoom() is empty.
  void Forget() noexcept {
    assert(!in_block_);
    Reset();
  }
  // Returns true if the parser remembers no part of an unfinished request.
  bool idle() const noexcept { return state_ == State::kIdle; }
  // The bytes received into blocks, the bytes still missing in blocks (the size of BlockRoom), and the memory of the blocks.
  size_t received() const noexcept { return blocks_.empty() ? 0 : ReceivedInBlocks(); }
  size_t awaited() const noexcept { return in_block_ ? blocks_.back().bytes.size() - filled_ : 0; }
  size_t memory() const noexcept { return blocks_.empty() ? 0 : BlockMemory(); }

 private:
  size_t ReceivedInBlocks() const noexcept;
  size_t BlockMemory() const noexcept;

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

  static constexpr size_t kShortestArgument = 6;  // "$0\r\n\r\n"
  static constexpr size_t kLineEndBytes = 2;  // a block includes the line end until its request is complete

  static inline bool ParseWhole(std::string_view input, const Limits& limits, ArgList& args,
                                Request& request);
  // Parses `count` arguments from offset `at` on, and advances `at` past the arguments.
  static inline bool ParseArguments(std::string_view input, const Limits& limits, std::string_view* arg,
                                    size_t count, size_t& at);
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
  char unexpected_ = 0;        // the byte in place of '$'
  bool in_block_ = false;      // the payload of the current argument goes to blocks_.back()
  bool block_wanted_ = false;  // see WantsBlock
  bool expects_big_ = false;
  uint32_t count_ = 0;      // arguments of the request
  uint32_t done_ = 0;       // arguments scanned
  size_t scanned_ = 0;      // bytes of the request that are parsed
  size_t searched_ = 0;     // further bytes without a line end
  int64_t bulk_size_ = -1;  // of the current argument; -1 before its header is read
  size_t filled_ = 0;       // bytes in the current block
  std::vector<Block> blocks_;
};

}  // namespace mayfly::resp
