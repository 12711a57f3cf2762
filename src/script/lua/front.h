// Functions of Mayfly that stand in front of Lua's functions.
#pragma once

#include "script/lua/lua_api.h"

namespace mayfly::script {

// A front runs the function behind it, which is upvalue 1, in its own place: so levels of the stack and the
// function's name in errors are those of the other one.
inline int RunOriginal(lua_State* L) { return lua_tocfunction(L, lua_upvalueindex(1))(L); }

// Puts `function` in front of a field of the table on top.
inline void Front(lua_State* L, const char* name, lua_CFunction function) {
  lua_getfield(L, -1, name);
  lua_pushcclosure(L, function, 1);
  lua_setfield(L, -2, name);
}

}  // namespace mayfly::script
