// Functions of Lua's libraries in another form for scripts. script/libraries/sandbox.h says why.
#pragma once

#include "script/lua/lua_api.h"

namespace mayfly::script {

// In the globals of a new state, after its libraries were opened.
void ReplaceBaseFunctions(lua_State* L);

}  // namespace mayfly::script
