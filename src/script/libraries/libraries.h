// The libraries for scripts beside Lua's own, as in Redis. Each Open function pushes the library's table.
//
// cjson is Mayfly's, not the distribution's lua-cjson: lua-cjson takes its memory past the bound of the Lua state, and ends
// the process if no memory is left.
#pragma once

#include "script/lua/lua_api.h"

namespace mayfly::script {

void OpenBit(lua_State* L);        // bit: bits of 32-bit integers, as lua-bitop
void OpenStruct(lua_State* L);     // struct: binary records, as Roberto Ierusalimschy's struct 0.2
void OpenMsgpack(lua_State* L);    // cmsgpack: MessagePack, as lua-cmsgpack 0.4.0
void OpenJson(lua_State* L);       // cjson: JSON, as lua-cjson 2.1.0
void ReplaceRandom(lua_State* L);  // math.random and randomseed with Redis's numbers; the table is on top

}  // namespace mayfly::script
