// Functions of Mayfly that stand in front of Lua's functions.
#pragma once

#include "script/lua/lua_api.h"

namespace mayfly::script {

// A front runs the original function (upvalue 1) in the front's own place: levels of the stack and the function's name in
// errors are those of the original.
inline int RunOriginal(lua_State* L) { return lua_tocfunction(L, lua_upvalueindex(1))(L); }

// Puts `function` in front of a field of the table on top.
inline void Front(lua_State* L, const char* name, lua_CFunction function) {
  lua_getfield(L, -1, name);
  lua_pushcclosure(L, function, 1);
  lua_setfield(L, -2, name);
}

}  // namespace mayfly::script
