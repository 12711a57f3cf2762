#include "script/lua/script_clock.h"

#include "script/lua/state_data.h"

namespace mayfly::script {

void LookAtClock(lua_State* L) {
  if (const lua_Hook hook = lua_gethook(L); hook != nullptr) hook(L, nullptr);
}

void CountSteps(lua_State* L, size_t steps) {
  constexpr size_t kStepsPerLook = 50'000;
  if (lua_gethook(L) == nullptr) return;
  size_t& counted = StateData::Of(L).steps;
  counted += steps;
  if (counted < kStepsPerLook) return;
  counted = 0;
  LookAtClock(L);
}

}  // namespace mayfly::script
