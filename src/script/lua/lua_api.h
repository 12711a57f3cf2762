// Lua's own interface, and the common parts of all functions written for Lua here.
//
// Lua 5.1 is the distribution's C++ build: an error of Lua is a C++ exception, so destructors run when it passes.
// The other way round a C++ exception must not pass Lua, which would take it for an error without a value: every
// function that is given to Lua goes through Guarded.
#pragma once

#include <cstddef>
#include <new>
#include <string_view>

#include <lua.hpp>

namespace mayfly::script {

// kBody as a function for Lua: if memory runs out in it, that is an error of Lua.
template <lua_CFunction kBody>
int Guarded(lua_State* L) {
  try {
    return kBody(L);
  } catch (const std::bad_alloc&) {
  }
  lua_pushliteral(L, "not enough memory");
  return lua_error(L);
}

inline void PushText(lua_State* L, std::string_view text) { lua_pushlstring(L, text.data(), text.size()); }

// To be called before `name` is given to the parser as the name of a chunk, which it does not keep alive itself while
// it reads (CVE-2025-49844): keeps the same string of Lua on the stack.
inline void KeepChunkName(lua_State* L, const char* name) {
  luaL_checkstack(L, 1, "too many nested functions");
  lua_pushstring(L, name);
}

// The text at `index`, which is a string and stays one: numbers are not converted.
// REQUIRES: lua_type(L, index) is LUA_TSTRING.
inline std::string_view TextAt(lua_State* L, int index) {
  size_t size = 0;
  const char* const data = lua_tolstring(L, index, &size);
  return {data, size};
}

// To be called in turn for each element, by loops that make values of Lua from what may be long: now and then the hook looks
// whether the script has been running for too long, as it does between instructions of Lua. It may suspend the script, or
// raise an error. Many strings that collide in Lua's table of strings make such a loop slow.
inline void LookAtTime(lua_State* L, size_t element) {
  constexpr size_t kElementsPerLook = 64;
  if (element % kElementsPerLook != 0) return;
  if (const lua_Hook hook = lua_gethook(L); hook != nullptr) hook(L, nullptr);
}

// Sets fields of the table on top of the stack.
inline void SetFunction(lua_State* L, const char* name, lua_CFunction function) {
  lua_pushcfunction(L, function);
  lua_setfield(L, -2, name);
}
inline void SetText(lua_State* L, const char* name, std::string_view text) {
  PushText(L, text);
  lua_setfield(L, -2, name);
}
inline void SetNumber(lua_State* L, const char* name, lua_Number number) {
  lua_pushnumber(L, number);
  lua_setfield(L, -2, name);
}

}  // namespace mayfly::script
