// The data of functions in C++ beside the Lua state of their script: the context of the state's allocator. Owned by the
// Interpreter that owns the state.
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
  size_t steps = 0;       // of functions in C++, since the last look at the time (script/lua/script_clock.h)
  bool must_end = false;  // the run must end: each next instruction raises an error

  // The data of this state, or of a coroutine's main state.
  static StateData& Of(lua_State* L) noexcept {
    void* data = nullptr;
    lua_getallocf(L, &data);
    return *static_cast<StateData*>(data);
  }
  // If the run must end, makes `L` raise an error at its next instruction. For the main part or a coroutine that goes on
  // after another coroutine was ended.
  void EndIfDue(lua_State* L) const noexcept {
    if (must_end) lua_sethook(L, on_count, LUA_MASKCOUNT, 1);
  }
};

}  // namespace mayfly::script
