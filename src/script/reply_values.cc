#include "script/reply_values.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <string>

#include "base/text/numbers.h"

namespace mayfly::script {
namespace {

using resp::ReplyKind;
using resp::ReplyToken;

constexpr const char* kFieldNames[] = {
    "err", "ok",  "double", "big_number", "verbatim_string",           "format", "string",
    "map", "set", "source", "line",       "ignore_error_stats_update", "KEYS",   "ARGV",
};

// Replaces the value on top by a table with the value in `field`.
void Wrap(lua_State* L, const char* field) {
  lua_createtable(L, 0, 1);
  lua_insert(L, -2);
  lua_setfield(L, -2, field);
}

void PushVerbatim(lua_State* L, std::string_view text) {
  constexpr size_t kFormat = 3;
  lua_createtable(L, 0, 2);
  SetText(L, "format", text.substr(0, kFormat));
  SetText(L, "string", text.substr(std::min(text.size(), kFormat + 1)));
  Wrap(L, "verbatim_string");
}

void PushArray(lua_State* L, resp::ReplyReader& reader, int version, size_t count) {
  lua_createtable(L, static_cast<int>(count), 0);
  for (size_t i = 1; i <= count; ++i) {
    LookAtTime(L, i);
    PushReply(L, reader, version);
    lua_rawseti(L, -2, static_cast<int>(i));
  }
}

void PushMap(lua_State* L, resp::ReplyReader& reader, int version, size_t count) {
  lua_createtable(L, 0, static_cast<int>(count));
  for (; count != 0; --count) {
    LookAtTime(L, count);
    PushReply(L, reader, version);
    PushReply(L, reader, version);
    lua_settable(L, -3);
  }
  Wrap(L, "map");
}

void PushSet(lua_State* L, resp::ReplyReader& reader, int version, size_t count) {
  lua_createtable(L, 0, static_cast<int>(count));
  for (; count != 0; --count) {
    LookAtTime(L, count);
    PushReply(L, reader, version);
    lua_pushboolean(L, 1);
    lua_settable(L, -3);
  }
  Wrap(L, "set");
}

// ---- values to replies

// One conversion.
struct Conversion {
  resp::Writer& reply;
  WrittenErrors& errors;
  int version;  // of the protocol chosen by the script
  uint64_t most_bytes;
  size_t values = 0;  // so far
};

void WriteTop(lua_State* L, Conversion& to);

// The hook may need some places of Lua's stack. If places are lacking, tables are nested deeply, and the conversion of an
// outer table will look.
void LookAround(lua_State* L, const Conversion& to) {
  constexpr int kPlaces = 10;
  if (lua_checkstack(L, kPlaces) == 0) return;
  if (to.reply.out().memory() > to.most_bytes) {
    PushError(L, "the reply of the script is larger than the replies of all clients may be");
    lua_error(L);
  }
  LookAtTime(L, 0);
}

// Pushes the field of the table on top. Returns false, and pushes nothing, if the field has another type.
bool PushField(lua_State* L, const char* name, int type) {
  lua_pushstring(L, name);
  lua_rawget(L, -2);
  if (lua_type(L, -1) == type) return true;
  lua_pop(L, 1);
  return false;
}

std::string WithoutLineEnds(std::string_view text) {
  std::string line(text);
  std::replace_if(line.begin(), line.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
  return line;
}

// Cuts fractions off. A number beyond 64 bits gives the result of Redis's processors.
int64_t IntegerOf(lua_Number number) noexcept {
  constexpr double kTwo63 = 9223372036854775808.0;
  return number >= -kTwo63 && number < kTwo63 ? static_cast<int64_t>(number) : INT64_MIN;
}

void WriteBigNumber(resp::Writer& reply, std::string_view text) {
  const std::string line = WithoutLineEnds(text);
  if (reply.version() == 2) return reply.Bulk(line);
  // Any text that the script calls a big number.
  reply.out().Append("(");
  reply.out().Append(line);
  reply.out().Append("\r\n");
}

bool WriteVerbatim(lua_State* L, resp::Writer& reply) {
  constexpr size_t kFormat = 3;
  if (!PushField(L, "format", LUA_TSTRING)) return false;
  lua_insert(L, -2);
  const bool has_text = PushField(L, "string", LUA_TSTRING);
  if (has_text) {
    std::string format(TextAt(L, -3).substr(0, kFormat));
    format.resize(kFormat, ' ');
    reply.Verbatim(format, TextAt(L, -1));
    lua_pop(L, 1);
  }
  lua_remove(L, -2);
  return has_text;
}

void WriteMap(lua_State* L, Conversion& to) {
  resp::Deferred head = to.reply.Defer();
  size_t pairs = 0;
  for (lua_pushnil(L); lua_next(L, -2) != 0; ++pairs) {
    lua_pushvalue(L, -2);
    WriteTop(L, to);
    WriteTop(L, to);
  }
  head.Map(pairs);
}

void WriteSet(lua_State* L, Conversion& to) {
  resp::Deferred head = to.reply.Defer();
  size_t count = 0;
  for (lua_pushnil(L); lua_next(L, -2) != 0; ++count) {
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    WriteTop(L, to);
  }
  head.Set(count);
}

// Writes the array up to the first nil.
void WriteArray(lua_State* L, Conversion& to) {
  resp::Deferred head = to.reply.Defer();
  size_t count = 0;
  for (;; ++count) {
    lua_rawgeti(L, -1, static_cast<int>(count + 1));
    if (lua_isnil(L, -1)) break;
    WriteTop(L, to);
  }
  lua_pop(L, 1);
  head.Array(count);
}

// Counts the error that was written last.
void CountFresh(Conversion& to) noexcept {
  ++to.errors.fresh;
  try {
    to.errors.codes.Count(to.reply.last_error_code(), 1);
  } catch (const std::bad_alloc&) {  // no memory for a new code: it goes uncounted
  }
}

// Writes the error whose text is on top, above its table.
void WriteError(lua_State* L, Conversion& to) {
  to.reply.Error(TextAt(L, -1));
  lua_pop(L, 1);
  if (PushField(L, "ignore_error_stats_update", LUA_TBOOLEAN) && lua_toboolean(L, -1) != 0)
    ++to.errors.counted;
  else
    CountFresh(to);
}

// Leaves the table on top.
void WriteTable(lua_State* L, Conversion& to) {
  const int top = lua_gettop(L);
  if (PushField(L, "err", LUA_TSTRING)) {
    WriteError(L, to);
  } else if (PushField(L, "ok", LUA_TSTRING)) {
    const std::string_view text = TextAt(L, -1);
    to.reply.Simple(text.substr(0, text.find('\0')));
  } else if (PushField(L, "double", LUA_TNUMBER)) {
    to.reply.Double(lua_tonumber(L, -1));
  } else if (PushField(L, "big_number", LUA_TSTRING)) {
    WriteBigNumber(to.reply, TextAt(L, -1));
  } else {
    const bool is_verbatim = PushField(L, "verbatim_string", LUA_TTABLE) && WriteVerbatim(L, to.reply);
    lua_settop(L, top);
    if (!is_verbatim) {
      if (PushField(L, "map", LUA_TTABLE)) {
        WriteMap(L, to);
      } else if (PushField(L, "set", LUA_TTABLE)) {
        WriteSet(L, to);
      } else {
        WriteArray(L, to);
      }
    }
  }
  lua_settop(L, top);
}

void WriteText(lua_State* L, const Conversion& to) {
  constexpr size_t kLong = 16 << 10;
  const std::string_view text = TextAt(L, -1);
  to.reply.Bulk(text);
  if (text.size() >= kLong) LookAround(L, to);
}

void WriteTop(lua_State* L, Conversion& to) {
  constexpr size_t kValuesPerLook = 64;
  resp::Writer& reply = to.reply;
  if (++to.values % kValuesPerLook == 0) LookAround(L, to);
  if (lua_checkstack(L, 6) == 0) {
    reply.Error("ERR reached lua stack limit");
    CountFresh(to);
    return lua_pop(L, 1);
  }
  switch (lua_type(L, -1)) {
    case LUA_TSTRING:
      WriteText(L, to);
      break;
    case LUA_TNUMBER:
      reply.Integer(IntegerOf(lua_tonumber(L, -1)));
      break;
    case LUA_TBOOLEAN:
      if (to.version != 2) {
        reply.Bool(lua_toboolean(L, -1) != 0);
      } else {
        lua_toboolean(L, -1) != 0 ? reply.Integer(1) : reply.Null();
      }
      break;
    case LUA_TTABLE:
      WriteTable(L, to);
      break;
    default:
      reply.Null();
  }
  lua_pop(L, 1);
}

}  // namespace

void KeepFieldNames(lua_State* L) {
  for (const char* name : kFieldNames) {
    lua_pushboolean(L, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, name);
  }
}

void PushError(lua_State* L, std::string_view error) {
  std::string_view code = "ERR";
  if (error.starts_with('-')) {
    error.remove_prefix(1);
    if (const size_t blank = error.find(' '); blank != std::string_view::npos) {
      code = error.substr(0, blank);
      error.remove_prefix(blank + 1);
    }
  }
  constexpr std::string_view kLineEnd = "\r\n";
  const size_t first = error.find_first_not_of(kLineEnd);
  const size_t last = error.find_last_not_of(kLineEnd);
  error = first == std::string_view::npos ? std::string_view() : error.substr(first, last - first + 1);
  lua_createtable(L, 0, 4);
  PushText(L, code);
  lua_pushliteral(L, " ");
  PushText(L, error);
  lua_concat(L, 3);
  lua_setfield(L, -2, "err");
}

void Raise(lua_State* L, std::string_view error) {
  PushError(L, error);
  lua_error(L);
  throw std::bad_alloc();  // not reached
}

void PushCountedError(lua_State* L, std::string_view error) {
  PushError(L, error);
  lua_pushboolean(L, 1);
  lua_setfield(L, -2, "ignore_error_stats_update");
}

void PushReply(lua_State* L, resp::ReplyReader& reader, int version) {
  luaL_checkstack(L, 5, "a reply is nested too deeply");
  ReplyToken token;
  if (reader.Next(token) != resp::ReplyStatus::kToken) {
    luaL_error(L, "a reply could not be read");
    return;
  }
  switch (token.kind) {
    case ReplyKind::kBulk:
      return PushText(L, token.text);
    case ReplyKind::kInteger:
      return lua_pushnumber(L, static_cast<lua_Number>(token.integer));
    case ReplyKind::kNull:
    case ReplyKind::kNullArray:
      return version == 2 ? lua_pushboolean(L, 0) : lua_pushnil(L);
    case ReplyKind::kSimple:
      PushText(L, token.text);
      return Wrap(L, "ok");
    case ReplyKind::kError: {
      const std::string error = '-' + std::string(token.text);
      return PushCountedError(L, error);
    }
    case ReplyKind::kArray:
    case ReplyKind::kPush:
      return PushArray(L, reader, version, token.count);
    case ReplyKind::kMap:
      return PushMap(L, reader, version, token.count);
    case ReplyKind::kSet:
      return PushSet(L, reader, version, token.count);
    case ReplyKind::kAttribute:
      for (size_t i = 0; i < token.elements(); ++i) {
        ReplyToken part;
        if (reader.Next(part) == resp::ReplyStatus::kToken) static_cast<void>(reader.Skip(part));
      }
      return PushReply(L, reader, version);
    case ReplyKind::kDouble:
      lua_pushnumber(L, ParseDouble(token.text).value_or(NAN));
      return Wrap(L, "double");
    case ReplyKind::kBool:
      return lua_pushboolean(L, static_cast<int>(token.integer));
    case ReplyKind::kVerbatim:
      return PushVerbatim(L, token.text);
    case ReplyKind::kBigNumber:
      PushText(L, token.text);
      return Wrap(L, "big_number");
  }
}

void WriteValue(lua_State* L, int version, resp::Writer& reply, WrittenErrors& errors, uint64_t most_bytes) {
  Conversion to{.reply = reply, .errors = errors, .version = version, .most_bytes = most_bytes};
  WriteTop(L, to);
}

}  // namespace mayfly::script
