#include "net/http/request_parser.h"

#include <algorithm>
#include <cassert>
#include <climits>
#include <utility>

#include "base/text/ascii.h"
#include "net/http/status_codes.h"

namespace mayfly::net {
namespace {

constexpr std::string_view kHost = "host";

}  // namespace

const http_parser_settings RequestParser::kCalls = [] {
  http_parser_settings calls;
  http_parser_settings_init(&calls);
  calls.on_url = [](http_parser* parser, const char* at, size_t size) {
    return Of(parser).OnTarget({at, size});
  };
  calls.on_header_field = [](http_parser* parser, const char* at, size_t size) {
    return Of(parser).OnHeaderName({at, size});
  };
  calls.on_header_value = [](http_parser* parser, const char* at, size_t size) {
    return Of(parser).OnHeaderValue({at, size});
  };
  calls.on_headers_complete = [](http_parser* parser) { return Of(parser).OnHead(); };
  calls.on_message_complete = [](http_parser* parser) { return Of(parser).OnEnd(); };
  return calls;
}();

RequestParser::RequestParser() noexcept {
  http_parser_init(&parser_, HTTP_REQUEST);
  parser_.data = this;
}

size_t RequestParser::Feed(std::string_view bytes) {
  assert(state_ == State::kNeedMore && taken_ <= kHeadBytes);
  bytes = bytes.substr(0, kHeadBytes - taken_);
  const size_t taken = http_parser_execute(&parser_, &kCalls, bytes.data(), bytes.size());
  taken_ += taken;
  if (state_ != State::kNeedMore) return taken;
  if (HTTP_PARSER_ERRNO(&parser_) != HPE_OK)
    Fail(kBadRequest);
  else if (taken_ == kHeadBytes)
    Fail(kHeadTooLarge);
  return taken;
}

void RequestParser::Next() noexcept {
  assert(state_ == State::kReady);
  http_parser_pause(&parser_, 0);
  target_.clear();
  request_.host.clear();
  header_.clear();
  header_ended_ = has_host_ = false;
  taken_ = 0;
  state_ = State::kNeedMore;
}

int RequestParser::OnTarget(std::string_view piece) {
  if (target_.size() + piece.size() > kTargetBytes) return Fail(kTargetTooLong);
  target_ += piece;
  return 0;
}

int RequestParser::OnHeaderName(std::string_view piece) {
  if (std::exchange(header_ended_, false)) header_.clear();
  header_ += piece.substr(0, kHost.size() + 1 - header_.size());
  return 0;
}

// Called for an empty value, too.
int RequestParser::OnHeaderValue(std::string_view piece) {
  const bool begins = !std::exchange(header_ended_, true);
  if (!SameIgnoringCase(header_, kHost)) return 0;
  if (begins && std::exchange(has_host_, true)) return Fail(kBadRequest);
  if (request_.host.size() + piece.size() > kHostBytes) return Fail(kBadRequest);
  request_.host += piece;
  return 0;
}

int RequestParser::OnHead() {
  if (parser_.http_major != 1) return Fail(kVersionUnknown);
  if (parser_.method != HTTP_GET && parser_.method != HTTP_HEAD) return Fail(kMethodNotAllowed);
  const bool has_length = parser_.content_length != 0 && parser_.content_length != ULLONG_MAX;
  if (has_length || parser_.uses_transfer_encoding != 0) return Fail(kBodyTooLarge);
  if (!FindPath()) return Fail(kBadRequest);
  request_.head_only = parser_.method == HTTP_HEAD;
  request_.keep_alive = http_should_keep_alive(&parser_) != 0;
  constexpr int kNoBody = 1;  // a GET has no body, even with an Upgrade header
  return kNoBody;
}

int RequestParser::OnEnd() noexcept {
  state_ = State::kReady;
  http_parser_pause(&parser_, 1);
  return 0;
}

int RequestParser::Fail(int status) noexcept {
  failure_ = status;
  state_ = State::kFailed;
  return -1;
}

// Also accepts the form for proxies: http://host/path.
bool RequestParser::FindPath() {
  http_parser_url parts;
  http_parser_url_init(&parts);
  if (http_parser_parse_url(target_.data(), target_.size(), /*is_connect=*/0, &parts) != 0) return false;
  const bool has_path = (parts.field_set & (1U << UF_PATH)) != 0;
  request_.path =
      has_path ? target_.substr(parts.field_data[UF_PATH].off, parts.field_data[UF_PATH].len) : "/";
  return true;
}

}  // namespace mayfly::net
