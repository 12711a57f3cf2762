// Reads replies, element by element, without a copy: the other side of resp/writer.h. For replies that the server itself
// reads back (a script's calls), and for tests.
//
//   ReplyReader reader(bytes);
//   for (ReplyToken token; reader.Next(token) == ReplyStatus::kToken;) ...
//
// A container comes as one token with the number of elements; the tokens of the elements follow. Tokens are views into the
// bytes.
// RESP2 and RESP3: https://redis.io/docs/latest/develop/reference/protocol-spec/
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mayfly::resp {

enum class ReplyKind : uint8_t {
  kSimple,
  kError,
  kInteger,
  kBulk,
  kNull,       // "$-1" and RESP3's "_"
  kNullArray,  // "*-1"
  kArray,
  kMap,  // count is the number of pairs: twice as many elements follow
  kSet,
  kPush,
  kAttribute,  // as a map; the reply with this attribute follows
  kDouble,     // the number as received text
  kBool,
  kVerbatim,  // text with its format: "txt:..."
  kBigNumber,
};

struct ReplyToken {
  ReplyKind kind = ReplyKind::kNull;
  std::string_view text = {};  // without the line end; of an error with its code
  int64_t integer = 0;         // of kInteger; 0 or 1 of kBool
  size_t count = 0;            // of a container
  // The number of tokens directly below this token.
  size_t elements() const noexcept {
    return kind == ReplyKind::kMap || kind == ReplyKind::kAttribute ? 2 * count : count;
  }
};

enum class ReplyStatus : uint8_t {
  kToken,
  kNeedMore,  // the bytes end before the token does
  kBroken,    // no reply begins like this
};

class ReplyReader {
 public:
  // Borrows `bytes`.
  explicit ReplyReader(std::string_view bytes) noexcept : rest_(bytes) {}

  // Moves past a token only if the result is kToken.
  ReplyStatus Next(ReplyToken& token) noexcept;
  // Moves past the rest of the reply that begins with `token`, the last token from Next.
  ReplyStatus Skip(const ReplyToken& token) noexcept;
  // The bytes after the last token.
  std::string_view rest() const noexcept { return rest_; }

 private:
  ReplyStatus Text(ReplyToken& token, ReplyKind kind, std::string_view after) noexcept;
  ReplyStatus Container(ReplyToken& token, ReplyKind kind, std::string_view after) noexcept;

  std::string_view rest_;
};

}  // namespace mayfly::resp
