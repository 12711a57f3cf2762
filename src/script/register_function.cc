#include "script/register_function.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text/ascii.h"
#include "script/interpreter.h"
#include "script/library_store.h"
#include "script/redis_library.h"
#include "script/reply_values.h"
#include "script/shebang.h"

namespace mayfly::script {
namespace {

// The text of the string or number at `index`.
std::string TextOrRaise(lua_State* L, int index, std::string_view error) {
  if (lua_isstring(L, index) == 0) Raise(L, error);
  lua_pushvalue(L, index);
  size_t size = 0;
  const char* const text = lua_tolstring(L, -1, &size);
  std::string copy(text, size);
  lua_pop(L, 1);
  return copy;
}

// Reads the flags in the array on top.
uint32_t ReadFlags(lua_State* L) {
  constexpr std::string_view kUnknown = "unknown flag given";
  uint32_t flags = 0;
  for (int i = 1;; ++i) {
    lua_rawgeti(L, -1, i);
    if (lua_isnil(L, -1)) break;
    LookAtTime(L, static_cast<size_t>(i));
    const std::string word = TextOrRaise(L, -1, kUnknown);
    uint32_t flag = 0;
    for (const FlagName& known : FlagNames()) {
      if (SameIgnoringCase(known.name, word)) flag = known.flag;
    }
    if (flag == 0) Raise(L, kUnknown);
    flags |= flag;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return flags;
}

// {function_name = , callback = , flags = , description = }: leaves the callback on top.
Function ReadNamed(lua_State* L) {
  if (!lua_istable(L, 1))
    Raise(L,
          "calling redis.register_function with a single argument is only applicable to Lua table "
          "(representing named arguments).");
  constexpr int kCallback = 2;
  lua_pushnil(L);
  Function function;
  bool has_name = false;
  for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1)) {
    const std::string key =
        TextOrRaise(L, -2, "named argument key given to redis.register_function is not a string");
    if (EqualsIgnoringCase(key, "FUNCTION_NAME")) {
      function.name =
          TextOrRaise(L, -1, "function_name argument given to redis.register_function must be a string");
      has_name = true;
    } else if (EqualsIgnoringCase(key, "DESCRIPTION")) {
      function.description =
          TextOrRaise(L, -1, "description argument given to redis.register_function must be a string");
    } else if (EqualsIgnoringCase(key, "CALLBACK")) {
      if (!lua_isfunction(L, -1))
        Raise(L, "callback argument given to redis.register_function must be a function");
      lua_pushvalue(L, -1);
      lua_replace(L, kCallback);
    } else if (EqualsIgnoringCase(key, "FLAGS")) {
      if (!lua_istable(L, -1))
        Raise(L, "flags argument to redis.register_function must be a table representing function flags");
      function.flags = ReadFlags(L);
    } else {
      Raise(L, "unknown argument given to redis.register_function");
    }
  }
  if (!has_name) Raise(L, "redis.register_function must get a function name argument");
  if (lua_isnil(L, kCallback)) Raise(L, "redis.register_function must get a callback argument");
  return function;
}

// redis.register_function(name, callback), or with a table of named arguments
int RegisterFunction(lua_State* L) {
  auto* const library = static_cast<Library*>(Interpreter::Of(L).loading());
  if (library == nullptr) Raise(L, "redis.register_function can only be called on FUNCTION LOAD command");
  const int count = lua_gettop(L);
  if (count < 1 || count > 2) Raise(L, "wrong number of arguments to redis.register_function");
  Function function;
  if (count == 1) {
    function = ReadNamed(L);
  } else {
    function.name = TextOrRaise(L, 1, "first argument to redis.register_function must be a string");
    if (!lua_isfunction(L, 2)) Raise(L, "second argument to redis.register_function must be a function");
  }
  if (!IsFunctionName(function.name)) Raise(L, kBadName);
  const auto [place, is_new] = library->functions.try_emplace(LowerCase(function.name));
  if (!is_new) Raise(L, "Function already exists in the library");
  place->second = std::move(function);
  lua_settop(L, 2);
  place->second.function = Interpreter::Keep(L);
  return 0;
}

}  // namespace

bool IsFunctionName(std::string_view name) noexcept {
  const auto allowed = [](char c) { return IsLower(c) || IsUpper(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), allowed);
}

void PushLoadingApi(lua_State* L) {
  lua_newtable(L);
  AddLogAndVersion(L);
  SetFunction(L, "register_function", Guarded<RegisterFunction>);
}

}  // namespace mayfly::script
