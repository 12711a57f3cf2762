// Recognises the protected tables of script/libraries/sandbox.h.
#pragma once

#include "script/lua/lua_api.h"

namespace mayfly::script {

// The key of the real table in the metatable of a shield.
inline void* ShieldMark() noexcept {
  static constexpr char kMark = 0;
  return const_cast<char*>(&kMark);
}

// Pushes the real table of the shield at `index`. Returns false, and pushes nothing, if the value is no shield.
inline bool PushReal(lua_State* L, int index) {
  if (lua_getmetatable(L, index) == 0) return false;
  if (lua_istable(L, index)) {
    lua_pushlightuserdata(L, ShieldMark());
    lua_rawget(L, -2);
    if (lua_istable(L, -1)) {
      lua_remove(L, -2);
      return true;
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return false;
}

}  // namespace mayfly::script
