// The globals that a script can reach, protected from changes by scripts.
//
// Lua 5.1 has no read-only tables. Hence a script never gets the table of a library, nor the table of the globals, but an
// empty table in front: reads pass through to the real table, and writes are refused:
//
//   script --reads--> shield (empty) --__index--> real table (string, table, redis, _G ...)
//          --writes-> shield         --__newindex--> "Attempt to modify a readonly table"
//
// Some functions of the base library see through or past a shield (rawset, setmetatable, next ...): Mayfly replaces them by
// functions that know shields, and replaces table.insert, which writes past __newindex. The metatable of strings is shielded
// as well. Scripts have no files, modules, print, newproxy (__gc would run in another script), getfenv and setfenv (an
// environment would outlive the script), nor any function that changes the collector. `load` and `loadstring` take no binary
// chunks. Functions that may take long, or do harm with numbers beyond int, are Mayfly's own: string_library.h,
// table_library.h.
#pragma once

#include "script/lua/lua_api.h"

namespace mayfly::script {

inline constexpr const char* kReadOnlyError = "Attempt to modify a readonly table";

// Opens the libraries of Lua that scripts may use in the globals of a new state.
void OpenLuaLibraries(lua_State* L);
// Sets a shield in front of every library in the globals, and in front of the globals: from now on scripts get the shields.
// Pushes the real globals.
void ShieldGlobals(lua_State* L);
// Sets a shield in place of the table on top.
void Shield(lua_State* L);
// From now on reading a field that the table on top lacks is an error.
void RequireFields(lua_State* L);

}  // namespace mayfly::script
