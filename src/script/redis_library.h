// The table redis, also named server: calls, replies and log lines of scripts.
#pragma once

#include "script/lua/lua_api.h"

namespace mayfly::script {

void OpenRedis(lua_State* L);
// Adds the fields of `redis` for a library of functions during its load: log and versions, no calls. Sets fields of the
// table on top.
void AddLogAndVersion(lua_State* L);

}  // namespace mayfly::script
