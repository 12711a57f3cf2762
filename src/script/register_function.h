// redis.register_function: registers the functions of a library during FUNCTION LOAD.
#pragma once

#include <string_view>

#include "script/lua/lua_api.h"

namespace mayfly::script {

inline constexpr const char* kBadName =
    "Library names can only contain letters, numbers, or underscores(_) and must be at least one character "
    "long";

// Returns true if a library or a function may have this name.
bool IsFunctionName(std::string_view name) noexcept;

// Pushes the table `redis` for a library during its load. The table's functions expect a Library in Interpreter::loading().
void PushLoadingApi(lua_State* L);

}  // namespace mayfly::script
