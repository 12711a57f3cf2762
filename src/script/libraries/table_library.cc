#include "script/libraries/table_library.h"

#include <algorithm>
#include <climits>

#include "script/libraries/sandbox.h"
#include "script/lua/lua_heap.h"
#include "script/lua/script_clock.h"
#include "script/lua/shield.h"

namespace mayfly::script {
namespace {

int CheckLength(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  return static_cast<int>(lua_objlen(L, 1));
}

// Copies element `from` of the table at index 1 to the place `to`.
void MoveElement(lua_State* L, int from, int to) {
  lua_rawgeti(L, 1, from);
  lua_rawseti(L, 1, to);
}

// ---- elements

// table.insert(list, [position,] value). A shield is refused: the write would pass __newindex.
int Insert(lua_State* L) {
  if (PushReal(L, 1)) {
    lua_pushstring(L, kReadOnlyError);
    return lua_error(L);
  }
  int64_t end = int64_t{CheckLength(L)} + 1;
  int64_t position = end;
  switch (lua_gettop(L)) {
    case 2:
      break;
    case 3: {
      position = luaL_checkint(L, 2);
      end = std::max(end, position);
      StepBatch steps(L);
      for (int64_t i = end; i > position; --i) {
        MoveElement(L, static_cast<int>(i - 1), static_cast<int>(i));
        steps.Add(2);
      }
      break;
    }
    default:
      return luaL_error(L, "wrong number of arguments to 'insert'");
  }
  lua_rawseti(L, 1, static_cast<int>(position));
  return 0;
}

// table.remove(list [, position])
int Remove(lua_State* L) {
  const int length = CheckLength(L);
  const int position = luaL_optint(L, 2, length);
  if (position < 1 || position > length) return 0;
  lua_rawgeti(L, 1, position);
  StepBatch steps(L);
  for (int i = position; i < length; ++i) {
    MoveElement(L, i + 1, i);
    steps.Add(2);
  }
  lua_pushnil(L);
  lua_rawseti(L, 1, length);
  return 1;
}

// table.concat(list [, separator [, from [, to]]])
int Concat(lua_State* L) {
  size_t separator_size = 0;
  const char* const separator = luaL_optlstring(L, 2, "", &separator_size);
  luaL_checktype(L, 1, LUA_TTABLE);
  const int64_t from = luaL_optint(L, 3, 1);
  const int64_t to = lua_isnoneornil(L, 4) ? CheckLength(L) : luaL_checkint(L, 4);
  LuaBuffer out(L);
  StepBatch steps(L);
  for (int64_t i = from; i <= to; ++i) {
    lua_rawgeti(L, 1, static_cast<int>(i));
    if (lua_isstring(L, -1) == 0)
      return luaL_error(L, "invalid value (%s) at index %d in table for 'concat'", luaL_typename(L, -1),
                        static_cast<int>(i));
    size_t size = 0;
    const char* const text = lua_tolstring(L, -1, &size);
    out.Add({text, size});
    if (i != to) out.Add({separator, separator_size});
    lua_pop(L, 1);
    steps.Add(2 + (size + separator_size) / 8);
  }
  PushText(L, out.view());
  CountBytes(L, out.view().size());
  return 1;
}

// table.maxn(list)
int HighestIndex(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_Number highest = 0;
  StepBatch steps(L);
  for (lua_pushnil(L); lua_next(L, 1) != 0; steps.Add(2)) {
    lua_pop(L, 1);
    if (lua_type(L, -1) == LUA_TNUMBER) highest = std::max(highest, lua_tonumber(L, -1));
  }
  lua_pushnumber(L, highest);
  return 1;
}

// table.foreach(table, function)
int ForEach(lua_State* L) {
  if (PushReal(L, 1)) lua_replace(L, 1);
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  StepBatch steps(L);
  for (lua_pushnil(L); lua_next(L, 1) != 0; steps.Add(4)) {
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -3);
    lua_pushvalue(L, -3);
    lua_call(L, 2, 1);
    if (!lua_isnil(L, -1)) return 1;
    lua_pop(L, 2);
  }
  return 0;
}

// table.foreachi(list, function)
int ForEachIndex(lua_State* L) {
  const int length = CheckLength(L);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  StepBatch steps(L);
  for (int i = 1; i <= length; ++i) {
    lua_pushvalue(L, 2);
    lua_pushinteger(L, i);
    lua_rawgeti(L, 1, i);
    lua_call(L, 2, 1);
    if (!lua_isnil(L, -1)) return 1;
    lua_pop(L, 1);
    steps.Add(4);
  }
  return 0;
}

// ---- sorting

// Lua 5.1's quicksort, comparison by comparison: the calls of a script's own function, and the order of equal elements, are
// the same. The list is at index 1, the function or nil at index 2.
class Sorter {
 public:
  explicit Sorter(lua_State* L) noexcept : L_(L), by_function_(!lua_isnil(L, 2)), steps_(L) {}

  void Sort(int low, int high);

 private:
  // Returns true if the value at `a` belongs before the value at `b`; both are negative indices.
  bool IsLess(int a, int b);
  // Orders the values of two places. Returns true if they were exchanged.
  bool Order(int low, int high);
  // Stores the two values on top, the upper one at `first`, and pops them.
  void Store(int first, int second) {
    lua_rawseti(L_, 1, first);
    lua_rawseti(L_, 1, second);
  }
  int Partition(int low, int high);

  lua_State* const L_;
  const bool by_function_;
  StepBatch steps_;
};

bool Sorter::IsLess(int a, int b) {
  steps_.Add(4);
  if (!by_function_) {
    if (lua_type(L_, a) == LUA_TSTRING) steps_.Add(lua_objlen(L_, a) / 32);
    return lua_lessthan(L_, a, b) != 0;
  }
  lua_pushvalue(L_, 2);
  lua_pushvalue(L_, a - 1);
  lua_pushvalue(L_, b - 2);
  lua_call(L_, 2, 1);
  const bool less = lua_toboolean(L_, -1) != 0;
  lua_pop(L_, 1);
  return less;
}

bool Sorter::Order(int low, int high) {
  lua_rawgeti(L_, 1, low);
  lua_rawgeti(L_, 1, high);
  if (IsLess(-1, -2)) {
    Store(low, high);
    return true;
  }
  lua_pop(L_, 2);
  return false;
}

// Parts the list around the median of its ends and its middle. The median is at `middle` before, and at the result
// afterwards.
int Sorter::Partition(int low, int high) {
  const int middle = low + (high - low) / 2;
  lua_rawgeti(L_, 1, middle);
  lua_pushvalue(L_, -1);
  lua_rawgeti(L_, 1, high - 1);
  Store(middle, high - 1);
  int i = low;
  int j = high - 1;
  for (;;) {  // the median is on top
    while (lua_rawgeti(L_, 1, ++i), IsLess(-1, -2)) {
      if (i > high) luaL_error(L_, "invalid order function for sorting");
      lua_pop(L_, 1);
    }
    while (lua_rawgeti(L_, 1, --j), IsLess(-3, -1)) {
      if (j < low) luaL_error(L_, "invalid order function for sorting");
      lua_pop(L_, 1);
    }
    if (j < i) break;
    Store(i, j);
  }
  lua_pop(L_, 3);
  lua_rawgeti(L_, 1, high - 1);
  lua_rawgeti(L_, 1, i);
  Store(high - 1, i);
  return i;
}

// Calls itself for the shorter part: at most 31 levels deep.
void Sorter::Sort(int low, int high) {
  while (low < high) {
    Order(low, high);
    if (high - low == 1) return;
    const int middle = low + (high - low) / 2;
    lua_rawgeti(L_, 1, middle);
    lua_rawgeti(L_, 1, low);
    if (IsLess(-2, -1)) {
      Store(middle, low);
    } else {
      lua_pop(L_, 1);
      lua_rawgeti(L_, 1, high);
      if (IsLess(-1, -2))
        Store(middle, high);
      else
        lua_pop(L_, 2);
    }
    if (high - low == 2) return;
    const int at = Partition(low, high);
    if (at - low < high - at) {
      Sort(low, at - 1);
      low = at + 1;
    } else {
      Sort(at + 1, high);
      high = at - 1;
    }
  }
}

// table.sort(list [, function])
int SortList(lua_State* L) {
  const int length = CheckLength(L);
  constexpr int kSlots = 40;
  luaL_checkstack(L, kSlots, "");
  if (!lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  Sorter(L).Sort(1, length);
  return 0;
}

}  // namespace

int Unpack(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  const int64_t from = luaL_optint(L, 2, 1);
  const int64_t to = lua_isnoneornil(L, 3) ? static_cast<int>(lua_objlen(L, 1)) : luaL_checkint(L, 3);
  const int64_t count = to - from + 1;
  if (count <= 0) return 0;
  if (count >= INT_MAX || lua_checkstack(L, static_cast<int>(count)) == 0)
    return luaL_error(L, "too many results to unpack");
  for (int64_t i = from; i <= to; ++i) lua_rawgeti(L, 1, static_cast<int>(i));
  CountBytes(L, static_cast<size_t>(count) * sizeof(lua_Number));
  return static_cast<int>(count);
}

void ReplaceTableFunctions(lua_State* L) {
  SetFunction(L, "insert", Insert);
  SetFunction(L, "remove", Remove);
  SetFunction(L, "concat", Guarded<Concat>);
  SetFunction(L, "maxn", HighestIndex);
  SetFunction(L, "foreach", ForEach);
  SetFunction(L, "foreachi", ForEachIndex);
  SetFunction(L, "sort", SortList);
}

}  // namespace mayfly::script
