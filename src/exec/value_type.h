// The names of types and encodings as TYPE, SCAN and OBJECT tell them.
#pragma once

#include <string_view>

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

}  // namespace mayfly
