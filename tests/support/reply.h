// A reply as a client reads it, for tests to compare and to print when they fail.
//
//   CHECK(Run({"MGET", "a", "b"}) == Array({Bulk("1"), Null()}));
//
// The kinds are those of the protocol, so that a test sees the difference between an integer and its text, or
// between RESP3's map and RESP2's flat array.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::testing {

struct Reply {
  enum class Kind : uint8_t {
    kNone,  // nothing was answered: the client waits, or its reply is turned off
    kSimple,
    kError,
    kInteger,
    kBulk,
    kNull,       // "$-1" and RESP3's "_"
    kNullArray,  // "*-1"
    kArray,
    kMap,  // elements: key, value, key, value ...
    kSet,
    kPush,
    kDouble,  // text as it was sent
    kBool,
    kVerbatim,  // text with its format: "txt:..."
    kBigNumber,
  };

  Kind kind = Kind::kNone;
  std::string text = {};
  int64_t integer = 0;  // also 0 or 1 of a kBool
  std::vector<Reply> elements = {};

  bool operator==(const Reply&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Reply& reply);

inline Reply NoReply() { return {}; }
inline Reply Simple(std::string_view text) {
  return {.kind = Reply::Kind::kSimple, .text = std::string(text)};
}
inline Reply Ok() { return Simple("OK"); }
inline Reply Error(std::string_view text) { return {.kind = Reply::Kind::kError, .text = std::string(text)}; }
inline Reply Integer(int64_t value) { return {.kind = Reply::Kind::kInteger, .integer = value}; }
inline Reply Bulk(std::string_view bytes) { return {.kind = Reply::Kind::kBulk, .text = std::string(bytes)}; }
inline Reply Null() { return {.kind = Reply::Kind::kNull}; }
inline Reply NullArray() { return {.kind = Reply::Kind::kNullArray}; }
inline Reply Bool(bool value) { return {.kind = Reply::Kind::kBool, .integer = value ? 1 : 0}; }
inline Reply Double(std::string_view text) {
  return {.kind = Reply::Kind::kDouble, .text = std::string(text)};
}
inline Reply Verbatim(std::string_view text) {
  return {.kind = Reply::Kind::kVerbatim, .text = std::string(text)};
}
inline Reply Array(std::vector<Reply> elements) {
  return {.kind = Reply::Kind::kArray, .elements = std::move(elements)};
}
inline Reply Map(std::vector<Reply> keys_and_values) {
  return {.kind = Reply::Kind::kMap, .elements = std::move(keys_and_values)};
}
inline Reply Set(std::vector<Reply> elements) {
  return {.kind = Reply::Kind::kSet, .elements = std::move(elements)};
}
inline Reply Push(std::vector<Reply> elements) {
  return {.kind = Reply::Kind::kPush, .elements = std::move(elements)};
}
// An array of bulk strings.
Reply Bulks(const std::vector<std::string_view>& texts);
// The same elements in an order that does not depend on the server's: for KEYS, SCAN, SMEMBERS ...
Reply Sorted(Reply reply);

// Takes one complete reply from the front of `bytes`; nothing if there is none yet. Throws std::runtime_error
// for bytes that are no reply.
std::optional<Reply> TakeReply(std::string_view& bytes);
// All replies of `bytes`. REQUIRES: the last one is complete.
std::vector<Reply> TakeReplies(std::string_view bytes);

// A request as a client library sends it: an array of bulk strings.
std::string EncodeRequest(const std::vector<std::string>& words);

}  // namespace mayfly::testing
