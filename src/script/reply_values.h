// Converts replies to values of Lua, and values of Lua to replies, by Redis's rules.
// https://redis.io/docs/latest/develop/interact/programmability/lua-api/#data-type-conversion
#pragma once

#include <cstdint>
#include <string_view>

#include "resp/reply_reader.h"
#include "resp/writer.h"
#include "script/lua/lua_api.h"
#include "server/figures/error_stats.h"

namespace mayfly::script {

// Pushes the next reply of the reader, a reply in protocol `version`: null is false in RESP2 and nil in RESP3. An error
// becomes a table with the fields err and ignore_error_stats_update, since the writer of the error has already counted the
// error.
// REQUIRES: a complete reply follows.
void PushReply(lua_State* L, resp::ReplyReader& reader, int version);

// Pushes the table of an error: {err = "CODE text"}. Without a leading '-', `error` is all text and the code is ERR. With a
// leading '-' the code comes first, if a blank follows the code.
void PushError(lua_State* L, std::string_view error);
// Raises the table of PushError as an error of Lua.
[[noreturn]] void Raise(lua_State* L, std::string_view error);
// Like PushError, for an error already counted.
void PushCountedError(lua_State* L, std::string_view error);

// The errors in a value that was written.
struct WrittenErrors {
  uint64_t counted = 0;  // those that were counted before
  uint64_t fresh = 0;    // all others
  ErrorStats codes;      // of the others, as far as there was memory
};

// Writes the value on top of the stack and pops the value. `version` is the protocol chosen by the script. WriteValue makes
// no strings: unless tables are nested very deeply, it does not fail half way for lack of Lua memory. No function of the
// script runs: fields are read without metatables.
//
// Looks at the time now and then, and at the memory of the output. An output beyond `most_bytes` raises an error, since a
// few tables that hold each other many times would fill any memory. Adds the value's errors to `errors`.
void WriteValue(lua_State* L, int version, resp::Writer& reply, WrittenErrors& errors,
                uint64_t most_bytes = UINT64_MAX);

// Keeps the names of the fields above alive in this state: later uses of the names need no memory.
void KeepFieldNames(lua_State* L);

}  // namespace mayfly::script
