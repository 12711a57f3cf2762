#include "script/base_library.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "script/sandbox.h"
#include "script/shield.h"

namespace mayfly::script {
namespace {

// A function that stands in front of another, which is upvalue 1, runs that one in its own place: so levels of the
// stack and the function's name in errors are those of the other one.
int RunOriginal(lua_State* L) { return lua_tocfunction(L, lua_upvalueindex(1))(L); }

// Without a place in the script, as an error of the core has none in a function that is not Lua's.
int RefuseWrite(lua_State* L) {
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

int RefuseShield(lua_State* L) { return IsShield(L, 1) ? RefuseWrite(L) : RunOriginal(L); }

int Next(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  if (PushReal(L, 1)) lua_replace(L, 1);
  lua_settop(L, 2);
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

// A shield has no metatable that a script could see, but for that of the globals.
int GetMetatable(lua_State* L) {
  if (!IsShield(L, 1)) return RunOriginal(L);
  if (luaL_getmetafield(L, 1, "__metatable") == 0) lua_pushnil(L);
  return 1;
}

// Other options would outlive the script.
int CollectGarbage(lua_State* L) {
  static constexpr const char* kOptions[] = {"stop", "restart",  "collect",    "count",
                                             "step", "setpause", "setstepmul", nullptr};
  const char* const option = kOptions[luaL_checkoption(L, 1, "collect", kOptions)];
  luaL_optinteger(L, 2, 0);
  for (const char* const allowed : {"collect", "count", "step"}) {
    if (std::strcmp(option, allowed) == 0) return RunOriginal(L);
  }
  lua_pushnumber(L, 0);
  return 1;
}

// As Redis's: an error that is a table with the field err is given as that field's text.
int ProtectedCall(lua_State* L) {
  luaL_checkany(L, 1);
  const int arguments = lua_gettop(L) - 1;
  lua_pushboolean(L, 1);
  lua_insert(L, 1);
  if (lua_pcall(L, arguments, LUA_MULTRET, 0) == 0) return lua_gettop(L);
  if (lua_istable(L, -1)) {
    lua_getfield(L, -1, "err");
    if (lua_isstring(L, -1) != 0)
      lua_replace(L, -2);
    else
      lua_pop(L, 1);
  }
  lua_pushboolean(L, 0);
  lua_insert(L, -2);
  return 2;
}

// ---- compiling

// Gives the parser a blank first, so that it takes nothing for a binary chunk.
struct TextSource {
  std::string_view text;
  bool begun = false;
};

const char* ReadText(lua_State*, void* data, size_t* size) {
  auto& source = *static_cast<TextSource*>(data);
  const std::string_view piece = source.begun ? source.text : " ";
  if (source.begun) source.text = {};
  source.begun = true;
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
  return lua_tolstring(L, 3, size);
}

int Load(lua_State* L) {
  const char* const name = luaL_optstring(L, 2, "=(load)");
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 3);
  bool begun = false;
  return Compiled(L, lua_load(L, ReadPieces, &begun, name));
}

// ---- string and table

// Matching calls itself at most once for each byte of the pattern, and that stack is the server's.
void CheckPattern(lua_State* L) {
  constexpr size_t kMostPattern = 8192;
  size_t size = 0;
  const char* const pattern = luaL_checklstring(L, 2, &size);
  if (size > kMostPattern &&
      std::string_view(pattern, size).find_first_of("^$*+?.([%-") != std::string_view::npos)
    luaL_error(L, "pattern too complex");
}

int MatchPattern(lua_State* L) {
  CheckPattern(L);
  return RunOriginal(L);
}

// string.find(text, pattern [, from [, plain]])
int Find(lua_State* L) {
  if (lua_toboolean(L, 4) == 0) CheckPattern(L);
  return RunOriginal(L);
}

// Puts `function` in front of a field of the table on top.
void Front(lua_State* L, const char* name, lua_CFunction function) {
  lua_getfield(L, -1, name);
  lua_pushcclosure(L, function, 1);
  lua_setfield(L, -2, name);
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
  lua_getfield(L, -1, LUA_STRLIBNAME);
  Front(L, "find", Find);
  for (const char* name : {"match", "gmatch", "gfind", "gsub"}) Front(L, name, MatchPattern);
  lua_pop(L, 1);
  lua_getfield(L, -1, LUA_TABLIBNAME);
  Front(L, "insert", RefuseShield);  // it writes past __newindex
  Front(L, "foreach", SeeThrough);
  lua_pop(L, 2);
}

}  // namespace mayfly::script
