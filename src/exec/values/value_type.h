// The names of types and encodings in the replies of TYPE, SCAN and OBJECT.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "cache/entry.h"

namespace mayfly {

// Redis keeps texts up to this size beside their header and calls them "embstr".
inline constexpr size_t kEmbeddedTextMax = 44;

// Every entry is a string so far.
inline std::string_view TypeName(const Entry&) noexcept { return "string"; }

// REQUIRES: a string.
inline std::string_view EncodingName(const Entry& entry) noexcept {
  if (entry.encoding() == Encoding::kInteger) return "int";
  const bool embedded = entry.encoding() == Encoding::kText && entry.stored().size() <= kEmbeddedTextMax;
  return embedded ? "embstr" : "raw";
}

// How long ago a key was last accessed. Both stamps are rounded down, so one unit is added: a key that has
// been idle for n seconds reports n.
inline uint64_t IdleSeconds(const Entry& entry, Now now) noexcept {
  return (Entry::IdleMs(entry.stamp(), now.mono_ms) + Entry::kStampMs - 1) / 1000;
}

}  // namespace mayfly
