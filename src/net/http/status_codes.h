// The status codes of the metrics port, and the first lines and headers of answers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mayfly::net {

inline constexpr int kOk = 200;
inline constexpr int kBadRequest = 400;
inline constexpr int kForbidden = 403;
inline constexpr int kNotFound = 404;
inline constexpr int kMethodNotAllowed = 405;
inline constexpr int kBodyTooLarge = 413;
inline constexpr int kTargetTooLong = 414;
inline constexpr int kMisdirected = 421;
inline constexpr int kHeadTooLarge = 431;
inline constexpr int kUnavailable = 503;
inline constexpr int kVersionUnknown = 505;

struct AnswerHead {
  int status = kOk;
  std::string_view type;
  size_t body_bytes = 0;
  bool closes = false;         // the connection, after this answer
  std::string_view more = {};  // header lines, each with its end
};

// "200 OK"
std::string_view StatusLineOf(int status) noexcept;
// The head, up to the empty line.
std::string WriteHead(const AnswerHead& head);

}  // namespace mayfly::net
