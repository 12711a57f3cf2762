// What functions in C++ find beside the Lua state in which they run: what its allocator points to. Owned by the Interpreter that
// owns the state.
#pragma once

#include <cstddef>
#include <cstdint>

#include "script/lua/lua_api.h"
#include "script/lua/lua_heap.h"

namespace mayfly::script {

struct StateData {
  LuaHeap heap;
  lua_Hook on_count;      // the hook that looks at the time
  uint64_t random_state;  // of math.random
  size_t steps = 0;       // of functions in C++, since script/lua/script_clock.h has last looked at the time
  bool must_end = false;  // what runs has to end: each of its next instructions raises an error

  // Of this state, or of a coroutine's.
  static StateData& Of(lua_State* L) noexcept {
    void* data = nullptr;
    lua_getallocf(L, &data);
    return *static_cast<StateData*>(data);
  }
  // If what runs has to end, `L` raises an error at its next instruction. For the main part or a coroutine that goes on
  // when another one was ended.
  void EndIfDue(lua_State* L) const noexcept {
    if (must_end) lua_sethook(L, on_count, LUA_MASKCOUNT, 1);
  }
};

}  // namespace mayfly::script
