// bit: operations on the bits of numbers, wrapped around to signed 32-bit integers.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "script/libraries/libraries.h"

namespace mayfly::script {
namespace {

constexpr uint32_t kShiftMask = 31;
constexpr int kMostHexDigits = 8;

// Reads a number modulo 2^32; fractions are rounded to the nearest integer. Adding 1.5 * 2^52 moves the number's integer
// part into the lowest bits of the double.
uint32_t BitsAt(lua_State* L, int index) {
  constexpr double kShiftToLowBits = 6755399441055744.0;
  return static_cast<uint32_t>(std::bit_cast<uint64_t>(luaL_checknumber(L, index) + kShiftToLowBits));
}

int Push(lua_State* L, uint32_t bits) {
  lua_pushnumber(L, static_cast<int32_t>(bits));
  return 1;
}

template <typename Operation>
int Fold(lua_State* L, Operation operation) {
  uint32_t bits = BitsAt(L, 1);
  for (int i = lua_gettop(L); i > 1; --i) bits = operation(bits, BitsAt(L, i));
  return Push(L, bits);
}

int ToBit(lua_State* L) { return Push(L, BitsAt(L, 1)); }
int Not(lua_State* L) { return Push(L, ~BitsAt(L, 1)); }
int And(lua_State* L) {
  return Fold(L, [](uint32_t a, uint32_t b) { return a & b; });
}
int Or(lua_State* L) {
  return Fold(L, [](uint32_t a, uint32_t b) { return a | b; });
}
int Xor(lua_State* L) {
  return Fold(L, [](uint32_t a, uint32_t b) { return a ^ b; });
}

template <uint32_t (*kShift)(uint32_t, uint32_t)>
int Shift(lua_State* L) {
  const uint32_t bits = BitsAt(L, 1);
  return Push(L, kShift(bits, BitsAt(L, 2) & kShiftMask));
}
uint32_t Left(uint32_t bits, uint32_t by) { return bits << by; }
uint32_t Right(uint32_t bits, uint32_t by) { return bits >> by; }
uint32_t RightSigned(uint32_t bits, uint32_t by) {
  return static_cast<uint32_t>(static_cast<int32_t>(bits) >> by);
}
uint32_t RotateLeft(uint32_t bits, uint32_t by) { return std::rotl(bits, static_cast<int>(by)); }
uint32_t RotateRight(uint32_t bits, uint32_t by) { return std::rotr(bits, static_cast<int>(by)); }

int SwapBytes(lua_State* L) { return Push(L, __builtin_bswap32(BitsAt(L, 1))); }

// A negative number of digits means upper case.
int ToHex(lua_State* L) {
  uint32_t bits = BitsAt(L, 1);
  int count = lua_isnone(L, 2) ? kMostHexDigits : static_cast<int32_t>(BitsAt(L, 2));
  const char* const digits = count < 0 ? "0123456789ABCDEF" : "0123456789abcdef";
  count = count < 0 ? (count < -kMostHexDigits ? kMostHexDigits : -count) : std::min(count, kMostHexDigits);
  std::array<char, kMostHexDigits> text;
  for (int i = count; i > 0; --i, bits >>= 4) text[static_cast<size_t>(i - 1)] = digits[bits & 15];
  lua_pushlstring(L, text.data(), static_cast<size_t>(count));
  return 1;
}

}  // namespace

void OpenBit(lua_State* L) {
  lua_newtable(L);
  SetFunction(L, "tobit", ToBit);
  SetFunction(L, "bnot", Not);
  SetFunction(L, "band", And);
  SetFunction(L, "bor", Or);
  SetFunction(L, "bxor", Xor);
  SetFunction(L, "lshift", Shift<Left>);
  SetFunction(L, "rshift", Shift<Right>);
  SetFunction(L, "arshift", Shift<RightSigned>);
  SetFunction(L, "rol", Shift<RotateLeft>);
  SetFunction(L, "ror", Shift<RotateRight>);
  SetFunction(L, "bswap", SwapBytes);
  SetFunction(L, "tohex", ToHex);
}

}  // namespace mayfly::script
