// The globals that a script can reach, protected from changes by scripts.
//
// Lua 5.1 has no tables that cannot be written. So a script never gets the table of a library, nor that of the
// globals, but an empty one in front of it: reads pass through to the real table, and writes are refused:
//
//   script --reads--> shield (empty) --__index--> real table (string, table, redis, _G ...)
//          --writes-> shield         --__newindex--> "Attempt to modify a readonly table"
//
// Functions of the base library that see through or past this (rawset, setmetatable, next ...) are replaced by ones
// that know shields, and table.insert, which writes past __newindex. The metatable of strings is shielded as well.
// Gone are files, modules, print, newproxy (its __gc would run in another script), getfenv and setfenv (an environment
// would outlive the script), and whatever changes the collector. `load` and `loadstring` take no binary
// chunks. Functions that may take long, or that do harm with numbers beyond int, are ours: string_library.h, table_library.h.
#pragma once

#include "script/lua/lua_api.h"

namespace mayfly::script {

inline constexpr const char* kReadOnlyError = "Attempt to modify a readonly table";

// Opens Lua's own libraries, as far as scripts may use them, in the globals of a new state.
void OpenLuaLibraries(lua_State* L);
// Sets a shield in front of every library in the globals, and in front of the globals, which scripts get from then
// on. Pushes the real globals.
void ShieldGlobals(lua_State* L);
// Sets a shield in place of the table on top.
void Shield(lua_State* L);
// Reading a field that the table on top lacks is an error from now on.
void RequireFields(lua_State* L);

}  // namespace mayfly::script
