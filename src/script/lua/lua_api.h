// Lua's own interface, and the common parts of all functions written for Lua here.
//
// Lua 5.1 is the distribution's C++ build: an error of Lua is a C++ exception, so destructors run when an error passes. The
// other way round a C++ exception must not pass Lua: Lua would take the exception for an error without a value. Hence every
// function given to Lua goes through Guarded.
#pragma once

#include <cstddef>
#include <new>
#include <string_view>

#include <lua.hpp>

namespace mayfly::script {

// kBody as a function for Lua: lack of memory in kBody becomes an error of Lua.
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

// Keeps the text of `name` alive, as a string of Lua on the stack. Call KeepChunkName before the parser gets `name` as the
// name of a chunk: the parser does not keep its string alive while reading (CVE-2025-49844).
inline void KeepChunkName(lua_State* L, const char* name) {
  luaL_checkstack(L, 1, "too many nested functions");
  lua_pushstring(L, name);
}

// The text at `index`. The value must be a string: numbers are not converted.
// REQUIRES: lua_type(L, index) is LUA_TSTRING.
inline std::string_view TextAt(lua_State* L, int index) {
  size_t size = 0;
  const char* const data = lua_tolstring(L, index, &size);
  return {data, size};
}

// For loops that make values of Lua from possibly long data: call LookAtTime for each element in turn. Now and then the hook
// checks whether the script has been running for too long, as between instructions of Lua. The hook may suspend the script,
// or raise an error. Many strings that collide in Lua's table of strings make such a loop slow.
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
