#include "support/reply.h"

#include <algorithm>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "base/numbers.h"
#include "support/request_text.h"

namespace mayfly::testing {
namespace {

using Kind = Reply::Kind;

constexpr size_t kMostShown = 200;

void PrintText(std::ostream& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out << '"';
  for (const char c : text.substr(0, kMostShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out << '\\' << c;
    } else if (byte >= ' ' && byte < 0x7f) {
      out << c;
    } else {
      out << "\\x" << kHex[byte >> 4] << kHex[byte & 15];
    }
  }
  out << '"';
  if (text.size() > kMostShown) out << "... (" << text.size() << " bytes)";
}

std::string_view NameOf(Kind kind) {
  switch (kind) {
    case Kind::kNone:
      return "NoReply";
    case Kind::kSimple:
      return "Simple";
    case Kind::kError:
      return "Error";
    case Kind::kInteger:
      return "Integer";
    case Kind::kBulk:
      return "Bulk";
    case Kind::kNull:
      return "Null";
    case Kind::kNullArray:
      return "NullArray";
    case Kind::kArray:
      return "Array";
    case Kind::kMap:
      return "Map";
    case Kind::kSet:
      return "Set";
    case Kind::kPush:
      return "Push";
    case Kind::kDouble:
      return "Double";
    case Kind::kBool:
      return "Bool";
    case Kind::kVerbatim:
      return "Verbatim";
    case Kind::kBigNumber:
      return "BigNumber";
  }
  return "?";
}

int64_t NumberIn(std::string_view text) {
  const std::optional<int64_t> number = ParseInteger(text);
  if (!number)
    throw std::runtime_error("a reply has no number where there must be one: " + std::string(text));
  return *number;
}

std::optional<Reply> TakeText(std::string_view& rest, Kind kind, int64_t size) {
  if (size < 0) return Null();
  const auto length = static_cast<size_t>(size);
  if (rest.size() < length + 2) return std::nullopt;
  if (rest.substr(length, 2) != "\r\n")
    throw std::runtime_error("a bulk string does not end where it should");
  Reply reply{.kind = kind, .text = std::string(rest.substr(0, length))};
  rest.remove_prefix(length + 2);
  return reply;
}

std::optional<Reply> TakeElements(std::string_view& rest, Kind kind, int64_t count) {
  if (count < 0) return NullArray();
  Reply reply{.kind = kind};
  for (int64_t i = 0; i < (kind == Kind::kMap ? 2 * count : count); ++i) {
    std::optional<Reply> element = TakeReply(rest);
    if (!element) return std::nullopt;
    reply.elements.push_back(std::move(*element));
  }
  return reply;
}

std::optional<Reply> TakeBody(char type, std::string_view line, std::string_view& rest) {
  switch (type) {
    case '+':
      return Simple(line);
    case '-':
      return Error(line);
    case ':':
      return Integer(NumberIn(line));
    case '$':
      return TakeText(rest, Kind::kBulk, NumberIn(line));
    case '=':
      return TakeText(rest, Kind::kVerbatim, NumberIn(line));
    case '*':
      return TakeElements(rest, Kind::kArray, NumberIn(line));
    case '%':
      return TakeElements(rest, Kind::kMap, NumberIn(line));
    case '~':
      return TakeElements(rest, Kind::kSet, NumberIn(line));
    case '>':
      return TakeElements(rest, Kind::kPush, NumberIn(line));
    case '_':
      return Null();
    case '#':
      return Bool(line == "t");
    case ',':
      return Double(line);
    case '(':
      return Reply{.kind = Kind::kBigNumber, .text = std::string(line)};
    default:
      throw std::runtime_error("no reply begins with byte " + std::to_string(type));
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Reply& reply) {
  out << NameOf(reply.kind) << '(';
  if (reply.kind == Kind::kInteger || reply.kind == Kind::kBool) out << reply.integer;
  if (!reply.text.empty() || reply.kind == Kind::kBulk) PrintText(out, reply.text);
  std::string_view comma;
  for (const Reply& element : reply.elements) {
    out << comma << element;
    comma = ", ";
  }
  return out << ')';
}

Reply Bulks(const std::vector<std::string_view>& texts) {
  Reply reply = Array({});
  for (const std::string_view text : texts) reply.elements.push_back(Bulk(text));
  return reply;
}

Reply Sorted(Reply reply) {
  const auto shown = [](const Reply& element) {
    std::ostringstream text;
    text << element;
    return text.str();
  };
  std::sort(reply.elements.begin(), reply.elements.end(),
            [&](const Reply& a, const Reply& b) { return shown(a) < shown(b); });
  return reply;
}

std::optional<Reply> TakeReply(std::string_view& bytes) {
  const size_t line_end = bytes.find("\r\n");
  if (line_end == std::string_view::npos) return std::nullopt;
  if (line_end == 0) throw std::runtime_error("an empty line is no reply");
  std::string_view rest = bytes.substr(line_end + 2);
  std::optional<Reply> reply = TakeBody(bytes[0], bytes.substr(1, line_end - 1), rest);
  if (reply) bytes = rest;
  return reply;
}

std::vector<Reply> TakeReplies(std::string_view bytes) {
  std::vector<Reply> replies;
  while (!bytes.empty()) {
    std::optional<Reply> reply = TakeReply(bytes);
    if (!reply) throw std::runtime_error("the last reply is cut off");
    replies.push_back(std::move(*reply));
  }
  return replies;
}

std::string EncodeRequest(const std::vector<std::string>& words) {
  std::string request;
  AppendRequest(request, words);
  return request;
}

}  // namespace mayfly::testing
