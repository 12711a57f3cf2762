// xpcall and coroutines for scripts, without a way for a script to outlive its end.
//
// A script that has to end gets an error at its next instruction, and at each one after that (StateData::must_end). Two
// places of Lua's own library would let it go on:
//   - xpcall's handler runs where the error was raised. An error that the hook raises is raised with hooks off, so a
//     handler that loops would never be seen again. Here such an error goes past the handlers of scripts.
//   - Each coroutine has a hook of its own. When a coroutine was ended, the one that resumed it would go on for another
//     100,000 instructions, in which it could start others. Here it ends at its next instruction, too.
#pragma once

#include "script/lua/lua_api.h"

namespace mayfly::script {

// REQUIRES: Lua's base library is open, and the globals are not shielded yet.
void ReplaceProtectedCalls(lua_State* L);

}  // namespace mayfly::script
