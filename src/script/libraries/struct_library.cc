// struct: converts values to binary records and back, by a format of one letter for each value.
//
//   > < !n    byte order, alignment          b B h H l L T i I in In   integers; upper case: unsigned
//   f d       floating point                 cn   n bytes; c0: all of the text, or a size given by the number before
//   x         a zero byte                    s    text that ends with a zero byte
#include <algorithm>
#include <bit>
#include <climits>
#include <cstdint>
#include <cstring>

#include "base/text/ascii.h"
#include "script/libraries/libraries.h"
#include "script/lua/lua_heap.h"
#include "script/lua/script_clock.h"

namespace mayfly::script {
namespace {

constexpr int kMostIntegerBytes = 32;
constexpr size_t kMostAlignment = 8;
constexpr size_t kWordBytes = sizeof(uint64_t);

bool IsDigit(char c) noexcept { return c >= '0' && c <= '9'; }

// The rest of the format, and the order and alignment read so far.
struct Format {
  const char* next;
  bool big_endian = std::endian::native == std::endian::big;
  size_t alignment = 1;
};

struct Field {
  char type;
  size_t size;
};

int ReadNumber(lua_State* L, Format& format, int otherwise) {
  if (!IsDigit(*format.next)) return otherwise;
  int number = 0;
  for (; IsDigit(*format.next); ++format.next) {
    const int digit = *format.next - '0';
    if (number > INT_MAX / 10 || number * 10 > INT_MAX - digit) luaL_error(L, "integral size overflow");
    number = number * 10 + digit;
  }
  return number;
}

// REQUIRES: *format.next is not 0.
Field NextField(lua_State* L, Format& format) {
  const char type = *format.next++;
  switch (type) {
    case 'B':
    case 'b':
    case 'x':
      return {type, 1};
    case 'H':
    case 'h':
      return {type, sizeof(short)};
    case 'L':
    case 'l':
      return {type, sizeof(long)};
    case 'T':
      return {type, sizeof(size_t)};
    case 'f':
      return {type, sizeof(float)};
    case 'd':
      return {type, sizeof(double)};
    case 'c':
      return {type, static_cast<size_t>(ReadNumber(L, format, 1))};
    case 'i':
    case 'I': {
      const int size = ReadNumber(L, format, sizeof(int));
      if (size > kMostIntegerBytes)
        luaL_error(L, "integral size %d is larger than limit of %d", size, kMostIntegerBytes);
      return {type, static_cast<size_t>(size)};
    }
    default:
      return {type, 0};
  }
}

bool IsInteger(char type) noexcept { return type != '\0' && std::strchr("BbHhLlTiI", type) != nullptr; }

size_t Padding(size_t at, const Format& format, const Field& field) noexcept {
  if (field.size == 0 || field.type == 'c') return 0;
  const size_t to = std::min(field.size, format.alignment);
  return (to - (at & (to - 1))) & (to - 1);
}

// Handles the letters without a value: order, alignment, blanks.
void Follow(lua_State* L, Format& format, char type) {
  switch (type) {
    case ' ':
      return;
    case '>':
      format.big_endian = true;
      return;
    case '<':
      format.big_endian = false;
      return;
    case '!': {
      const int to = ReadNumber(L, format, kMostAlignment);
      if (to <= 0 || (to & (to - 1)) != 0) luaL_error(L, "alignment %d is not a power of 2", to);
      format.alignment = static_cast<size_t>(to);
      return;
    }
    default:
      luaL_argerror(L, 1, lua_pushfstring(L, "invalid format option '%c'", type));
  }
}

// Converts a number to 64 bits, as a signed number if below 0, without the undefined results of numbers outside the range.
uint64_t WordOf(lua_Number number) noexcept {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (number < 0)
    return number >= -kTwo63 ? static_cast<uint64_t>(static_cast<int64_t>(number)) : uint64_t{1} << 63;
  if (number < 2 * kTwo63) return static_cast<uint64_t>(number);
  return number == number ? 0 : uint64_t{1} << 63;
}

void AddInteger(LuaBuffer& out, lua_Number number, const Field& field, bool big_endian) {
  char* const bytes = out.Reserve(field.size);
  uint64_t word = WordOf(number);
  for (size_t i = 0; i < field.size; ++i, word >>= 8)
    bytes[big_endian ? field.size - 1 - i : i] = static_cast<char>(word & 0xff);
  out.Commit(field.size);
}

template <typename Number>
void AddFloat(LuaBuffer& out, Number number, bool big_endian) {
  char* const bytes = out.Reserve(sizeof number);
  std::memcpy(bytes, &number, sizeof number);
  if (big_endian != (std::endian::native == std::endian::big)) std::reverse(bytes, bytes + sizeof number);
  out.Commit(sizeof number);
}

template <typename Number>
Number ReadFloat(const char* from, bool big_endian) noexcept {
  char bytes[sizeof(Number)];
  std::memcpy(bytes, from, sizeof bytes);
  if (big_endian != (std::endian::native == std::endian::big)) std::reverse(bytes, bytes + sizeof bytes);
  Number number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

lua_Number ReadInteger(const char* bytes, const Field& field, bool big_endian) noexcept {
  uint64_t word = 0;
  for (size_t i = 0; i < field.size; ++i)
    word = word << 8 | static_cast<unsigned char>(bytes[big_endian ? i : field.size - 1 - i]);
  const bool is_signed = field.type >= 'a';
  if (!is_signed) return static_cast<lua_Number>(word);
  if (field.size != 0 && field.size < kWordBytes) {
    const uint64_t upper = ~uint64_t{0} << (8 * field.size - 1);
    if ((word & upper) != 0) word |= upper;
  }
  return static_cast<lua_Number>(static_cast<int64_t>(word));
}

// struct.pack(format, values ...)
int Pack(lua_State* L) {
  LuaBuffer out(L);
  Format format{luaL_checkstring(L, 1)};
  lua_pushnil(L);  // a missing value counts as nil
  int argument = 2;
  while (*format.next != '\0') {
    Field field = NextField(L, format);
    for (size_t n = Padding(out.view().size(), format, field); n != 0; --n) out.Add('\0');
    if (IsInteger(field.type)) {
      AddInteger(out, luaL_checknumber(L, argument++), field, format.big_endian);
      continue;
    }
    switch (field.type) {
      case 'x':
        out.Add('\0');
        break;
      case 'f':
        AddFloat(out, static_cast<float>(luaL_checknumber(L, argument++)), format.big_endian);
        break;
      case 'd':
        AddFloat(out, luaL_checknumber(L, argument++), format.big_endian);
        break;
      case 'c':
      case 's': {
        size_t size = 0;
        const char* const text = luaL_checklstring(L, argument++, &size);
        if (field.size == 0) field.size = size;
        luaL_argcheck(L, size >= field.size, argument, "string too short");
        out.Add({text, field.size});
        if (field.type == 's') out.Add('\0');
        break;
      }
      default:
        Follow(L, format, field.type);
    }
  }
  PushText(L, out.view());
  CountBytes(L, lua_objlen(L, 1) + out.view().size());
  return 1;
}

void CheckRoom(lua_State* L, size_t at, size_t size, size_t data_size) {
  luaL_argcheck(L, size <= data_size && at <= data_size - size, 2, "data string too short");
}

// struct.unpack(format, text [, position]): the values, and the position after them
int UnpackStruct(lua_State* L) {
  Format format{luaL_checkstring(L, 1)};
  size_t data_size = 0;
  const char* const data = luaL_checklstring(L, 2, &data_size);
  const lua_Integer from = luaL_optinteger(L, 3, 1);
  luaL_argcheck(L, from > 0, 3, "offset must be 1 or greater");
  auto at = static_cast<size_t>(from - 1);
  int count = 0;
  while (*format.next != '\0') {
    Field field = NextField(L, format);
    at += Padding(at, format, field);
    CheckRoom(L, at, field.size, data_size);
    luaL_checkstack(L, 2, "too many results");
    const char* const here = data + at;
    if (IsInteger(field.type)) {
      lua_pushnumber(L, ReadInteger(here, field, format.big_endian));
      ++count;
    } else if (field.type == 'f' || field.type == 'd') {
      lua_pushnumber(L, field.type == 'f' ? ReadFloat<float>(here, format.big_endian)
                                          : ReadFloat<double>(here, format.big_endian));
      ++count;
    } else if (field.type == 'c') {
      if (field.size == 0) {
        if (count == 0 || lua_isnumber(L, -1) == 0) luaL_error(L, "format 'c0' needs a previous size");
        field.size = WordOf(lua_tonumber(L, -1));
        lua_pop(L, 1);
        --count;
        CheckRoom(L, at, field.size, data_size);
      }
      PushText(L, {here, field.size});
      ++count;
    } else if (field.type == 's') {
      const void* const end = std::memchr(here, '\0', data_size - at);
      if (end == nullptr) return luaL_error(L, "unfinished string in data");
      field.size = static_cast<size_t>(static_cast<const char*>(end) - here) + 1;
      PushText(L, {here, field.size - 1});
      ++count;
    } else if (field.type != 'x') {
      Follow(L, format, field.type);
    }
    at += field.size;
  }
  lua_pushinteger(L, static_cast<lua_Integer>(at + 1));
  CountBytes(L, lua_objlen(L, 1) + at);
  return count + 1;
}

// struct.size(format)
int Size(lua_State* L) {
  Format format{luaL_checkstring(L, 1)};
  size_t size = 0;
  while (*format.next != '\0') {
    const Field field = NextField(L, format);
    size += Padding(size, format, field);
    if (field.type == 's') return luaL_argerror(L, 1, "option 's' has no fixed size");
    if (field.type == 'c' && field.size == 0) return luaL_argerror(L, 1, "option 'c0' has no fixed size");
    if (!IsLower(field.type) && !IsUpper(field.type) && !IsDigit(field.type)) Follow(L, format, field.type);
    size += field.size;
  }
  lua_pushinteger(L, static_cast<lua_Integer>(size));
  return 1;
}

}  // namespace

void OpenStruct(lua_State* L) {
  lua_newtable(L);
  SetFunction(L, "pack", Guarded<Pack>);
  SetFunction(L, "unpack", Guarded<UnpackStruct>);
  SetFunction(L, "size", Guarded<Size>);
}

}  // namespace mayfly::script
