#include "net/http/request_parser.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "net/http/status_codes.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

namespace mayfly::net {
namespace {

namespace beast = boost::beast;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// `line` has a target, and what follows it is no version that Beast knows. True if it is the version of another HTTP.
bool HasOtherVersion(std::string_view line) {
  const std::string_view version = line.substr(line.find(' ', line.find(' ') + 1) + 1, 8);
  return version.size() == 8 && version.starts_with("HTTP/") && IsDigit(version[5]) && version[6] == '.' &&
         IsDigit(version[7]) && version != "HTTP/1.0" && version != "HTTP/1.1";
}

// The path of a target, without the query; empty if there is none. A target for proxies is "http://host/path".
std::string_view PathOf(std::string_view target) {
  if (!target.starts_with('/')) {
    constexpr std::string_view kMark = "://";
    const size_t mark = target.find(kMark);
    if (mark == 0 || mark == std::string_view::npos || target.find_first_of(":/?#") != mark) return {};
    target.remove_prefix(mark + kMark.size());
    const size_t host = target.find_first_of("/?#");
    if (host == 0 || target.empty()) return {};
    target.remove_prefix(std::min(host, target.size()));
    if (!target.starts_with('/')) return "/";
  }
  return target.substr(0, target.find_first_of("?#"));
}

// The size of a head with its empty line; npos if that has not come. Before `looked_at` it does not end. Lines without a
// carriage return are counted, too: Beast refuses them, and so their sender gets an answer.
size_t EndOf(std::string_view head, size_t looked_at) {
  constexpr size_t kEmptyLineBytes = 2;
  for (size_t at = head.find('\n', looked_at - std::min(looked_at, kEmptyLineBytes));
       at != std::string_view::npos; at = head.find('\n', at + 1)) {
    const std::string_view next = head.substr(at + 1);
    if (next.starts_with('\n')) return at + 2;
    if (next.starts_with("\r\n")) return at + 3;
  }
  return std::string_view::npos;
}

// One head, or the beginning of one, in one block of bytes. Beast cannot go on after a part of a line: it looks only for the
// empty line then. So each Head reads from the first byte on, and is not used again.
class Head final : public beast::http::basic_parser<true> {
 public:
  // REQUIRES: `bytes` is not empty, has at most RequestParser::kHeadBytes, and lives as long as this.
  explicit Head(std::string_view bytes) {
    header_limit(RequestParser::kHeadBytes);
    body_limit(0);
    beast::error_code error;
    put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
    if (error && error != beast::http::error::need_more && failure_ == 0) failure_ = StatusOf(error, bytes);
  }

  // 0: the bytes are a head, or may become one.
  int failure() const { return failure_; }
  bool has_first_line() const { return has_first_line_; }
  // ---- REQUIRES: is_header_done(), and failure() is 0
  std::string_view path() const { return path_; }
  std::string TakeHost() { return std::move(host_); }
  bool head_only() const { return method_ == beast::http::verb::head; }

 private:
  using Error = beast::error_code;
  using Text = beast::string_view;
  using Field = beast::http::field;

  bool is_served() const { return method_ == beast::http::verb::get || head_only(); }

  int StatusOf(const Error& error, std::string_view bytes) const {
    if (error == beast::http::error::header_limit) return kHeadTooLarge;
    if (error == beast::http::error::body_limit) return is_served() ? kBodyTooLarge : kMethodNotAllowed;
    if (error == beast::http::error::bad_version && HasOtherVersion(bytes)) return kVersionUnknown;
    return kBadRequest;
  }
  // Ends the parsing, in a call of Beast's.
  void Fail(int status, Error& error) {
    failure_ = status;
    error = beast::http::error::bad_value;
  }

  void on_request_impl(beast::http::verb method, Text, Text target, int, Error& error) override {
    has_first_line_ = true;
    method_ = method;
    if (target.size() > RequestParser::kTargetBytes) return Fail(kTargetTooLong, error);
    path_ = PathOf({target.data(), target.size()});
  }
  // `value` lives only as long as this call, if it was folded.
  void on_field_impl(Field name, Text, Text value, Error& error) override {
    if (name == Field::transfer_encoding) has_encoding_ = true;
    if (name != Field::host) return;
    if (std::exchange(has_host_, true) || value.size() > RequestParser::kHostBytes)
      return Fail(kBadRequest, error);
    host_.assign(value.data(), value.size());
  }
  void on_header_impl(Error& error) override {
    if (!is_served()) return Fail(kMethodNotAllowed, error);
    if (has_encoding_) return Fail(kBodyTooLarge, error);
    if (path_.empty()) return Fail(kBadRequest, error);
  }
  // ---- not called: there is no body, and this is no answer
  void on_response_impl(int, Text, int, Error&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>&, Error&) override {}
  size_t on_body_impl(Text, Error&) override { return 0; }
  void on_chunk_header_impl(uint64_t, Text, Error&) override {}
  size_t on_chunk_body_impl(uint64_t, Text, Error&) override { return 0; }
  void on_trailer_field_impl(Field, Text, Text, Error&) {}  // newer versions of Beast have it
  void on_finish_impl(Error&) override {}

  beast::http::verb method_ = beast::http::verb::unknown;
  std::string_view path_;
  std::string host_;
  int failure_ = 0;
  bool has_first_line_ = false;
  bool has_host_ = false;
  bool has_encoding_ = false;  // even one that Beast does not know: where would its body end?
};

}  // namespace

size_t RequestParser::Feed(std::string_view bytes) {
  assert(state_ == State::kNeedMore && taken_ <= kHeadBytes);
  bytes = bytes.substr(0, kHeadBytes - taken_);
  const size_t line_ends = head_.empty() ? std::min(bytes.find_first_not_of("\r\n"), bytes.size()) : 0;
  bytes.remove_prefix(line_ends);

  const size_t before = head_.size();
  if (before != 0) head_ += bytes;
  std::string_view head = before != 0 ? head_ : bytes;
  const size_t end = EndOf(head, before);
  const bool whole = end != std::string_view::npos;
  head = head.substr(0, end);
  const size_t taken = line_ends + head.size() - before;
  taken_ += taken;

  if (!has_first_line_ && !head.empty()) ReadFirstLine(head);
  if (whole && state_ == State::kNeedMore) ReadHead(head);
  if (state_ != State::kNeedMore) return taken;
  if (taken_ == kHeadBytes)
    Fail(kHeadTooLarge);
  else if (before == 0)
    head_ = head;
  return taken;
}

void RequestParser::Next() noexcept {
  assert(state_ == State::kReady);
  std::string().swap(head_);  // frees its memory
  request_.host.clear();
  taken_ = 0;
  has_first_line_ = false;
  state_ = State::kNeedMore;
}

void RequestParser::ReadFirstLine(std::string_view head) {
  const size_t end = std::min(head.find('\n'), head.size() - 1) + 1;
  const std::string_view line = head.substr(0, std::min(end, kFirstLineBytes));
  const Head first(line);
  has_first_line_ = first.has_first_line();
  if (first.failure() != 0) return Fail(first.failure());
  if (has_first_line_) return;
  if (line.ends_with('\n')) return Fail(kBadRequest);  // ended within the version
  if (line.size() == kFirstLineBytes) Fail(kTargetTooLong);
}

void RequestParser::ReadHead(std::string_view head) {
  Head all(head);
  if (all.failure() != 0) return Fail(all.failure());
  if (!all.is_header_done()) return Fail(kBadRequest);
  request_.path = all.path();
  request_.host = all.TakeHost();
  request_.head_only = all.head_only();
  request_.keep_alive = all.keep_alive();
  state_ = State::kReady;
}

void RequestParser::Fail(int status) noexcept {
  failure_ = status;
  state_ = State::kFailed;
}

}  // namespace mayfly::net
