#include "cache/ghost_ring.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <new>
#include <utility>

namespace mayfly {

void GhostRing::Follow(bool on) noexcept {
  if (on == on_) return;
  on_ = on;
  if (on) return;
  for (Segment* const segment : segments_) heap_.Free(segment, sizeof(Segment));
  segments_ = {};
  lines_ = 0;
  wanted_ = 0;
}

size_t GhostRing::LineOf(uint32_t print) const noexcept {
  assert(lines_ != 0);
  const size_t mask = std::bit_ceil(lines_) - 1;
  const size_t line = print & mask;
  return line < lines_ ? line : line & (mask >> 1);
}

void GhostRing::Add(uint64_t hash) noexcept {
  assert(on_);
  if (lines_ * kWays < wanted_) {
    Grow();
  } else if (lines_ > 1 && (lines_ - 1) * kWays >= wanted_) {
    Shrink();
  }
  if (lines_ == 0) return;
  const uint32_t print = PrintOf(hash);
  uint32_t moving = print;
  for (uint32_t& slot : At(LineOf(print)).slots) {
    std::swap(slot, moving);
    if (moving == print || moving == 0) return;
  }
}

bool GhostRing::Take(uint64_t hash) noexcept {
  if (lines_ == 0) return false;
  const uint32_t print = PrintOf(hash);
  std::array<uint32_t, kWays>& slots = At(LineOf(print)).slots;
  const auto found = std::find(slots.begin(), slots.end(), print);
  if (found == slots.end()) return false;
  std::copy(found + 1, slots.end(), found);
  slots.back() = 0;
  return true;
}

bool GhostRing::AddSegment() noexcept {
  void* const memory = heap_.Allocate(sizeof(Segment));
  if (memory == nullptr) return false;
  try {
    segments_.push_back(static_cast<Segment*>(memory));
  } catch (const std::bad_alloc&) {
    heap_.Free(memory, sizeof(Segment));
    return false;
  }
  new (memory) Segment;  // its lines are filled when they come into use
  return true;
}

void GhostRing::Grow() noexcept {
  if (lines_ == kLinesMax) return;
  if (lines_ == segments_.size() * kSegmentLines && !AddSegment()) return;
  const size_t fresh_line = lines_++;
  Line& fresh = At(fresh_line);
  fresh.slots.fill(0);
  if (fresh_line == 0) return;
  Line& old = At(fresh_line - std::bit_floor(fresh_line));
  const auto stays = [&](uint32_t print) { return print == 0 || LineOf(print) != fresh_line; };
  std::remove_copy_if(old.slots.begin(), old.slots.end(), fresh.slots.begin(), stays);
  const auto end =
      std::remove_if(old.slots.begin(), old.slots.end(), [&](uint32_t print) { return !stays(print); });
  std::fill(end, old.slots.end(), 0);
}

void GhostRing::Shrink() noexcept {
  --lines_;
  if (lines_ > (segments_.size() - 1) * kSegmentLines) return;
  heap_.Free(segments_.back(), sizeof(Segment));
  segments_.pop_back();
}

bool GhostRing::Validate() const noexcept {
  if (lines_ > segments_.size() * kSegmentLines || (!on_ && !segments_.empty())) return false;
  for (size_t line = 0; line < lines_; ++line) {
    const auto& slots = At(line).slots;
    for (size_t i = 0; i < kWays; ++i) {
      if (slots[i] == 0) continue;
      if (LineOf(slots[i]) != line || (i != 0 && slots[i - 1] == 0)) return false;
      if (std::count(slots.begin(), slots.end(), slots[i]) != 1) return false;
    }
  }
  return true;
}

}  // namespace mayfly
