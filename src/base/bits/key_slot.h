// The slot of a key in a Redis cluster: the CRC16 of its name, modulo the number of slots.
//
// If the key has a hash tag, only the tag counts: the bytes between the first '{' and the first '}' after it, unless empty.
// Hence "{user:7}:name" and "{user:7}:mail" have the same slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mayfly {

inline constexpr size_t kSlots = 16'384;

// XMODEM's: polynomial 0x1021, initial value 0, nothing reflected.
uint16_t Crc16(std::string_view bytes) noexcept;

// The hashed part of a key.
std::string_view HashTagOf(std::string_view key) noexcept;

// Below kSlots.
inline uint16_t SlotOf(std::string_view key) noexcept { return Crc16(HashTagOf(key)) % kSlots; }

}  // namespace mayfly
