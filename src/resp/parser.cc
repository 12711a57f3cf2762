#include "resp/parser.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "base/memory/heap.h"
#include "base/text/numbers.h"
#include "resp/args.h"
#include "resp/inline.h"
#include "resp/limits.h"
#include "resp/whole_requests.h"

namespace mayfly::resp {

// An unfinished request is only scanned: Scan checks the headers and remembers the offset reached. Thus a client cannot make
// the parser hold a list of a million views. After the last byte, Deliver reads the headers again to make the views. The few
// requests that arrive in pieces are read twice, and take no memory meanwhile.
Status Parser::Resume(std::string_view input, const Limits& limits, ArgList& args, Request& request) {
  const Status status = Scan(input, limits);
  if (status != Status::kReady) return status;
  if (state_ == State::kInline) return DeliverInline(input, args, request);
  Deliver(input, args, request);
  return Status::kReady;
}

Status Parser::Scan(std::string_view input, const Limits& limits) {
  if (state_ == State::kFailed) return Status::kError;
  block_wanted_ = false;
  if (state_ == State::kIdle) {
    if (input.empty()) return Status::kNeedMore;
    state_ = input[0] == '*' ? State::kStarted : State::kInline;
  }
  if (state_ == State::kInline) return ScanInline(input, limits);
  if (state_ == State::kStarted) {
    const Status status = ScanCount(input, limits);
    if (status != Status::kReady) return status;
    state_ = State::kArguments;
  }
  return ScanArguments(input, limits);
}

// Looks for `last` in the line that begins at scanned_; sets `length` to the number of bytes before `last`.
Status Parser::FindLineEnd(std::string_view input, char last, Error too_long, const Limits& limits,
                           size_t& length) {
  const std::string_view line = input.substr(scanned_);
  const size_t window = std::min(line.size(), limits.max_line + 1);
  const void* found =
      searched_ < window ? std::memchr(line.data() + searched_, last, window - searched_) : nullptr;
  if (found == nullptr) {
    searched_ = window;
    return line.size() > limits.max_line ? Fail(too_long) : Status::kNeedMore;
  }
  length = static_cast<size_t>(static_cast<const char*>(found) - line.data());
  searched_ = length;
  // After the '\r' of a header one more byte follows, unchecked.
  return last == '\n' || line.size() >= length + 2 ? Status::kReady : Status::kNeedMore;
}

Status Parser::ScanCount(std::string_view input, const Limits& limits) {
  size_t length = 0;
  const Status status = FindLineEnd(input, '\r', Error::kLongCount, limits, length);
  if (status != Status::kReady) return status;
  const std::optional<int64_t> count = ParseInteger(input.substr(1, length - 1));
  if (!count || *count > limits.max_arguments) return Fail(Error::kMultibulkLength);
  if (!limits.authenticated && *count > Limits::kUnauthenticatedArguments)
    return Fail(Error::kUnauthenticatedCount);
  count_ = static_cast<uint32_t>(std::max<int64_t>(*count, 0));
  scanned_ = length + 2;
  searched_ = 0;
  return Status::kReady;
}

Status Parser::ScanBulkSize(std::string_view input, const Limits& limits) {
  size_t length = 0;
  const Status status = FindLineEnd(input, '\r', Error::kLongBulkCount, limits, length);
  if (status != Status::kReady) return status;
  if (input[scanned_] != '$') {
    unexpected_ = input[scanned_];
    return Fail(Error::kExpectedBulk);
  }
  const std::optional<int64_t> size = ParseInteger(input.substr(scanned_ + 1, length - 1));
  if (!size || *size < 0 || static_cast<uint64_t>(*size) > limits.max_bulk) return Fail(Error::kBulkLength);
  if (!limits.authenticated && *size > Limits::kUnauthenticatedBulk) return Fail(Error::kUnauthenticatedBulk);
  bulk_size_ = *size;
  scanned_ += length + 2;
  searched_ = 0;
  return Status::kReady;
}

Status Parser::ScanArguments(std::string_view input, const Limits& limits) {
  for (; done_ < count_; ++done_) {
    if (bulk_size_ < 0) {
      const Status status = ScanBulkSize(input, limits);
      if (status != Status::kReady) return status;
    }
    if (awaited() != 0) return Status::kNeedMore;
    const size_t size = static_cast<size_t>(bulk_size_);
    const size_t needed = in_block_ ? 0 : size + kLineEndBytes;
    const size_t available = input.size() - scanned_;
    if (available < needed) {
      block_wanted_ = !in_block_ && size > limits.big_bulk && available < size;
      return Status::kNeedMore;
    }
    scanned_ += needed;
    bulk_size_ = -1;
    in_block_ = false;
  }
  return Status::kReady;
}

Status Parser::ScanInline(std::string_view input, const Limits& limits) {
  size_t length = 0;
  const Status status = FindLineEnd(input, '\n', Error::kLongInline, limits, length);
  if (status == Status::kReady) scanned_ = length + 1;
  return status;
}

Status Parser::DeliverInline(std::string_view input, ArgList& args, Request& request) {
  std::string_view line = input.substr(0, scanned_ - 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const size_t first = args.size();
  if (!SplitInline(line, args)) return Fail(Error::kQuotes);
  request = {first, args.size() - first, scanned_};
  Reset();
  return Status::kReady;
}

// REQUIRES: Scan found the whole request in `input`.
void Parser::Deliver(std::string_view input, ArgList& args, Request& request) {
  const char* p = input.data();
  const char* const end = p + scanned_;
  const size_t first = args.size();
  request = {first, count_, scanned_};
  std::string_view* const list = args.Reserve(count_);
  auto block = blocks_.begin();
  // All headers are complete and correct. Only a count without arguments may be negative.
  p = static_cast<const char*>(std::memchr(p, '\r', scanned_)) + 2;
  for (size_t index = 0; index < count_; ++index) {
    size_t size = 0;
    p = ReadCount(p + 1, end, size);
    assert(p != nullptr);
    if (block != blocks_.end() && block->index == index) {
      block->bytes.Truncate(size);
      list[index] = block->bytes.view();
      args.Keep(first + index, std::move(block->bytes));
      ++block;
    } else {
      list[index] = std::string_view(p, size);
      p += size + kLineEndBytes;
    }
  }
  assert(p == end);
  args.Commit(count_);
  Reset();
}

size_t Parser::StartBlock(std::string_view input) {
  assert(block_wanted_);
  SharedBytes bytes = SharedBytes::Allocate(static_cast<size_t>(bulk_size_) + kLineEndBytes);
  filled_ = input.substr(scanned_).copy(bytes.data(), bytes.size());
  blocks_.push_back({done_, std::move(bytes)});
  in_block_ = expects_big_ = true;
  block_wanted_ = false;
  return scanned_;
}

std::span<char> Parser::BlockRoom() noexcept {
  if (!in_block_) return {};
  const SharedBytes& bytes = blocks_.back().bytes;
  return {bytes.data() + filled_, bytes.size() - filled_};
}

size_t Parser::ReceivedInBlocks() const noexcept {
  size_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.bytes.size();
  return bytes - awaited();
}

size_t Parser::BlockMemory() const noexcept {
  size_t bytes = 0;
  for (const Block& block : blocks_) bytes += MallocSizeClass(SharedBytes::kHeaderBytes + block.bytes.size());
  return bytes;
}

void Parser::Reset() noexcept {
  state_ = State::kIdle;
  count_ = done_ = 0;
  scanned_ = searched_ = filled_ = 0;
  bulk_size_ = -1;
  in_block_ = block_wanted_ = false;
  if (!blocks_.empty()) blocks_ = {};
}

Status Parser::Fail(Error error) noexcept {
  Reset();
  state_ = State::kFailed;
  error_ = error;
  return Status::kError;
}

std::string Parser::ErrorText() const {
  assert(error_ != Error::kNone);
  const auto what = [this]() -> std::string {
    switch (error_) {
      case Error::kNone:
        break;
      case Error::kMultibulkLength:
        return "invalid multibulk length";
      case Error::kBulkLength:
        return "invalid bulk length";
      case Error::kExpectedBulk:
        return std::string("expected '$', got '") + unexpected_ + "'";
      case Error::kLongCount:
        return "too big mbulk count string";
      case Error::kLongBulkCount:
        return "too big bulk count string";
      case Error::kLongInline:
        return "too big inline request";
      case Error::kQuotes:
        return "unbalanced quotes in request";
      case Error::kUnauthenticatedCount:
        return "unauthenticated multibulk length";
      case Error::kUnauthenticatedBulk:
        return "unauthenticated bulk length";
    }
    return "none";
  };
  return "Protocol error: " + what();
}

}  // namespace mayfly::resp
