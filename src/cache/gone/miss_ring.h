// Remembers why keys are absent: a bounded set of hashes of removed keys, each with the reason.
//
// Shape: cache lines with 16 slots each. The high half of a hash chooses the line; a slot of 4 bytes stores 29 bits of the
// low half, and the reason. The slots of a line are in the order of their age:
//
//   line:   | newest |  ...  | oldest |     a slot: fingerprint (high 29 bits) | reason (low 3 bits); 0: empty
//
// So a ring of n entries takes 4 n bytes. Adding and finding touch one line. A new hash pushes out the oldest hash of its
// line. So the ring has forgotten some of the last n added hashes, and nearly none of the last n / 2.
//
// A hash that was never added is found with a probability of 1 in 33 million.
//
// Owns its lines. Loop thread only.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "base/memory/heap.h"
#include "base/prefetch.h"
#include "cache/gone/miss_reason.h"

namespace mayfly {

class MissRing {
 public:
  static constexpr size_t kWays = 16;  // slots of a line

  // Remembers nothing.
  MissRing() noexcept = default;
  // Room for `entries` hashes, rounded up to whole lines, in `heap`; the heap must outlive the ring. Throws std::bad_alloc.
  MissRing(Heap& heap, size_t entries) : lines_(nullptr, {&heap, (entries + kWays - 1) / kWays}) {
    if (entries == 0) return;
    void* const memory = heap.AllocateLines(lines_.get_deleter().bytes());
    if (memory == nullptr) throw std::bad_alloc();
    lines_.reset(static_cast<Line*>(memory));
    std::uninitialized_value_construct_n(lines_.get(), count());
  }

  size_t capacity() const noexcept { return count() * kWays; }
  size_t bytes() const noexcept { return count() * sizeof(Line); }

  // In all functions below, `hash` is well mixed in all bits.
  //
  // Fetches the line for the next Add of `hash`.
  void Prefetch(uint64_t hash) const noexcept {
    if (lines_ != nullptr) PrefetchToWrite(&lines_[LineOf(hash)]);
  }
  // Replaces an earlier reason of the same hash.
  // REQUIRES: the reason is not kCold.
  void Add(uint64_t hash, MissReason reason) noexcept {
    assert(reason != MissReason::kCold);
    if (lines_ == nullptr) return;
    const uint32_t print = PrintOf(hash);
    uint32_t moving = print | static_cast<uint32_t>(reason);
    for (uint32_t& slot : lines_[LineOf(hash)].slots) {
      std::swap(slot, moving);
      if ((moving & kPrintMask) == print) return;
    }
  }
  // The reason that was last added for the hash; kCold if there is none.
  MissReason Find(uint64_t hash) const noexcept {
    if (lines_ == nullptr) return MissReason::kCold;
    const uint32_t print = PrintOf(hash);
    for (const uint32_t slot : lines_[LineOf(hash)].slots) {
      if (slot == 0) break;
      if ((slot & kPrintMask) == print) return static_cast<MissReason>(slot & ~kPrintMask);
    }
    return MissReason::kCold;
  }

  // Returns true if each hash is in its line once, and no used slot follows an empty slot.
  bool Validate() const noexcept {
    return std::all_of(lines_.get(), lines_.get() + count(), [](const Line& line) { return IsSound(line); });
  }

 private:
  static constexpr uint32_t kPrintMask = ~uint32_t{7};
  struct alignas(64) Line {
    std::array<uint32_t, kWays> slots{};
  };
  static_assert(sizeof(Line) == 64 && kMissReasons <= ~kPrintMask);

  struct Freer {
    Heap* heap;
    size_t count;  // lines
    size_t bytes() const noexcept { return count * sizeof(Line); }
    void operator()(Line* lines) const noexcept { heap->FreeLines(lines, bytes()); }
  };

  size_t count() const noexcept { return lines_ != nullptr ? lines_.get_deleter().count : 0; }
  static uint32_t PrintOf(uint64_t hash) noexcept { return static_cast<uint32_t>(hash) & kPrintMask; }
  // REQUIRES: there are lines.
  size_t LineOf(uint64_t hash) const noexcept {
    constexpr unsigned kHalf = 32;
    return static_cast<size_t>(((hash >> kHalf) * lines_.get_deleter().count) >> kHalf);
  }
  static bool IsSound(const Line& line) noexcept {
    const auto first = line.slots.begin();
    for (auto at = first + 1; at != line.slots.end(); ++at) {
      const auto is_same = [at](uint32_t other) { return ((*at ^ other) & kPrintMask) == 0; };
      if (*at != 0 && (*(at - 1) == 0 || std::any_of(first, at, is_same))) return false;
    }
    return true;
  }

  std::unique_ptr<Line[], Freer> lines_;  // null: off
};

}  // namespace mayfly
