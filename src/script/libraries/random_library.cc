// math.random and math.randomseed: Redis's generator, the same on every machine.
#include <cmath>
#include <cstdint>

#include "script/libraries/libraries.h"
#include "script/lua/state_data.h"

namespace mayfly::script {
namespace {

// The generator of drand48: https://pubs.opengroup.org/onlinepubs/9699919799/functions/drand48.html
constexpr uint64_t kMultiplier = 0x5DEECE66D;
constexpr uint64_t kIncrement = 0xB;
constexpr uint64_t kStateMask = (uint64_t{1} << 48) - 1;
constexpr int kUnusedBits = 17;
constexpr int kSeedShift = 16;
constexpr uint64_t kBelowSeed = 0x330E;

// Returns a number from 0 to below 1.
lua_Number Draw(uint64_t& state) noexcept {
  state = (state * kMultiplier + kIncrement) & kStateMask;
  return static_cast<lua_Number>((state >> kUnusedBits) % INT32_MAX) / static_cast<lua_Number>(INT32_MAX);
}

int Random(lua_State* L) {
  const lua_Number drawn = Draw(StateData::Of(L).random_state);
  switch (lua_gettop(L)) {
    case 0:
      lua_pushnumber(L, drawn);
      return 1;
    case 1: {
      const int most = luaL_checkint(L, 1);
      luaL_argcheck(L, 1 <= most, 1, "interval is empty");
      lua_pushnumber(L, std::floor(drawn * most) + 1);
      return 1;
    }
    case 2: {
      const lua_Number least = luaL_checkint(L, 1);
      const lua_Number most = luaL_checkint(L, 2);
      luaL_argcheck(L, least <= most, 2, "interval is empty");
      lua_pushnumber(L, std::floor(drawn * (most - least + 1)) + least);
      return 1;
    }
    default:
      return luaL_error(L, "wrong number of arguments");
  }
}

int Seed(lua_State* L) {
  const auto seed = static_cast<uint32_t>(luaL_checkint(L, 1));
  StateData::Of(L).random_state = uint64_t{seed} << kSeedShift | kBelowSeed;
  return 0;
}

}  // namespace

void ReplaceRandom(lua_State* L) {
  SetFunction(L, "random", Random);
  SetFunction(L, "randomseed", Seed);
}

}  // namespace mayfly::script
