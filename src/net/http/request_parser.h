// Parses bytes to requests of HTTP/1 within limits, without I/O: a shell around http_parser.
//
//   parser.Feed(bytes) --> kNeedMore: all were taken
//                      --> kReady: request() stands, the bytes after it were not taken; Next() goes on
//                      --> kFailed: failure() is the status to answer; nothing that follows can be read
//
// Only GET and HEAD without a body are requests. Of the headers, only Host and what concerns the connection are looked at.
// Memory: the target, at most kTargetBytes, and the host, at most kHostBytes. Throws nothing but std::bad_alloc.
#pragma once

#include <http_parser.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mayfly::net {

class RequestParser {
 public:
  // Of the request's first line and headers together. Browsers send 1 KB, Prometheus less.
  static constexpr size_t kHeadBytes = 8 * 1024;
  // Of what is asked for. The longest that exists has 12 bytes, but a query may follow.
  static constexpr size_t kTargetBytes = 1024;
  // Of the header Host: the longest name that DNS has, and a port.
  static constexpr size_t kHostBytes = 260;

  enum class State : uint8_t { kNeedMore, kReady, kFailed };
  struct Request {
    std::string path;         // without the query
    std::string host;         // as the header Host has it; empty if there is none
    bool head_only = false;   // HEAD: the answer has no body
    bool keep_alive = false;  // the client may send more requests
  };

  RequestParser() noexcept;
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // Returns how many bytes it has taken.
  // REQUIRES: state() is kNeedMore.
  size_t Feed(std::string_view bytes);
  State state() const noexcept { return state_; }
  // No byte of a request has come yet.
  bool idle() const noexcept { return state_ == State::kNeedMore && taken_ == 0; }
  // REQUIRES: state() is kReady.
  const Request& request() const noexcept { return request_; }
  void Next() noexcept;
  // REQUIRES: state() is kFailed. 400 (also for a second Host), 405, 413, 414, 431 or 505.
  int failure() const noexcept { return failure_; }

 private:
  static const http_parser_settings kCalls;
  static RequestParser& Of(http_parser* parser) noexcept {
    return *static_cast<RequestParser*>(parser->data);
  }
  int OnTarget(std::string_view piece);
  int OnHeaderName(std::string_view piece);
  int OnHeaderValue(std::string_view piece);
  int OnHead();
  int OnEnd() noexcept;
  // Ends the parsing, as the return value of a callback.
  int Fail(int status) noexcept;
  bool FindPath();

  http_parser parser_;
  std::string target_;
  std::string header_;         // its name, or so much of it that it cannot be Host
  bool header_ended_ = false;  // its value has begun
  bool has_host_ = false;
  Request request_;
  size_t taken_ = 0;  // of this request
  int failure_ = 0;
  State state_ = State::kNeedMore;
};

}  // namespace mayfly::net
