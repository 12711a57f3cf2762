#include "snapshot/format/lzf.h"

#include <array>
#include <cassert>
#include <cstdint>

#include <lzf.h>

namespace mayfly::rdb::lzf {

size_t Compress(std::string_view text, std::span<char> room) noexcept {
  assert(room.size() + kLeastGain <= text.size());
  if (room.empty() || text.size() > UINT32_MAX) return 0;
  return lzf_compress(text.data(), static_cast<unsigned>(text.size()), room.data(),
                      static_cast<unsigned>(room.size()));
}

bool LooksRandom(std::string_view text) noexcept {
  constexpr size_t kFewest = 64;
  constexpr size_t kMost = 256;
  constexpr size_t kByChance = 4;  // more than expected
  if (text.size() < kFewest) return false;
  const std::string_view begin = text.substr(0, kMost);
  std::array<bool, 256> seen{};
  size_t different = 0;
  for (const char byte : begin) {
    bool& known = seen[static_cast<unsigned char>(byte)];
    different += known ? 0 : 1;
    known = true;
  }
  // Of n random bytes about n * n / 512 are equal to an earlier one.
  return begin.size() - different <= begin.size() * begin.size() / (2 * seen.size()) + kByChance;
}

bool Decompress(std::string_view compressed, std::span<char> text) noexcept {
  // The library reads a first byte without a look at the size.
  if (compressed.empty() || text.empty()) return false;
  if (compressed.size() > UINT32_MAX || text.size() > UINT32_MAX) return false;
  return lzf_decompress(compressed.data(), static_cast<unsigned>(compressed.size()), text.data(),
                        static_cast<unsigned>(text.size())) == text.size();
}

}  // namespace mayfly::rdb::lzf
