// The table redis, also named server: calls, replies and log lines of scripts.
#pragma once

#include "script/lua/lua_api.h"

namespace mayfly::script {

void OpenRedis(lua_State* L);
// What a library of functions finds as `redis` while it is loaded, without what makes calls. Sets fields of the
// table on top.
void AddLogAndVersion(lua_State* L);

}  // namespace mayfly::script
