#include "support/reply.h"

#include <algorithm>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "resp/reply_reader.h"
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

Kind KindOf(resp::ReplyKind kind) {
  switch (kind) {
    case resp::ReplyKind::kSimple:
      return Kind::kSimple;
    case resp::ReplyKind::kError:
      return Kind::kError;
    case resp::ReplyKind::kInteger:
      return Kind::kInteger;
    case resp::ReplyKind::kBulk:
      return Kind::kBulk;
    case resp::ReplyKind::kNull:
      return Kind::kNull;
    case resp::ReplyKind::kNullArray:
      return Kind::kNullArray;
    case resp::ReplyKind::kArray:
      return Kind::kArray;
    case resp::ReplyKind::kMap:
      return Kind::kMap;
    case resp::ReplyKind::kSet:
      return Kind::kSet;
    case resp::ReplyKind::kPush:
      return Kind::kPush;
    case resp::ReplyKind::kDouble:
      return Kind::kDouble;
    case resp::ReplyKind::kBool:
      return Kind::kBool;
    case resp::ReplyKind::kVerbatim:
      return Kind::kVerbatim;
    case resp::ReplyKind::kBigNumber:
      return Kind::kBigNumber;
    case resp::ReplyKind::kAttribute:
      break;
  }
  throw std::runtime_error("no reply of ours has attributes");
}

std::optional<Reply> TakeFrom(resp::ReplyReader& reader) {
  resp::ReplyToken token;
  const resp::ReplyStatus status = reader.Next(token);
  if (status == resp::ReplyStatus::kBroken)
    throw std::runtime_error("this is no reply: " + std::string(reader.rest().substr(0, kMostShown)));
  if (status == resp::ReplyStatus::kNeedMore) return std::nullopt;
  Reply reply{.kind = KindOf(token.kind), .text = std::string(token.text), .integer = token.integer};
  for (size_t i = 0; i < token.elements(); ++i) {
    std::optional<Reply> element = TakeFrom(reader);
    if (!element) return std::nullopt;
    reply.elements.push_back(std::move(*element));
  }
  return reply;
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
  resp::ReplyReader reader(bytes);
  std::optional<Reply> reply = TakeFrom(reader);
  if (reply) bytes = reader.rest();
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
