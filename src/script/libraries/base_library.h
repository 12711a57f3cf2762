// Functions of Lua's base library in another form for scripts. script/libraries/sandbox.h has the reasons.
#pragma once

#include "script/lua/lua_api.h"

namespace mayfly::script {

// Changes the globals of a new state, after the libraries were opened.
void ReplaceBaseFunctions(lua_State* L);

}  // namespace mayfly::script
