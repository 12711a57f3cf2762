// cjson: converts between JSON and values of Lua, with the options and the words of lua-cjson 2.1.0.
#pragma once

#include "script/lua/lua_api.h"

namespace mayfly::script::json {

// Each library table has its own settings: cjson.new() makes another table. A userdata, upvalue 1 of the table's functions.
struct Settings {
  int sparse_convert = 0;  // 1: a sparse array becomes an object; 0: an error
  int sparse_ratio = 2;    // an array is sparse with this many times as many places as elements; 0: never
  int sparse_safe = 10;    // and with more places than this
  int encode_max_depth = 1000;
  int decode_max_depth = 1000;
  int number_precision = 14;  // digits
  int keep_buffer = 1;        // remembered; the buffer is never kept
  int encode_invalid = 0;     // infinity and NaN: 0 an error, 1 as they are, 2 null
  int decode_invalid = 1;     // also hexadecimal numbers and others unknown to JSON
};

inline Settings& SettingsOf(lua_State* L) {
  return *static_cast<Settings*>(lua_touserdata(L, lua_upvalueindex(1)));
}

int Encode(lua_State* L);  // cjson.encode(value)
int Decode(lua_State* L);  // cjson.decode(text)

}  // namespace mayfly::script::json
