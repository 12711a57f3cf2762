// Requests as bytes. Keys are "k:" and twelve digits, 14 bytes in all.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace mayfly::bench {

constexpr size_t kKeyBytes = 14;
constexpr size_t kKeyDigits = 12;

// Appends one request in RESP.
void AppendRequest(std::string& out, std::initializer_list<std::string_view> words);

// Writes `number` as twelve digits.
void WriteDigits(uint64_t number, char* digits);

// "k:000000000017" for 17.
std::string KeyOf(uint64_t number);

}  // namespace mayfly::bench
