// Parses bytes to requests of HTTP/1 within limits, without I/O: a shell around http_parser.
//
//   parser.Feed(bytes) --> kNeedMore: all bytes were taken
//                      --> kReady: request() is complete, later bytes were not taken; Next() goes on
//                      --> kFailed: failure() is the status for the answer; later bytes cannot be read
//
// Only GET and HEAD without a body are requests. Of the headers, only Host and the headers about the connection are read.
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
  // The limit of the request's first line and headers together. Browsers send 1 KB, Prometheus less.
  static constexpr size_t kHeadBytes = 8 * 1024;
  // The limit of the target. The longest known target has 12 bytes, but a query may follow.
  static constexpr size_t kTargetBytes = 1024;
  // The limit of the header Host: the longest name in DNS, and a port.
  static constexpr size_t kHostBytes = 260;

  enum class State : uint8_t { kNeedMore, kReady, kFailed };
  struct Request {
    std::string path;         // without the query
    std::string host;         // from the header Host; empty without the header
    bool head_only = false;   // HEAD: the answer has no body
    bool keep_alive = false;  // the client may send more requests
  };

  RequestParser() noexcept;
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
  std::string header_;         // the header's name, or a part of the name too long for Host
  bool header_ended_ = false;  // the header's value has begun
  bool has_host_ = false;
  Request request_;
  size_t taken_ = 0;  // of this request
  int failure_ = 0;
  State state_ = State::kNeedMore;
};

}  // namespace mayfly::net
