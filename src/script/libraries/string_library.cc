#include "script/libraries/string_library.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <string_view>

#include "base/text/ascii.h"
#include "script/libraries/lua_pattern.h"
#include "script/lua/front.h"
#include "script/lua/lua_heap.h"
#include "script/lua/script_clock.h"

namespace mayfly::script {
namespace {

std::string_view CheckText(lua_State* L, int index) {
  size_t size = 0;
  const char* const data = luaL_checklstring(L, index, &size);
  return {data, size};
}

// Counts a position from the beginning, also a position given from the end; 0: before the beginning.
lua_Integer FromBegin(lua_Integer position, size_t size) noexcept {
  if (position >= 0) return position;
  return std::max<lua_Integer>(position + static_cast<lua_Integer>(size) + 1, 0);
}

// ---- texts of a known size

// Pushes a text made of pieces: `fill` makes the bytes from `begin` to `end`, at `out` + begin.
template <typename Fill>
int PushFilled(lua_State* L, size_t size, Fill fill) {
  constexpr size_t kSmall = 1024;
  constexpr size_t kPiece = size_t{256} << 10;
  if (size <= kSmall) {
    std::array<char, kSmall> small;
    small[0] = '\0';  // an empty text reads this byte
    fill(small.data(), 0, size);
    lua_pushlstring(L, small.data(), size);
    CountBytes(L, size);
    return 1;
  }
  LuaBuffer buffer(L);
  char* const out = buffer.Reserve(size);
  for (size_t begin = 0; begin < size; begin += kPiece) {
    const size_t end = std::min(size, begin + kPiece);
    fill(out, begin, end);
    CountBytes(L, end - begin);
  }
  lua_pushlstring(L, out, size);
  return 1;
}

int Lower(lua_State* L) {
  const char* const text = CheckText(L, 1).data();
  return PushFilled(L, lua_objlen(L, 1), [text](char* out, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) out[i] = mayfly::Lower(text[i]);
  });
}

int Upper(lua_State* L) {
  const char* const text = CheckText(L, 1).data();
  return PushFilled(L, lua_objlen(L, 1), [text](char* out, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) out[i] = mayfly::Upper(text[i]);
  });
}

int Reverse(lua_State* L) {
  const std::string_view text = CheckText(L, 1);
  return PushFilled(L, text.size(), [text](char* out, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) out[i] = text[text.size() - 1 - i];
  });
}

// string.rep(text, n)
int Repeat(lua_State* L) {
  const std::string_view text = CheckText(L, 1);
  const int count = luaL_checkint(L, 2);
  if (count <= 0 || text.empty()) {
    lua_pushliteral(L, "");
    return 1;
  }
  if (text.size() > LuaHeap::kMostBytes / static_cast<size_t>(count)) throw std::bad_alloc();
  return PushFilled(L, text.size() * static_cast<size_t>(count), [text](char* out, size_t begin, size_t end) {
    for (size_t i = begin; i < end;) {
      const size_t phase = i % text.size();
      size_t length = std::min(text.size() - phase, end - i);
      // If the text made so far is longer, copy that: a multiple of `text`, at the beginning.
      if (phase == 0 && i > length) {
        length = std::min(i, end - i);
        std::memcpy(out + i, out, length);
      } else {
        std::memcpy(out + i, text.data() + phase, length);
      }
      i += length;
    }
  });
}

// string.sub(text, from [, to])
int Sub(lua_State* L) {
  const std::string_view text = CheckText(L, 1);
  const lua_Integer from = std::max<lua_Integer>(FromBegin(luaL_checkinteger(L, 2), text.size()), 1);
  const lua_Integer to =
      std::min(FromBegin(luaL_optinteger(L, 3, -1), text.size()), static_cast<lua_Integer>(text.size()));
  if (from > to) {
    lua_pushliteral(L, "");
    return 1;
  }
  const auto size = static_cast<size_t>(to - from + 1);
  lua_pushlstring(L, text.data() + from - 1, size);
  CountBytes(L, size);
  return 1;
}

// format, dump: the size of the result tells the time taken.
int CountResult(lua_State* L) {
  const int results = RunOriginal(L);
  CountBytes(L, lua_objlen(L, -1));
  return results;
}

// ---- patterns

// Returns true if a pattern has bytes with a special meaning before its first zero byte.
bool HasSpecials(const char* pattern) noexcept { return std::strpbrk(pattern, "^$*+?.([%-") != nullptr; }

// Searches in pieces, and looks at the time between pieces. A piece has few enough places: comparing the whole `wanted` at
// each place takes a millisecond at most.
const char* FindPlain(lua_State* L, std::string_view text, std::string_view wanted) {
  constexpr size_t kMostCompared = size_t{4} << 20;
  constexpr size_t kMostPlaces = size_t{64} << 10;
  const size_t places = std::clamp<size_t>(kMostCompared / (wanted.size() + 1), 1, kMostPlaces);
  while (wanted.size() <= text.size()) {
    const size_t found = text.substr(0, places - 1 + wanted.size()).find(wanted);
    if (found != std::string_view::npos) return text.data() + found;
    if (text.size() <= places) break;
    CountBytes(L, kMostPlaces);
    text.remove_prefix(places);
  }
  return nullptr;
}

int FindOrMatch(lua_State* L, bool finds) {
  const std::string_view text = CheckText(L, 1);
  const std::string_view wanted = CheckText(L, 2);
  const lua_Integer from = FromBegin(luaL_optinteger(L, 3, 1), text.size()) - 1;
  const size_t begin = from < 0 ? 0 : std::min(static_cast<size_t>(from), text.size());
  if (finds && (lua_toboolean(L, 4) != 0 || !HasSpecials(wanted.data()))) {
    const char* const found = FindPlain(L, text.substr(begin), wanted);
    if (found == nullptr) {
      lua_pushnil(L);
      return 1;
    }
    const lua_Integer at = found - text.data();
    lua_pushinteger(L, at + 1);
    lua_pushinteger(L, at + static_cast<lua_Integer>(wanted.size()));
    return 2;
  }
  const bool anchored = wanted.starts_with('^');
  const char* const pattern = wanted.data() + (anchored ? 1 : 0);
  PatternMatch match(L, text);
  const char* const text_end = text.data() + text.size();
  for (const char* at = text.data() + begin; at <= text_end; ++at) {
    if (const char* const end = match.MatchAt(at, pattern); end != nullptr) {
      if (!finds) return match.PushCaptures(at, end);
      lua_pushinteger(L, at - text.data() + 1);
      lua_pushinteger(L, end - text.data());
      return match.PushCaptures(nullptr, nullptr) + 2;
    }
    if (anchored) break;
  }
  lua_pushnil(L);
  return 1;
}

int Find(lua_State* L) { return FindOrMatch(L, true); }
int Match(lua_State* L) { return FindOrMatch(L, false); }

// upvalues: text, pattern, where the next match may begin
int NextMatch(lua_State* L) {
  const std::string_view text = TextAt(L, lua_upvalueindex(1));
  const char* const pattern = lua_tostring(L, lua_upvalueindex(2));
  PatternMatch match(L, text);
  const char* const text_end = text.data() + text.size();
  for (const char* at = text.data() + lua_tointeger(L, lua_upvalueindex(3)); at <= text_end; ++at) {
    const char* const end = match.MatchAt(at, pattern);
    if (end == nullptr) continue;
    lua_pushinteger(L, end - text.data() + (end == at ? 1 : 0));
    lua_replace(L, lua_upvalueindex(3));
    return match.PushCaptures(at, end);
  }
  return 0;
}

int GlobalMatch(lua_State* L) {
  for (const int index : {1, 2}) {
    luaL_checkstring(L, index);  // a number becomes a text
  }
  lua_settop(L, 2);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, Guarded<NextMatch>, 3);
  return 1;
}

// ---- gsub

// Adds the text of the replacement, with captures in the places of %1 and its kin.
void AddTemplate(lua_State* L, LuaBuffer& out, PatternMatch& match, const char* begin, const char* end) {
  const std::string_view text = TextAt(L, 3);
  size_t plain = 0;
  for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', plain)) {
    out.Add(text.substr(plain, at - plain));
    const char what = text.data()[at + 1];  // a zero byte at the end
    plain = at + 2;
    if (std::isdigit(static_cast<unsigned char>(what)) == 0) {
      out.Add(what);
    } else if (what == '0') {
      out.Add({begin, static_cast<size_t>(end - begin)});
    } else {
      match.PushCapture(what - '1', begin, end);
      out.Add({lua_tostring(L, -1), lua_objlen(L, -1)});
      lua_pop(L, 1);
    }
    if (plain > text.size()) return;
  }
  out.Add(text.substr(plain));
}

// Adds the replacement of one match.
void AddReplacement(lua_State* L, LuaBuffer& out, PatternMatch& match, const char* begin, const char* end) {
  switch (lua_type(L, 3)) {
    case LUA_TFUNCTION:
      lua_pushvalue(L, 3);
      lua_call(L, match.PushCaptures(begin, end), 1);
      break;
    case LUA_TTABLE:
      match.PushCapture(0, begin, end);
      lua_gettable(L, 3);
      break;
    default:
      return AddTemplate(L, out, match, begin, end);
  }
  if (lua_toboolean(L, -1) == 0) {
    out.Add({begin, static_cast<size_t>(end - begin)});
  } else {
    if (lua_isstring(L, -1) == 0) luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
    size_t size = 0;
    const char* const text = lua_tolstring(L, -1, &size);
    out.Add({text, size});
  }
  lua_pop(L, 1);
}

// string.gsub(text, pattern, replacement [, most])
int GlobalReplace(lua_State* L) {
  const std::string_view text = CheckText(L, 1);
  const char* pattern = luaL_checkstring(L, 2);
  const int type = lua_type(L, 3);
  const int most = luaL_optint(L, 4, static_cast<lua_Integer>(text.size()) + 1);
  luaL_argcheck(L, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE,
                3, "string/function/table expected");
  if (type == LUA_TNUMBER) lua_tostring(L, 3);
  const bool anchored = *pattern == '^';
  if (anchored) ++pattern;
  LuaBuffer out(L);
  PatternMatch match(L, text);
  const char* at = text.data();
  const char* const text_end = at + text.size();
  const char* copied = at;  // `out` has the text up to here
  int count = 0;
  while (count < most) {
    const char* const end = match.MatchAt(at, pattern);
    if (end != nullptr) {
      ++count;
      out.Add({copied, static_cast<size_t>(at - copied)});
      const size_t before = out.view().size();
      AddReplacement(L, out, match, at, end);
      CountBytes(L, out.view().size() - before);
      copied = end;
    }
    if (end != nullptr && end > at) {
      at = end;
    } else if (at < text_end) {
      ++at;
    } else {
      break;
    }
    if (anchored) break;
  }
  out.Add({copied, static_cast<size_t>(text_end - copied)});
  PushText(L, out.view());
  CountBytes(L, out.view().size());
  lua_pushinteger(L, count);
  return 2;
}

}  // namespace

void ReplaceStringFunctions(lua_State* L) {
  SetFunction(L, "lower", Guarded<Lower>);
  SetFunction(L, "upper", Guarded<Upper>);
  SetFunction(L, "reverse", Guarded<Reverse>);
  SetFunction(L, "rep", Guarded<Repeat>);
  SetFunction(L, "sub", Sub);
  SetFunction(L, "find", Guarded<Find>);
  SetFunction(L, "match", Guarded<Match>);
  SetFunction(L, "gmatch", GlobalMatch);
  lua_getfield(L, -1, "gmatch");
  lua_setfield(L, -2, "gfind");  // as in Lua, the same function
  SetFunction(L, "gsub", Guarded<GlobalReplace>);
  Front(L, "format", CountResult);
  Front(L, "dump", CountResult);
}

}  // namespace mayfly::script
