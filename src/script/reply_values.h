// Converts replies to values of Lua, and values of Lua to replies, by Redis's rules.
// https://redis.io/docs/latest/develop/interact/programmability/lua-api/#data-type-conversion
#pragma once

#include <cstdint>
#include <string_view>

#include "resp/reply_reader.h"
#include "resp/writer.h"
#include "script/lua/lua_api.h"

namespace mayfly::script {

// Pushes the next reply of the reader, which was written for this version of the protocol: null is false in the
// older one and nil in the newer. An error becomes a table with the fields err and ignore_error_stats_update, since
// whoever wrote it has counted it.
// REQUIRES: a complete reply follows.
void PushReply(lua_State* L, resp::ReplyReader& reader, int version);

// Pushes the table that stands for an error: {err = "CODE text"}. Without a leading '-' the whole is its text, and
// the code is ERR; with one, the code comes first, if there is a blank after it.
void PushError(lua_State* L, std::string_view error);
// Raises that table as an error of Lua.
[[noreturn]] void Raise(lua_State* L, std::string_view error);
// Like PushError, for an error that was counted already.
void PushCountedError(lua_State* L, std::string_view error);

// Writes the value on top of the stack and pops it. `version` is the protocol that the script has chosen. Makes no
// strings, so that it does not fail half way for lack of Lua memory, unless tables are nested very deeply. No function of
// the script runs: fields are read as they are, without metatables.
//
// Looks at the time now and then, and at the memory of the output: beyond `most_bytes` it raises an error, since a few
// tables that hold each other many times would fill any memory. Returns whether it is an error that was counted already.
bool WriteValue(lua_State* L, int version, resp::Writer& reply, uint64_t most_bytes = UINT64_MAX);

// Keeps the names of the fields above alive in this state, so that they need no memory.
void KeepFieldNames(lua_State* L);

}  // namespace mayfly::script
