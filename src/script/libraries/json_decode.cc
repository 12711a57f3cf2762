// Converts JSON to values of Lua.
#include <strings.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/text/ascii.h"
#include "script/libraries/json.h"
#include "script/lua/lua_heap.h"
#include "script/lua/script_clock.h"

namespace mayfly::script::json {
namespace {

enum class Kind : uint8_t {
  kObjectBegin,
  kObjectEnd,
  kArrayBegin,
  kArrayEnd,
  kText,
  kNumber,
  kBoolean,
  kNull,
  kColon,
  kComma,
  kEnd,
  kError,
};
// The names of the kinds in errors.
constexpr const char* kNames[] = {"T_OBJ_BEGIN", "T_OBJ_END", "T_ARR_BEGIN", "T_ARR_END",
                                  "T_STRING",    "T_NUMBER",  "T_BOOLEAN",   "T_NULL",
                                  "T_COLON",     "T_COMMA",   "T_END"};

struct Token {
  Kind kind = Kind::kError;
  size_t at = 0;
  const char* problem = nullptr;  // of kError
  lua_Number number = 0;
  bool truth = false;
};

// Reads a text that ends with a zero byte, like all strings of Lua.
class Decoder {
 public:
  Decoder(lua_State* L, const char* text) noexcept
      : L_(L), settings_(SettingsOf(L)), text_(text), string_(L) {}

  void PushWhole() {
    PushValue(Next(), 0);
    const Token token = Next();
    if (token.kind != Kind::kEnd) Fail("the end", token);
  }

 private:
  [[noreturn]] void Fail(const char* expected, const Token& found) {
    luaL_error(L_, "Expected %s but found %s at character %d", expected,
               found.kind == Kind::kError ? found.problem : kNames[static_cast<size_t>(found.kind)],
               static_cast<int>(found.at + 1));
    throw std::bad_alloc();  // not reached
  }
  Token Problem(const char* problem) const noexcept { return {.at = at_, .problem = problem}; }
  Token Next();
  Token NextText();
  Token NextNumber(size_t begin);
  // Returns true if strtod might read a text here that JSON does not allow.
  bool IsInvalidNumber() const noexcept;
  bool AddUnicode();
  int HexDigits(size_t at) const noexcept;
  bool Accept(const char* word, size_t size) noexcept {
    if (std::strncmp(text_ + at_, word, size) != 0) return false;
    at_ += size;
    return true;
  }

  void PushValue(const Token& token, int depth);
  void PushObject(int depth);
  void PushArray(int depth);
  void Descend(int depth, int slots) {
    if (depth <= settings_.decode_max_depth && lua_checkstack(L_, slots) != 0) return;
    luaL_error(L_, "Found too many nested data structures (%d) at character %d", depth,
               static_cast<int>(at_));
  }

  lua_State* L_;
  const Settings& settings_;
  const char* text_;
  size_t at_ = 0;
  LuaBuffer string_;  // the last string, without its escapes
};

int Decoder::HexDigits(size_t at) const noexcept {
  int value = 0;
  for (size_t i = 0; i < 4; ++i) {
    const int digit = HexDigit(text_[at + i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

// Adds the character of a \uXXXX, or of two \uXXXX for the halves of a character.
bool Decoder::AddUnicode() {
  int code = HexDigits(at_ + 2);
  if (code < 0) return false;
  size_t length = 6;
  if ((code & 0xF800) == 0xD800) {
    if ((code & 0x400) != 0) return false;
    if (text_[at_ + length] != '\\' || text_[at_ + length + 1] != 'u') return false;
    const int low = HexDigits(at_ + length + 2);
    if (low < 0 || (low & 0xFC00) != 0xDC00) return false;
    code = ((code & 0x3FF) << 10 | (low & 0x3FF)) + 0x10000;
    length = 12;
  }
  const auto tail = [this, code](int shift) {
    string_.Add(static_cast<char>((code >> shift & 0x3F) | 0x80));
  };
  if (code <= 0x7F) {
    string_.Add(static_cast<char>(code));
  } else if (code <= 0x7FF) {
    string_.Add(static_cast<char>(code >> 6 | 0xC0));
    tail(0);
  } else if (code <= 0xFFFF) {
    string_.Add(static_cast<char>(code >> 12 | 0xE0));
    tail(6), tail(0);
  } else {
    string_.Add(static_cast<char>(code >> 18 | 0xF0));
    tail(12), tail(6), tail(0);
  }
  at_ += length;
  return true;
}

Token Decoder::NextText() {
  Token token{.kind = Kind::kText, .at = at_};
  ++at_;
  string_.Clear();
  for (;;) {
    char c = text_[at_];
    if (c == '"') break;
    if (c == '\0') return Problem("unexpected end of string");
    if (c == '\\') {
      constexpr std::string_view kLetters = "\"\\/btnfr";
      constexpr std::string_view kMeanings = "\"\\/\b\t\n\f\r";
      const char letter = text_[at_ + 1];
      if (letter == 'u') {
        if (!AddUnicode()) return Problem("invalid unicode escape code");
        continue;
      }
      const size_t which = kLetters.find(letter);
      if (which == std::string_view::npos) return Problem("invalid escape code");
      c = kMeanings[which];
      ++at_;
    }
    string_.Add(c);
    ++at_;
  }
  ++at_;
  return token;
}

bool Decoder::IsInvalidNumber() const noexcept {
  const char* p = text_ + at_;
  if (*p == '+') return true;
  if (*p == '-') ++p;
  if (*p == '0') return Lower(p[1]) == 'x' || (p[1] >= '0' && p[1] <= '9');
  if (*p <= '9') return false;
  return strncasecmp(p, "inf", 3) == 0 || strncasecmp(p, "nan", 3) == 0;
}

Token Decoder::NextNumber(size_t begin) {
  char* end = nullptr;
  const lua_Number number = std::strtod(text_ + begin, &end);
  if (end == text_ + begin) return Problem("invalid number");
  at_ = static_cast<size_t>(end - text_);
  return {.kind = Kind::kNumber, .at = begin, .number = number};
}

Token Decoder::Next() {
  while (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r') ++at_;
  const size_t begin = at_;
  const auto single = [this, begin](Kind kind) {
    ++at_;
    return Token{.kind = kind, .at = begin};
  };
  const char c = text_[at_];
  switch (c) {
    case '{':
      return single(Kind::kObjectBegin);
    case '}':
      return single(Kind::kObjectEnd);
    case '[':
      return single(Kind::kArrayBegin);
    case ']':
      return single(Kind::kArrayEnd);
    case ',':
      return single(Kind::kComma);
    case ':':
      return single(Kind::kColon);
    case '\0':
      return {.kind = Kind::kEnd, .at = begin};
    case '"':
      return NextText();
    default:
      break;
  }
  if (c == '-' || (c >= '0' && c <= '9')) {
    if (settings_.decode_invalid == 0 && IsInvalidNumber()) return Problem("invalid number");
    return NextNumber(begin);
  }
  if (Accept("true", 4)) return {.kind = Kind::kBoolean, .at = begin, .truth = true};
  if (Accept("false", 5)) return {.kind = Kind::kBoolean, .at = begin};
  if (Accept("null", 4)) return {.kind = Kind::kNull, .at = begin};
  if (settings_.decode_invalid != 0 && IsInvalidNumber()) return NextNumber(begin);
  return Problem("invalid token");
}

void Decoder::PushObject(int depth) {
  Descend(depth, 3);
  lua_newtable(L_);
  Token token = Next();
  if (token.kind == Kind::kObjectEnd) return;
  for (size_t i = 1;; ++i) {
    LookAtTime(L_, i);
    if (token.kind != Kind::kText) Fail("object key string", token);
    PushText(L_, string_.view());
    token = Next();
    if (token.kind != Kind::kColon) Fail("colon", token);
    PushValue(Next(), depth);
    lua_rawset(L_, -3);
    token = Next();
    if (token.kind == Kind::kObjectEnd) return;
    if (token.kind != Kind::kComma) Fail("comma or object end", token);
    token = Next();
  }
}

void Decoder::PushArray(int depth) {
  Descend(depth, 2);
  lua_newtable(L_);
  Token token = Next();
  if (token.kind == Kind::kArrayEnd) return;
  for (int i = 1;; ++i) {
    LookAtTime(L_, static_cast<size_t>(i));
    PushValue(token, depth);
    lua_rawseti(L_, -2, i);
    token = Next();
    if (token.kind == Kind::kArrayEnd) return;
    if (token.kind != Kind::kComma) Fail("comma or array end", token);
    token = Next();
  }
}

void Decoder::PushValue(const Token& token, int depth) {
  switch (token.kind) {
    case Kind::kText:
      return PushText(L_, string_.view());
    case Kind::kNumber:
      return lua_pushnumber(L_, token.number);
    case Kind::kBoolean:
      return lua_pushboolean(L_, token.truth ? 1 : 0);
    case Kind::kNull:
      return lua_pushlightuserdata(L_, nullptr);  // a table cannot hold nil
    case Kind::kObjectBegin:
      return PushObject(depth + 1);
    case Kind::kArrayBegin:
      return PushArray(depth + 1);
    default:
      Fail("value", token);
  }
}

}  // namespace

int Decode(lua_State* L) {
  luaL_argcheck(L, lua_gettop(L) == 1, 1, "expected 1 argument");
  size_t size = 0;
  const char* const text = luaL_checklstring(L, 1, &size);
  if (size >= 2 && (text[0] == '\0' || text[1] == '\0'))
    return luaL_error(L, "JSON parser does not support UTF-16 or UTF-32");
  Decoder decoder(L, text);
  decoder.PushWhole();
  CountBytes(L, size);
  return 1;
}

}  // namespace mayfly::script::json
