// Parses bytes to requests of HTTP/1 within limits, without I/O; Boost.Beast reads the syntax.
//
//   parser.Feed(bytes) --> kNeedMore: all bytes were taken
//                      --> kReady: request() is complete, later bytes were not taken; Next() goes on
//                      --> kFailed: failure() is the status for the answer; later bytes cannot be read
//
// Only GET and HEAD without a body are requests. Of the headers, only Host and the headers about the connection and the body
// are read. Line ends before a request are skipped.
// Invariant: the result depends on the bytes alone, not on the pieces in which they come. The first line is tested as soon as
// a byte of it comes, and the headers when the empty line has come.
// Memory: a head that comes in several pieces is kept until it is complete, and has at most kHeadBytes; so do the path and the
// host, within their limits. Throws nothing but std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mayfly::net {

class RequestParser {
 public:
  // The limit of the request's first line and headers together. Browsers send 1 KB, Prometheus less.
  static constexpr size_t kHeadBytes = 8 * 1024;
  // The limit of the target. The longest known target has 12 bytes, but a query may follow.
  static constexpr size_t kTargetBytes = 1024;
  // The limit of the first line: the target, and the method and the version with the characters between them.
  static constexpr size_t kFirstLineBytes = kTargetBytes + 32;
  // The limit of the header Host: the longest name in DNS, and a port.
  static constexpr size_t kHostBytes = 260;

  enum class State : uint8_t { kNeedMore, kReady, kFailed };
  struct Request {
    std::string path;         // without the query
    std::string host;         // from the header Host; empty without the header
    bool head_only = false;   // HEAD: the answer has no body
    bool keep_alive = false;  // the client may send more requests
  };

  RequestParser() = default;
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // Returns the number of bytes taken. REQUIRES: state() is kNeedMore.
  size_t Feed(std::string_view bytes);
  State state() const noexcept { return state_; }
  // True if no byte of a request has come yet.
  bool idle() const noexcept { return state_ == State::kNeedMore && taken_ == 0; }
  // REQUIRES: state() is kReady.
  const Request& request() const noexcept { return request_; }
  void Next() noexcept;
  // REQUIRES: state() is kFailed. 400 (also for a second Host), 405, 413, 414, 431 or 505.
  int failure() const noexcept { return failure_; }
  // The bytes of memory that the incomplete head takes.
  size_t memory() const noexcept { return head_.capacity(); }

 private:
  // `head`: the bytes of this request so far, from the first line on.
  void ReadFirstLine(std::string_view head);
  // `head`: up to and with the empty line.
  void ReadHead(std::string_view head);
  void Fail(int status) noexcept;

  std::string head_;  // empty while nothing has come, or if all came in one piece
  Request request_;
  size_t taken_ = 0;  // of this request, with line ends before it
  int failure_ = 0;
  State state_ = State::kNeedMore;
  bool has_first_line_ = false;
};

}  // namespace mayfly::net
