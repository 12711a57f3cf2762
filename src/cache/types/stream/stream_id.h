// The id of a stream's entry: a time in ms and a number within it, written "ms-sequence".
#pragma once

#include <compare>
#include <cstdint>

namespace mayfly {

struct StreamId {
  uint64_t ms = 0;
  uint64_t sequence = 0;

  static constexpr StreamId Max() noexcept { return {UINT64_MAX, UINT64_MAX}; }
  constexpr bool operator==(const StreamId&) const noexcept = default;
  constexpr std::strong_ordering operator<=>(const StreamId& other) const noexcept {
    return ms != other.ms ? ms <=> other.ms : sequence <=> other.sequence;
  }
  // Advances to the next id; returns false, without a change, at the last id.
  bool Increment() noexcept {
    if (*this == Max()) return false;
    if (++sequence == 0) ++ms;
    return true;
  }
  // Goes back to the previous id; returns false, without a change, at the first id.
  bool Decrement() noexcept {
    if (*this == StreamId{}) return false;
    if (sequence-- == 0) --ms;
    return true;
  }
};

}  // namespace mayfly
