// The names of types and encodings for TYPE, SCAN and OBJECT.
#pragma once

#include <string_view>

#include "base/time/clock.h"
#include "cache/entry/entry.h"
#include "cache/entry/rich_value.h"

namespace mayfly {

// Redis stores texts up to this size beside the header, and calls these texts "embstr".
inline constexpr size_t kEmbeddedTextMax = 44;

inline ValueType TypeOf(const Entry& entry) noexcept {
  return entry.encoding() == Encoding::kRich ? entry.rich()->type : ValueType::kString;
}

inline std::string_view TypeName(const Entry& entry) noexcept {
  switch (TypeOf(entry)) {
    case ValueType::kString:
      return "string";
    case ValueType::kHash:
      return "hash";
    case ValueType::kList:
      return "list";
    case ValueType::kSet:
      return "set";
    case ValueType::kSortedSet:
      return "zset";
    case ValueType::kStream:
      return "stream";
  }
  return "";
}

inline std::string_view EncodingName(const Entry& entry) noexcept {
  switch (entry.encoding()) {
    case Encoding::kInteger:
      return "int";
    case Encoding::kText:
      return entry.stored().size() <= kEmbeddedTextMax ? "embstr" : "raw";
    case Encoding::kEdited:
    case Encoding::kBlock:
      return "raw";
    case Encoding::kRich:
      return entry.rich()->EncodingName();
  }
  return "";
}

// How long ago a key was last accessed. Both stamps are rounded down, so one unit is added: a key idle for n seconds reports
// n.
inline uint64_t IdleSeconds(const Entry& entry, Now now) noexcept {
  return (Entry::IdleMs(entry.stamp(), now.mono_ms) + Entry::kStampMs - 1) / 1000;
}

}  // namespace mayfly
