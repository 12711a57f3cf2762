// Requests as bytes. Keys are "k:" and twelve digits, 14 bytes in all.
#pragma once

#include <cstdint>
#include <string>

#include "support/request_text.h"

namespace mayfly::bench {

using testing::AppendRequest;

constexpr size_t kKeyBytes = 14;
constexpr size_t kKeyDigits = 12;

// Writes `number` as twelve digits.
void WriteDigits(uint64_t number, char* digits);

// "k:000000000017" for 17.
std::string KeyOf(uint64_t number);

}  // namespace mayfly::bench
