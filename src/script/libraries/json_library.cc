// The table of cjson and its options.
#include <climits>

#include "script/libraries/json.h"
#include "script/libraries/libraries.h"

namespace mayfly::script {
namespace json {
namespace {

constexpr int kMostDigits = 14;

// Fills missing arguments with nil.
void TakeArguments(lua_State* L, int count) {
  luaL_argcheck(L, lua_gettop(L) <= count, count + 1, "found too many arguments");
  lua_settop(L, count);
}

// Sets `value` if the argument is given, and pushes the resulting value.
void IntegerOption(lua_State* L, int argument, int& value, int least, int most) {
  if (!lua_isnil(L, argument)) {
    const lua_Integer wanted = luaL_checkinteger(L, argument);
    const char* const problem = lua_pushfstring(L, "expected integer between %d and %d", least, most);
    luaL_argcheck(L, least <= wanted && wanted <= most, 1, problem);
    lua_pop(L, 1);
    value = static_cast<int>(wanted);
  }
  lua_pushinteger(L, value);
}

// `words` end with a null pointer. The first two words may also be given as false and true, and are answered as false and
// true.
void WordOption(lua_State* L, int argument, int& value, const char* const* words) {
  if (!lua_isnil(L, argument)) {
    value = lua_isboolean(L, argument) ? lua_toboolean(L, argument)
                                       : luaL_checkoption(L, argument, nullptr, words);
  }
  value <= 1 ? lua_pushboolean(L, value) : lua_pushstring(L, words[value]);
}

constexpr const char* kOffOn[] = {"off", "on", nullptr};
constexpr const char* kOffOnNull[] = {"off", "on", "null", nullptr};

template <int Settings::* kOption, int kMost>
int SetInteger(lua_State* L) {
  TakeArguments(L, 1);
  IntegerOption(L, 1, SettingsOf(L).*kOption, 1, kMost);
  return 1;
}

template <int Settings::* kOption>
int SetSwitch(lua_State* L) {
  TakeArguments(L, 1);
  WordOption(L, 1, SettingsOf(L).*kOption, kOffOn);
  return 1;
}

int SetEncodeInvalid(lua_State* L) {
  TakeArguments(L, 1);
  WordOption(L, 1, SettingsOf(L).encode_invalid, kOffOnNull);
  return 1;
}

int SetSparse(lua_State* L) {
  TakeArguments(L, 3);
  Settings& settings = SettingsOf(L);
  WordOption(L, 1, settings.sparse_convert, kOffOn);
  IntegerOption(L, 2, settings.sparse_ratio, 0, INT_MAX);
  IntegerOption(L, 3, settings.sparse_safe, 0, INT_MAX);
  return 3;
}

int New(lua_State* L) {
  OpenJson(L);
  return 1;
}

struct Entry {
  const char* name;
  lua_CFunction function;
};
constexpr Entry kFunctions[] = {
    {"encode", Guarded<Encode>},
    {"decode", Guarded<Decode>},
    {"encode_sparse_array", SetSparse},
    {"encode_max_depth", SetInteger<&Settings::encode_max_depth, INT_MAX>},
    {"decode_max_depth", SetInteger<&Settings::decode_max_depth, INT_MAX>},
    {"encode_number_precision", SetInteger<&Settings::number_precision, kMostDigits>},
    {"encode_keep_buffer", SetSwitch<&Settings::keep_buffer>},
    {"encode_invalid_numbers", SetEncodeInvalid},
    {"decode_invalid_numbers", SetSwitch<&Settings::decode_invalid>},
    {"new", New},
};

}  // namespace
}  // namespace json

void OpenJson(lua_State* L) {
  lua_newtable(L);
  new (lua_newuserdata(L, sizeof(json::Settings))) json::Settings();
  for (const json::Entry& entry : json::kFunctions) {
    lua_pushvalue(L, -1);
    lua_pushcclosure(L, entry.function, 1);
    lua_setfield(L, -3, entry.name);
  }
  lua_pop(L, 1);
  lua_pushlightuserdata(L, nullptr);
  lua_setfield(L, -2, "null");
  SetText(L, "_NAME", "cjson");
  SetText(L, "_VERSION", "2.1.0");
}

}  // namespace mayfly::script
