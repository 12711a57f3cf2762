#include "cache/gone/ghost_ring.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <new>

namespace mayfly {

void GhostRing::Follow(bool on) noexcept {
  if (on == on_) return;
  on_ = on;
  if (on) return;
  for (Segment* const segment : segments_) heap_.FreeLines(segment, sizeof(Segment));
  segments_ = {};
  lines_ = 0;
  wanted_ = 0;
}

GhostRing::Line& GhostRing::LineOf(uint64_t hash) const noexcept {
  assert(lines_ != 0);
  constexpr unsigned kHalf = 32;
  const size_t mask = std::bit_ceil(lines_) - 1;
  const size_t line = static_cast<size_t>(hash >> kHalf) & mask;
  return At(line < lines_ ? line : line & (mask >> 1));
}

void GhostRing::Add(uint64_t hash) noexcept {
  assert(on_);
  if (lines_ > 1 && (lines_ - 1) * kWays >= wanted_) Shrink();
  for (size_t i = 0; i < kLinesPerAdd && lines_ * kWays < wanted_ && Grow(); ++i) {
  }
  if (lines_ == 0) return;
  const uint16_t print = PrintOf(hash);
  std::array<uint16_t, kWays>& slots = LineOf(hash).slots;
  const auto ends = [print](uint16_t slot) { return slot == print || slot == 0; };
  const auto end = std::find_if(slots.begin(), slots.end() - 1, ends);
  std::copy_backward(slots.begin(), end, end + 1);
  slots.front() = print;
}

bool GhostRing::Take(uint64_t hash) noexcept {
  if (lines_ == 0) return false;
  const uint16_t print = PrintOf(hash);
  std::array<uint16_t, kWays>& slots = LineOf(hash).slots;
  const auto found = std::find(slots.begin(), slots.end(), print);
  if (found == slots.end()) return false;
  std::copy(found + 1, slots.end(), found);
  slots.back() = 0;
  return true;
}

bool GhostRing::AddSegment() noexcept {
  void* const memory = heap_.AllocateLines(sizeof(Segment));
  if (memory == nullptr) return false;
  try {
    segments_.push_back(static_cast<Segment*>(memory));
  } catch (const std::bad_alloc&) {
    heap_.FreeLines(memory, sizeof(Segment));
    return false;
  }
  new (memory) Segment;  // a line is cleared when it comes into use
  return true;
}

bool GhostRing::Grow() noexcept {
  if (lines_ == kLinesMax) return false;
  if (lines_ == segments_.size() * kSegmentLines && !AddSegment()) return false;
  At(lines_++).slots.fill(0);
  return true;
}

void GhostRing::Shrink() noexcept {
  --lines_;
  if (lines_ > (segments_.size() - 1) * kSegmentLines) return;
  heap_.FreeLines(segments_.back(), sizeof(Segment));
  segments_.pop_back();
}

bool GhostRing::Validate() const noexcept {
  if (lines_ > segments_.size() * kSegmentLines || (!on_ && !segments_.empty())) return false;
  for (size_t line = 0; line < lines_; ++line) {
    const auto& slots = At(line).slots;
    for (size_t i = 0; i < kWays; ++i) {
      if (slots[i] == 0) continue;
      if (i != 0 && slots[i - 1] == 0) return false;
      if (std::count(slots.begin(), slots.end(), slots[i]) != 1) return false;
    }
  }
  return true;
}

}  // namespace mayfly
