#include "script/libraries/base_library.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "script/libraries/sandbox.h"
#include "script/libraries/string_library.h"
#include "script/libraries/table_library.h"
#include "script/lua/front.h"
#include "script/lua/script_clock.h"
#include "script/lua/shield.h"

namespace mayfly::script {
namespace {

// The error names no place in the script, like an error of Lua's core in a function in C.
int RefuseWriteWithoutPlace(lua_State* L) {
  lua_pushstring(L, kReadOnlyError);
  return lua_error(L);
}

bool IsShield(lua_State* L, int index) {
  if (!PushReal(L, index)) return false;
  lua_pop(L, 1);
  return true;
}

int SeeThrough(lua_State* L) {
  if (PushReal(L, 1)) lua_replace(L, 1);
  return RunOriginal(L);
}

int RefuseShield(lua_State* L) { return IsShield(L, 1) ? RefuseWriteWithoutPlace(L) : RunOriginal(L); }

int Next(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  if (PushReal(L, 1)) lua_replace(L, 1);
  lua_settop(L, 2);
  LookAtClock(L);  // removed elements leave places, and passing over a million of them takes a millisecond
  if (lua_next(L, 1) != 0) return 2;
  lua_pushnil(L);
  return 1;
}

// upvalue 1: next
int Pairs(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  return 3;
}

// Scripts see no metatable of a shield, except for the globals.
int GetMetatable(lua_State* L) {
  if (!IsShield(L, 1)) return RunOriginal(L);
  if (luaL_getmetafield(L, 1, "__metatable") == 0) lua_pushnil(L);
  return 1;
}

// Other options of the collector would outlive the script.
int CollectGarbage(lua_State* L) {
  static constexpr const char* kOptions[] = {"stop", "restart",  "collect",    "count",
                                             "step", "setpause", "setstepmul", nullptr};
  const char* const option = kOptions[luaL_checkoption(L, 1, "collect", kOptions)];
  luaL_optinteger(L, 2, 0);
  for (const char* const allowed : {"collect", "count", "step"}) {
    if (std::strcmp(option, allowed) != 0) continue;
    LookAtClock(L);
    return RunOriginal(L);
  }
  lua_pushnumber(L, 0);
  return 1;
}

// Converting a text of many digits takes long.
int ToNumber(lua_State* L) {
  if (lua_type(L, 1) == LUA_TSTRING) CountBytes(L, lua_objlen(L, 1));
  return RunOriginal(L);
}

// Works like Redis's pcall: an error in the form of a table with the field err is returned as the text of the field. If the
// field is no text, the table is returned, and the field as a third value.
int ProtectedCall(lua_State* L) {
  luaL_checkany(L, 1);
  const int arguments = lua_gettop(L) - 1;
  lua_pushboolean(L, 1);
  lua_insert(L, 1);
  if (lua_pcall(L, arguments, LUA_MULTRET, 0) == 0) return lua_gettop(L);
  if (lua_istable(L, -1)) {
    lua_getfield(L, -1, "err");
    if (lua_isstring(L, -1) != 0) lua_replace(L, -2);
  }
  lua_pushboolean(L, 0);
  lua_replace(L, 1);
  return lua_gettop(L);
}

// ---- compiling

constexpr size_t kBytesOfParsing = 16;  // the parser reads a byte in the time of copying 16 bytes

// Gives the parser a blank first, since a text after a blank is never a binary chunk, and then a piece at a time.
struct TextSource {
  std::string_view text;
  bool begun = false;
};

const char* ReadText(lua_State* L, void* data, size_t* size) {
  constexpr size_t kPiece = size_t{64} << 10;
  auto& source = *static_cast<TextSource*>(data);
  std::string_view piece = " ";
  if (std::exchange(source.begun, true)) {
    piece = source.text.substr(0, kPiece);
    source.text.remove_prefix(piece.size());
    CountBytes(L, kBytesOfParsing * piece.size());
  }
  *size = piece.size();
  return piece.empty() ? nullptr : piece.data();
}

int Compiled(lua_State* L, int status) {
  if (status == 0) return 1;
  lua_pushnil(L);
  lua_insert(L, -2);
  return 2;
}

int LoadString(lua_State* L) {
  size_t size = 0;
  const char* const text = luaL_checklstring(L, 1, &size);
  const char* const name = luaL_optstring(L, 2, text);
  KeepChunkName(L, name);
  TextSource source{{text, size}};
  return Compiled(L, lua_load(L, ReadText, &source, name));
}

// Calls the function at index 1 for each piece; index 3 keeps the piece alive.
const char* ReadPieces(lua_State* L, void* begun, size_t* size) {
  if (!std::exchange(*static_cast<bool*>(begun), true)) {
    *size = 1;
    return " ";
  }
  luaL_checkstack(L, 2, "too many nested functions");
  lua_pushvalue(L, 1);
  lua_call(L, 0, 1);
  if (lua_isnil(L, -1)) {
    *size = 0;
    return nullptr;
  }
  if (lua_isstring(L, -1) == 0) luaL_error(L, "reader function must return a string");
  lua_replace(L, 3);
  const char* const piece = lua_tolstring(L, 3, size);
  CountBytes(L, kBytesOfParsing * *size);
  return piece;
}

int Load(lua_State* L) {
  const char* const name = luaL_optstring(L, 2, "=(load)");
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 3);
  KeepChunkName(L, name);
  bool begun = false;
  return Compiled(L, lua_load(L, ReadPieces, &begun, name));
}

void Remove(lua_State* L, const char* name) {
  lua_pushnil(L);
  lua_setfield(L, -2, name);
}

}  // namespace

void ReplaceBaseFunctions(lua_State* L) {
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  for (const char* name : {"dofile", "loadfile", "print", "newproxy", "getfenv", "setfenv"}) Remove(L, name);
  Front(L, "rawget", SeeThrough);
  Front(L, "rawset", RefuseShield);
  Front(L, "setmetatable", RefuseShield);
  Front(L, "getmetatable", GetMetatable);
  Front(L, "collectgarbage", CollectGarbage);
  SetFunction(L, "pcall", ProtectedCall);
  SetFunction(L, "loadstring", LoadString);
  SetFunction(L, "load", Load);
  SetFunction(L, "next", Next);
  lua_getfield(L, -1, "next");
  lua_pushcclosure(L, Pairs, 1);
  lua_setfield(L, -2, "pairs");
  SetFunction(L, "unpack", Unpack);
  Front(L, "tonumber", ToNumber);
  lua_getfield(L, -1, LUA_STRLIBNAME);
  ReplaceStringFunctions(L);
  lua_pop(L, 1);
  lua_getfield(L, -1, LUA_TABLIBNAME);
  ReplaceTableFunctions(L);
  lua_pop(L, 2);
}

}  // namespace mayfly::script
