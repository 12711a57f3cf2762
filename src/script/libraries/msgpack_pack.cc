// Converts values of Lua to MessagePack, and has the table of cmsgpack.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "script/libraries/libraries.h"
#include "script/libraries/msgpack.h"
#include "script/lua/lua_heap.h"
#include "script/lua/script_clock.h"

namespace mayfly::script {
namespace {

constexpr int kMostNesting = 16;  // deeper tables become nil, as in lua-cmsgpack

// Adds a type's byte and a number, the highest byte first.
template <typename Number>
void AddHead(LuaBuffer& out, int type, Number number) {
  char* const bytes = out.Reserve(1 + sizeof number);
  bytes[0] = static_cast<char>(type);
  for (size_t i = 0; i < sizeof number; ++i)
    bytes[1 + i] = static_cast<char>(number >> (8 * (sizeof number - 1 - i)) & 0xff);
  out.Commit(1 + sizeof number);
}

void AddText(LuaBuffer& out, std::string_view text) {
  const size_t size = text.size();
  if (size < 32) {
    out.Add(static_cast<char>(0xa0 | size));
  } else if (size <= UINT8_MAX) {
    AddHead(out, 0xd9, static_cast<uint8_t>(size));
  } else if (size <= UINT16_MAX) {
    AddHead(out, 0xda, static_cast<uint16_t>(size));
  } else {
    AddHead(out, 0xdb, static_cast<uint32_t>(size));
  }
  out.Add(text);
}

void AddInteger(LuaBuffer& out, int64_t n) {
  const auto bits = static_cast<uint64_t>(n);
  if (n >= -32 && n <= 127) {
    out.Add(static_cast<char>(n));
  } else if (n >= 0) {
    if (bits <= UINT8_MAX) return AddHead(out, 0xcc, static_cast<uint8_t>(bits));
    if (bits <= UINT16_MAX) return AddHead(out, 0xcd, static_cast<uint16_t>(bits));
    if (bits <= UINT32_MAX) return AddHead(out, 0xce, static_cast<uint32_t>(bits));
    AddHead(out, 0xcf, bits);
  } else {
    if (n >= INT8_MIN) return AddHead(out, 0xd0, static_cast<uint8_t>(bits));
    if (n >= INT16_MIN) return AddHead(out, 0xd1, static_cast<uint16_t>(bits));
    if (n >= INT32_MIN) return AddHead(out, 0xd2, static_cast<uint32_t>(bits));
    AddHead(out, 0xd3, bits);
  }
}

void AddNumber(LuaBuffer& out, lua_Number number) {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (number >= -kTwo63 && number < kTwo63 && std::floor(number) == number)
    return AddInteger(out, static_cast<int64_t>(number));
  const auto single = static_cast<float>(number);
  if (static_cast<double>(single) == number)
    AddHead(out, 0xca, std::bit_cast<uint32_t>(single));
  else
    AddHead(out, 0xcb, std::bit_cast<uint64_t>(number));
}

// `few`: the type's byte for up to 15 elements; `many`: the type's byte for a count of 16 bits; `many` + 1: for 32 bits.
void AddCount(LuaBuffer& out, size_t count, int few, int many) {
  if (count <= 15) {
    out.Add(static_cast<char>(few | static_cast<int>(count)));
  } else if (count <= UINT16_MAX) {
    AddHead(out, many, static_cast<uint16_t>(count));
  } else {
    AddHead(out, many + 1, static_cast<uint32_t>(count));
  }
}

// Returns true if the keys of the table on top are 1 to n, or if the table has no keys; sets `count` to the number of keys.
bool IsArray(lua_State* L, size_t& count) {
  count = 0;
  lua_Number highest = 0;
  bool is_array = true;
  for (lua_pushnil(L); lua_next(L, -2) != 0; ++count) {
    lua_pop(L, 1);
    if (lua_type(L, -1) != LUA_TNUMBER) {
      is_array = false;
      continue;
    }
    const lua_Number key = lua_tonumber(L, -1);
    if (!(key >= 1) || key > INT32_MAX || std::floor(key) != key) is_array = false;
    if (key > highest) highest = key;
  }
  return is_array && highest == static_cast<lua_Number>(count);
}

// A message, and the number of its values within tables.
struct Message : LuaBuffer {
  using LuaBuffer::LuaBuffer;
  size_t values = 0;
};

// Packs the value on top and pops the value.
void PackTop(lua_State* L, Message& out, int level);

void PackTable(lua_State* L, Message& out, int level) {
  size_t count = 0;
  if (IsArray(L, count)) {
    AddCount(out, count, 0x90, 0xdc);
    for (size_t i = 1; i <= count; ++i) {
      LookAtTime(L, ++out.values);
      lua_rawgeti(L, -1, static_cast<int>(i));
      PackTop(L, out, level + 1);
    }
    return;
  }
  AddCount(out, count, 0x80, 0xde);
  for (lua_pushnil(L); lua_next(L, -2) != 0;) {
    LookAtTime(L, ++out.values);
    lua_pushvalue(L, -2);
    PackTop(L, out, level + 1);
    PackTop(L, out, level + 1);
  }
}

void PackTop(lua_State* L, Message& out, int level) {
  luaL_checkstack(L, 8, "in function mp_encode_lua_table_as_map");
  switch (lua_type(L, -1)) {
    case LUA_TSTRING:
      AddText(out, TextAt(L, -1));
      break;
    case LUA_TBOOLEAN:
      out.Add(static_cast<char>(lua_toboolean(L, -1) != 0 ? 0xc3 : 0xc2));
      break;
    case LUA_TNUMBER:
      AddNumber(out, lua_tonumber(L, -1));
      break;
    case LUA_TTABLE:
      if (level < kMostNesting) {
        PackTable(L, out, level);
        break;
      }
      [[fallthrough]];
    default:
      out.Add(static_cast<char>(0xc0));
  }
  lua_pop(L, 1);
}

}  // namespace

int PackMessage(lua_State* L) {
  const int count = lua_gettop(L);
  if (count == 0) return luaL_argerror(L, 0, "MessagePack pack needs input.");
  Message out(L);
  for (int i = 1; i <= count; ++i) {
    luaL_checkstack(L, 1, "in function mp_check");
    lua_pushvalue(L, i);
    PackTop(L, out, 0);
  }
  PushText(L, out.view());
  CountBytes(L, out.view().size());
  return 1;
}

void OpenMsgpack(lua_State* L) {
  lua_newtable(L);
  SetFunction(L, "pack", Guarded<PackMessage>);
  SetFunction(L, "unpack", Guarded<UnpackMessage>);
  SetFunction(L, "unpack_one", Guarded<UnpackMessageOne>);
  SetFunction(L, "unpack_limit", Guarded<UnpackMessageLimit>);
  SetText(L, "_NAME", "cmsgpack");
  SetText(L, "_VERSION", "lua-cmsgpack 0.4.0");
  SetText(L, "_COPYRIGHT", "Copyright (C) 2012, Salvatore Sanfilippo");
  SetText(L, "_DESCRIPTION", "MessagePack C implementation for Lua");
}

}  // namespace mayfly::script
