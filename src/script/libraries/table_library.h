// Slow functions of Lua's `table`, and unpack, in another form, with a time limit (script/lua/script_clock.h). Numbers that
// do not fit into an int do no harm. Answers and errors are Lua 5.1's, and sort compares the same pairs as Lua 5.1.
#pragma once

#include "script/lua/lua_api.h"

namespace mayfly::script {

// The table `table` is on top of the stack.
void ReplaceTableFunctions(lua_State* L);
// unpack(list [, from [, to]])
int Unpack(lua_State* L);

}  // namespace mayfly::script
