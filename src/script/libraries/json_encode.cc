// Converts values of Lua to JSON.
#include <array>
#include <cmath>
#include <cstdio>

#include "script/libraries/json.h"
#include "script/lua/lua_heap.h"
#include "script/lua/script_clock.h"

namespace mayfly::script::json {
namespace {

constexpr size_t kMostNumberText = 32;

[[noreturn]] void Refuse(lua_State* L, int index, const char* reason) {
  luaL_error(L, "Cannot serialise %s: %s", lua_typename(L, lua_type(L, index)), reason);
  throw std::bad_alloc();  // not reached
}

class Encoder {
 public:
  explicit Encoder(lua_State* L) noexcept : L_(L), settings_(SettingsOf(L)), out_(L) {}

  // Writes the value on top of the stack and leaves the value there. `depth`: the number of tables around the value.
  void AddTop(int depth);
  std::string_view text() const noexcept { return out_.view(); }

 private:
  void AddText(std::string_view text);
  void AddEscaped(unsigned char byte);
  void AddNumber(int index);
  void AddArray(int length, int depth);
  void AddObject(int depth);
  // The highest index of the array on top; -1 if the table is an object.
  int ArrayLength();

  lua_State* L_;
  const Settings& settings_;
  LuaBuffer out_;
  size_t values_ = 0;  // within tables
};

void Encoder::AddEscaped(unsigned char byte) {
  switch (byte) {
    case '"':
      return out_.Add("\\\"");
    case '\\':
      return out_.Add("\\\\");
    case '/':
      return out_.Add("\\/");
    case '\b':
      return out_.Add("\\b");
    case '\t':
      return out_.Add("\\t");
    case '\n':
      return out_.Add("\\n");
    case '\f':
      return out_.Add("\\f");
    case '\r':
      return out_.Add("\\r");
    default:
      constexpr std::string_view kDigits = "0123456789abcdef";
      out_.Add("\\u00");
      out_.Add(kDigits[byte >> 4]);
      out_.Add(kDigits[byte & 15]);
  }
}

void Encoder::AddText(std::string_view text) {
  out_.Add('"');
  size_t plain = 0;  // the beginning of the bytes that need no escape
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= ' ' && byte != '"' && byte != '\\' && byte != '/' && byte != 127) continue;
    out_.Add(text.substr(plain, i - plain));
    AddEscaped(byte);
    plain = i + 1;
  }
  out_.Add(text.substr(plain));
  out_.Add('"');
}

void Encoder::AddNumber(int index) {
  const lua_Number number = lua_tonumber(L_, index);
  if (!std::isfinite(number)) {
    if (settings_.encode_invalid == 0) Refuse(L_, index, "must not be NaN or Inf");
    if (settings_.encode_invalid == 2) return out_.Add("null");
    if (std::isnan(number)) return out_.Add("nan");
  }
  char* const text = out_.Reserve(kMostNumberText);
  out_.Commit(
      static_cast<size_t>(std::snprintf(text, kMostNumberText, "%.*g", settings_.number_precision, number)));
}

int Encoder::ArrayLength() {
  lua_Number highest = 0;
  lua_Number count = 0;
  for (lua_pushnil(L_); lua_next(L_, -2) != 0; lua_pop(L_, 1)) {
    const lua_Number key = lua_type(L_, -2) == LUA_TNUMBER ? lua_tonumber(L_, -2) : 0;
    if (!(key >= 1) || key > INT32_MAX || std::floor(key) != key) {
      lua_pop(L_, 2);
      return -1;
    }
    highest = std::max(highest, key);
    ++count;
  }
  if (settings_.sparse_ratio > 0 && highest > count * settings_.sparse_ratio &&
      highest > settings_.sparse_safe) {
    if (settings_.sparse_convert == 0) Refuse(L_, -1, "excessively sparse array");
    return -1;
  }
  return static_cast<int>(highest);
}

void Encoder::AddArray(int length, int depth) {
  out_.Add('[');
  for (int i = 1; i <= length; ++i) {
    LookAtTime(L_, ++values_);
    if (i != 1) out_.Add(',');
    lua_rawgeti(L_, -1, i);
    AddTop(depth);
    lua_pop(L_, 1);
  }
  out_.Add(']');
}

void Encoder::AddObject(int depth) {
  out_.Add('{');
  bool first = true;
  for (lua_pushnil(L_); lua_next(L_, -2) != 0; lua_pop(L_, 1)) {
    LookAtTime(L_, ++values_);
    if (!first) out_.Add(',');
    first = false;
    switch (lua_type(L_, -2)) {
      case LUA_TNUMBER:
        out_.Add('"');
        AddNumber(-2);
        out_.Add("\":");
        break;
      case LUA_TSTRING:
        AddText(TextAt(L_, -2));
        out_.Add(':');
        break;
      default:
        Refuse(L_, -2, "table key must be a number or string");
    }
    AddTop(depth);
  }
  out_.Add('}');
}

void Encoder::AddTop(int depth) {
  switch (lua_type(L_, -1)) {
    case LUA_TSTRING:
      return AddText(TextAt(L_, -1));
    case LUA_TNUMBER:
      return AddNumber(-1);
    case LUA_TBOOLEAN:
      return out_.Add(lua_toboolean(L_, -1) != 0 ? "true" : "false");
    case LUA_TTABLE: {
      ++depth;
      if (depth > settings_.encode_max_depth || lua_checkstack(L_, 8) == 0)
        luaL_error(L_, "Cannot serialise, excessive nesting (%d)", depth);
      const int length = ArrayLength();
      return length > 0 ? AddArray(length, depth) : AddObject(depth);
    }
    case LUA_TNIL:
      return out_.Add("null");
    case LUA_TLIGHTUSERDATA:
      if (lua_touserdata(L_, -1) == nullptr) return out_.Add("null");
      [[fallthrough]];
    default:
      Refuse(L_, -1, "type not supported");
  }
}

}  // namespace

int Encode(lua_State* L) {
  luaL_argcheck(L, lua_gettop(L) == 1, 1, "expected 1 argument");
  Encoder encoder(L);
  encoder.AddTop(0);
  PushText(L, encoder.text());
  CountBytes(L, encoder.text().size());
  return 1;
}

}  // namespace mayfly::script::json
