#include "snapshot/format/lzf.h"

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

bool Decompress(std::string_view compressed, std::span<char> text) noexcept {
  // The library reads a first byte without a look at the size.
  if (compressed.empty() || text.empty()) return false;
  if (compressed.size() > UINT32_MAX || text.size() > UINT32_MAX) return false;
  return lzf_decompress(compressed.data(), static_cast<unsigned>(compressed.size()), text.data(),
                        static_cast<unsigned>(text.size())) == text.size();
}

}  // namespace mayfly::rdb::lzf
