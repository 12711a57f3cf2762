// cmsgpack: converts between Lua's values and MessagePack. https://github.com/msgpack/msgpack/blob/master/spec.md
#pragma once

#include "script/lua/lua_api.h"

namespace mayfly::script {

int PackMessage(lua_State* L);         // cmsgpack.pack(value ...)
int UnpackMessage(lua_State* L);       // cmsgpack.unpack(text): all values
int UnpackMessageOne(lua_State* L);    // cmsgpack.unpack_one(text [, offset]): the next offset, and a value
int UnpackMessageLimit(lua_State* L);  // cmsgpack.unpack_limit(text, count [, offset])

}  // namespace mayfly::script
