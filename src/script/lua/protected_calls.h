// xpcall and coroutines for scripts, without a way for a script to outlive its end.
//
// A script that must end gets an error at its next instruction, and at each later instruction (StateData::must_end). Two
// functions of Lua's own library would let the script go on:
//   - xpcall's handler runs at the place of the error. The hook raises errors with hooks off: nothing would interrupt an
//     endless handler any more. Here an error of the hook skips the handlers of scripts.
//   - Each coroutine has a hook of its own. After the end of a coroutine, the resuming code would go on for another 100,000
//     instructions, and could start other coroutines. Here the resuming code ends at its next instruction, too.
#pragma once

#include "script/lua/lua_api.h"

namespace mayfly::script {

// REQUIRES: Lua's base library is open, and the globals are not shielded yet.
void ReplaceProtectedCalls(lua_State* L);

}  // namespace mayfly::script
