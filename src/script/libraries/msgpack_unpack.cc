// Converts MessagePack to values of Lua.
#include <bit>
#include <climits>
#include <cstdint>
#include <type_traits>

#include "script/libraries/msgpack.h"

namespace mayfly::script {
namespace {

class Unpacker {
 public:
  Unpacker(lua_State* L, std::string_view bytes) noexcept : L_(L), rest_(bytes) {}

  size_t left() const noexcept { return rest_.size(); }
  // Pushes the next value.
  void PushValue();

 private:
  [[noreturn]] void Fail(const char* text) {
    luaL_error(L_, text);
    throw std::bad_alloc();  // not reached
  }
  std::string_view Take(size_t size) {
    if (rest_.size() < size) Fail("Missing bytes in input.");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  template <typename Number>
  Number TakeNumber() {
    uint64_t bits = 0;
    for (const char byte : Take(sizeof(Number))) bits = bits << 8 | static_cast<unsigned char>(byte);
    return static_cast<Number>(static_cast<std::make_unsigned_t<Number>>(bits));
  }
  template <typename Number>
  void PushNumber() {
    lua_pushnumber(L_, static_cast<lua_Number>(TakeNumber<Number>()));
  }
  void PushArray(size_t count);
  void PushMap(size_t count);
  void PushTyped(unsigned char type);

  lua_State* L_;
  std::string_view rest_;
};

// The count comes from the message: a claimed count must not reserve room in advance.
void Unpacker::PushArray(size_t count) {
  luaL_checkstack(L_, 2, "in function mp_decode_to_lua_array");
  lua_newtable(L_);
  for (size_t i = 1; i <= count; ++i) {
    LookAtTime(L_, i);
    PushValue();
    lua_rawseti(L_, -2, static_cast<int>(i));
  }
}

void Unpacker::PushMap(size_t count) {
  luaL_checkstack(L_, 3, "in function mp_decode_to_lua_hash");
  lua_newtable(L_);
  for (; count != 0; --count) {
    LookAtTime(L_, count);
    PushValue();
    PushValue();
    lua_settable(L_, -3);  // raises an error for a key that is nil or NaN
  }
}

void Unpacker::PushTyped(unsigned char type) {
  switch (type) {
    case 0xc0:
      return lua_pushnil(L_);
    case 0xc2:
    case 0xc3:
      return lua_pushboolean(L_, type & 1);
    case 0xca:
      return lua_pushnumber(L_, std::bit_cast<float>(TakeNumber<uint32_t>()));
    case 0xcb:
      return lua_pushnumber(L_, std::bit_cast<double>(TakeNumber<uint64_t>()));
    case 0xcc:
      return PushNumber<uint8_t>();
    case 0xcd:
      return PushNumber<uint16_t>();
    case 0xce:
      return PushNumber<uint32_t>();
    case 0xcf:
      return PushNumber<uint64_t>();
    case 0xd0:
      return PushNumber<int8_t>();
    case 0xd1:
      return PushNumber<int16_t>();
    case 0xd2:
      return PushNumber<int32_t>();
    case 0xd3:
      return PushNumber<int64_t>();
    case 0xd9:
      return PushText(L_, Take(TakeNumber<uint8_t>()));
    case 0xda:
      return PushText(L_, Take(TakeNumber<uint16_t>()));
    case 0xdb:
      return PushText(L_, Take(TakeNumber<uint32_t>()));
    case 0xdc:
      return PushArray(TakeNumber<uint16_t>());
    case 0xdd:
      return PushArray(TakeNumber<uint32_t>());
    case 0xde:
      return PushMap(TakeNumber<uint16_t>());
    case 0xdf:
      return PushMap(TakeNumber<uint32_t>());
    default:
      Fail("Bad data format in input.");
  }
}

void Unpacker::PushValue() {
  luaL_checkstack(L_, 1, "too many return values at once; use unpack_one or unpack_limit instead.");
  const auto type = static_cast<unsigned char>(Take(1).front());
  if (type < 0x80) return lua_pushnumber(L_, type);
  if (type >= 0xe0) return lua_pushnumber(L_, static_cast<signed char>(type));
  if (type < 0x90) return PushMap(type & 0xf);
  if (type < 0xa0) return PushArray(type & 0xf);
  if (type < 0xc0) return PushText(L_, Take(type & 0x1f));
  PushTyped(type);
}

// Unpacks at most `limit` values. With `tell_offset` the first result is the offset of the next value, -1 at the end.
int Unpack(lua_State* L, int limit, int offset, bool tell_offset) {
  size_t size = 0;
  const char* const data = luaL_checklstring(L, 1, &size);
  if (offset < 0 || limit < 0)
    return luaL_error(L, "Invalid request to unpack with offset of %d and limit of %d.", offset,
                      static_cast<int>(size));
  if (static_cast<size_t>(offset) > size)
    return luaL_error(L, "Start offset %d greater than input length %d.", offset, static_cast<int>(size));
  lua_settop(L, 1);
  Unpacker unpacker(L, std::string_view(data, size).substr(static_cast<size_t>(offset)));
  int count = 0;
  for (; unpacker.left() != 0 && count < limit; ++count) unpacker.PushValue();
  if (!tell_offset) return count;
  luaL_checkstack(L, 1, "in function mp_unpack_full");
  lua_pushnumber(L, unpacker.left() == 0 ? -1 : static_cast<lua_Number>(size - unpacker.left()));
  lua_insert(L, 2);
  return count + 1;
}

}  // namespace

int UnpackMessage(lua_State* L) { return Unpack(L, INT_MAX, 0, false); }

int UnpackMessageOne(lua_State* L) { return Unpack(L, 1, static_cast<int>(luaL_optinteger(L, 2, 0)), true); }

int UnpackMessageLimit(lua_State* L) {
  const auto limit = static_cast<int>(luaL_checkinteger(L, 2));
  const auto offset = static_cast<int>(luaL_optinteger(L, 3, 0));
  const bool all = limit == 0 && offset == 0;
  return Unpack(L, all ? INT_MAX : limit, offset, !all);
}

}  // namespace mayfly::script
