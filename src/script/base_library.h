// Functions of Lua's base libraries in another form for scripts. Why in another form: script/sandbox.h.
#pragma once

#include "script/lua_api.h"

namespace mayfly::script {

// In the globals of a new state, after its libraries were opened.
void ReplaceBaseFunctions(lua_State* L);

}  // namespace mayfly::script
