// The time limit of a script, for functions in C++ that may take long.
//
// The hook of a state looks at the time between instructions of Lua, and never during a function in C++. Such a function
// counts its steps here; now and then a count looks at the time as the hook does. A look may suspend the script, or raise an
// error of Lua: destructors must free all that the function owns, and all data that the function reads must lie on the stack
// of Lua. Not to be called while an exception is handled.
//
// A step takes about as long as an instruction of Lua, some nanoseconds. A state without a hook has no limit.
#pragma once

#include <cstddef>

#include "script/lua/lua_api.h"

namespace mayfly::script {

// Looks at the time now.
void LookAtClock(lua_State* L);
// Looks at the time if the steps since the last look are worth a look.
void CountSteps(lua_State* L, size_t steps);

// Counts copied, compared or changed bytes. A few bytes do not count: the call itself is an instruction.
inline void CountBytes(lua_State* L, size_t bytes) {
  constexpr size_t kFew = 256;
  constexpr size_t kBytesPerStep = 8;
  if (bytes >= kFew) CountSteps(L, bytes / kBytesPerStep);
}

// Counts the steps of a loop, many at a time.
class StepBatch {
 public:
  explicit StepBatch(lua_State* L) noexcept : L_(L) {}
  void Add(size_t steps) {
    steps_ += steps;
    if (steps_ >= kMany) Flush();
  }

 private:
  static constexpr size_t kMany = 256;
  void Flush() {
    const size_t counted = steps_;
    steps_ = 0;
    CountSteps(L_, counted);
  }

  lua_State* L_;
  size_t steps_ = 0;
};

}  // namespace mayfly::script
