// Slow functions of Lua's `string` in another form, with a time limit (script/lua/script_clock.h). Numbers that do not fit
// into an int do no harm. Answers and errors are Lua 5.1's.
#pragma once

#include "script/lua/lua_api.h"

namespace mayfly::script {

// The table `string` is on top of the stack.
void ReplaceStringFunctions(lua_State* L);

}  // namespace mayfly::script
