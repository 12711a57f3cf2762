#include "script/libraries/sandbox.h"

#include <cstring>

#include "script/libraries/base_library.h"
#include "script/lua/shield.h"

namespace mayfly::script {
namespace {

int RefuseWrite(lua_State* L) { return luaL_error(L, kReadOnlyError); }

int RefuseRead(lua_State* L) {
  if (lua_isstring(L, 2) == 0)
    return luaL_error(L, "Second argument to luaProtectedTableError must be a string or number");
  return luaL_error(L, "Script attempted to access nonexistent global variable '%s'", lua_tostring(L, 2));
}

void Open(lua_State* L, const char* name, lua_CFunction open) {
  lua_pushcfunction(L, open);
  lua_pushstring(L, name);
  lua_call(L, 1, 0);
}

// Opens os with os.clock alone.
void OpenClock(lua_State* L) {
  Open(L, LUA_OSLIBNAME, luaopen_os);
  lua_getglobal(L, LUA_OSLIBNAME);
  lua_getfield(L, -1, "clock");
  lua_createtable(L, 0, 1);
  lua_insert(L, -2);
  lua_setfield(L, -2, "clock");
  lua_setglobal(L, LUA_OSLIBNAME);
  lua_pop(L, 1);
}

void ShieldStrings(lua_State* L) {
  lua_pushliteral(L, "");
  lua_getmetatable(L, -1);
  lua_createtable(L, 0, 1);  // the answer of getmetatable("")
  lua_getglobal(L, LUA_STRLIBNAME);
  lua_setfield(L, -2, "__index");
  Shield(L);
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 2);
}

}  // namespace

void Shield(lua_State* L) {
  lua_newtable(L);           // real, shield
  lua_createtable(L, 0, 3);  // real, shield, its metatable
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "__index");
  SetFunction(L, "__newindex", RefuseWrite);
  lua_pushlightuserdata(L, ShieldMark());
  lua_pushvalue(L, -4);
  lua_rawset(L, -3);
  lua_setmetatable(L, -2);
  lua_remove(L, -2);
}

void RequireFields(lua_State* L) {
  lua_createtable(L, 0, 1);
  SetFunction(L, "__index", RefuseRead);
  lua_setmetatable(L, -2);
}

void OpenLuaLibraries(lua_State* L) {
  Open(L, "", luaopen_base);
  Open(L, LUA_TABLIBNAME, luaopen_table);
  Open(L, LUA_STRLIBNAME, luaopen_string);
  Open(L, LUA_MATHLIBNAME, luaopen_math);
  OpenClock(L);
  ReplaceBaseFunctions(L);
}

void ShieldGlobals(lua_State* L) {
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  for (lua_pushnil(L); lua_next(L, -2) != 0;) {  // a field may be replaced meanwhile
    const bool is_library = lua_istable(L, -1) && lua_rawequal(L, -1, -3) == 0;
    if (!is_library) {
      lua_pop(L, 1);
      continue;
    }
    Shield(L);
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
  }
  ShieldStrings(L);
  RequireFields(L);
  lua_pushvalue(L, -1);
  Shield(L);                 // real, shield
  lua_createtable(L, 0, 1);  // the answer of getmetatable(_G)
  SetFunction(L, "__index", RefuseRead);
  Shield(L);
  lua_getmetatable(L, -2);  // real, shield, shown, metatable of the shield
  lua_insert(L, -2);
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 1);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "_G");
  lua_replace(L, LUA_GLOBALSINDEX);
}

}  // namespace mayfly::script
