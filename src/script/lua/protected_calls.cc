#include "script/lua/protected_calls.h"

#include "script/lua/front.h"
#include "script/lua/state_data.h"

namespace mayfly::script {
namespace {

// A front of the handler of a script (upvalue 1). The error is at index 1.
int HandleError(lua_State* L) {
  if (StateData::Of(L).must_end) return 1;
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

// xpcall(function, handler)
int CallWithHandler(lua_State* L) {
  luaL_checkany(L, 2);
  lua_settop(L, 2);
  if (lua_isfunction(L, 2)) lua_pushcclosure(L, HandleError, 1);  // Lua itself reports any other value
  lua_insert(L, 1);
  const bool succeeded = lua_pcall(L, 0, LUA_MULTRET, 1) == 0;
  lua_pushboolean(L, succeeded ? 1 : 0);
  lua_replace(L, 1);
  return lua_gettop(L);
}

// The destructor, also after an error: if the script must end, the coroutine (or the script's main part) that has resumed
// another coroutine must end, too.
class Resumer {
 public:
  explicit Resumer(lua_State* L) noexcept : L_(L) {}
  Resumer(const Resumer&) = delete;
  Resumer& operator=(const Resumer&) = delete;
  ~Resumer() { StateData::Of(L_).EndIfDue(L_); }

 private:
  lua_State* L_;
};

// A front of coroutine.resume (upvalue 1). Runs the original in its own place.
int Resume(lua_State* L) {
  const Resumer resumer(L);
  return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

// A function made by coroutine.wrap: upvalue 1 is the coroutine, as in the original function; upvalue 2 is the original.
int ResumeWrapped(lua_State* L) {
  const Resumer resumer(L);
  return lua_tocfunction(L, lua_upvalueindex(2))(L);
}

// A front of coroutine.wrap (upvalue 1).
int Wrap(lua_State* L) {
  lua_tocfunction(L, lua_upvalueindex(1))(L);
  const lua_CFunction original = lua_tocfunction(L, -1);
  lua_getupvalue(L, -1, 1);
  lua_pushcfunction(L, original);
  lua_pushcclosure(L, ResumeWrapped, 2);
  return 1;
}

}  // namespace

void ReplaceProtectedCalls(lua_State* L) {
  lua_pushcfunction(L, CallWithHandler);
  lua_setglobal(L, "xpcall");
  lua_getglobal(L, LUA_COLIBNAME);
  Front(L, "resume", Resume);
  Front(L, "wrap", Wrap);
  lua_pop(L, 1);
}

}  // namespace mayfly::script
