#include "resp/reply_reader.h"

#include <optional>

#include "base/text/numbers.h"

namespace mayfly::resp {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

}  // namespace

ReplyStatus ReplyReader::Text(ReplyToken& token, ReplyKind kind, std::string_view after) noexcept {
  const std::optional<int64_t> size = ParseInteger(token.text);
  if (!size || *size < -1) return ReplyStatus::kBroken;
  if (*size == -1) {
    token = {.kind = ReplyKind::kNull};
    rest_ = after;
    return ReplyStatus::kToken;
  }
  const auto length = static_cast<size_t>(*size);
  if (after.size() < kLineEnd.size() || after.size() - kLineEnd.size() < length)
    return ReplyStatus::kNeedMore;
  if (after.substr(length, kLineEnd.size()) != kLineEnd) return ReplyStatus::kBroken;
  token = {.kind = kind, .text = after.substr(0, length)};
  rest_ = after.substr(length + kLineEnd.size());
  return ReplyStatus::kToken;
}

ReplyStatus ReplyReader::Container(ReplyToken& token, ReplyKind kind, std::string_view after) noexcept {
  const std::optional<int64_t> count = ParseInteger(token.text);
  constexpr int64_t kMost = INT32_MAX;  // more than in any reply; 2 * kMost is countable, too
  if (!count || *count < -1 || *count > kMost || (*count == -1 && kind != ReplyKind::kArray))
    return ReplyStatus::kBroken;
  if (*count == -1)
    token = {.kind = ReplyKind::kNullArray};
  else
    token = {.kind = kind, .count = static_cast<size_t>(*count)};
  rest_ = after;
  return ReplyStatus::kToken;
}

ReplyStatus ReplyReader::Next(ReplyToken& token) noexcept {
  const size_t line_end = rest_.find(kLineEnd);
  if (line_end == std::string_view::npos) return ReplyStatus::kNeedMore;
  if (line_end == 0) return ReplyStatus::kBroken;
  const char type = rest_[0];
  const std::string_view after = rest_.substr(line_end + kLineEnd.size());
  ReplyToken line{.text = rest_.substr(1, line_end - 1)};
  ReplyStatus status = ReplyStatus::kToken;
  bool whole = true;  // the token ends with its line
  const auto text = [&](ReplyKind kind) { status = Text(line, kind, after), whole = false; };
  const auto container = [&](ReplyKind kind) { status = Container(line, kind, after), whole = false; };
  switch (type) {
    case '+':
      line.kind = ReplyKind::kSimple;
      break;
    case '-':
      line.kind = ReplyKind::kError;
      break;
    case ',':
      line.kind = ReplyKind::kDouble;
      break;
    case '(':
      line.kind = ReplyKind::kBigNumber;
      break;
    case '_':
      line = {.kind = ReplyKind::kNull};
      break;
    case '#':
      if (line.text != "t" && line.text != "f") return ReplyStatus::kBroken;
      line = {.kind = ReplyKind::kBool, .integer = line.text == "t" ? 1 : 0};
      break;
    case ':': {
      const std::optional<int64_t> value = ParseInteger(line.text);
      if (!value) return ReplyStatus::kBroken;
      line = {.kind = ReplyKind::kInteger, .integer = *value};
      break;
    }
    case '$':
      text(ReplyKind::kBulk);
      break;
    case '=':
      text(ReplyKind::kVerbatim);
      break;
    case '*':
      container(ReplyKind::kArray);
      break;
    case '%':
      container(ReplyKind::kMap);
      break;
    case '~':
      container(ReplyKind::kSet);
      break;
    case '>':
      container(ReplyKind::kPush);
      break;
    case '|':
      container(ReplyKind::kAttribute);
      break;
    default:
      return ReplyStatus::kBroken;
  }
  if (status != ReplyStatus::kToken) return status;
  if (whole) rest_ = after;
  token = line;
  return status;
}

ReplyStatus ReplyReader::Skip(const ReplyToken& token) noexcept {
  const std::string_view before = rest_;
  // A reply follows an attribute.
  const auto below = [](const ReplyToken& head) {
    return head.elements() + (head.kind == ReplyKind::kAttribute ? 1 : 0);
  };
  for (size_t left = below(token); left != 0; --left) {
    ReplyToken element;
    const ReplyStatus status = Next(element);
    if (status != ReplyStatus::kToken) {
      rest_ = before;
      return status;
    }
    left += below(element);
  }
  return ReplyStatus::kToken;
}

}  // namespace mayfly::resp
