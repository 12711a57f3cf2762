// Ghosts: the hashes of keys evicted recently, for S3-FIFO (cache/evict/s3fifo_evictor.h). If a key comes back while the
// ring has its ghost, clients use the key again and again, only not often enough for its former place.
//
// Shape: cache lines with 32 slots each. The high half of a hash chooses the line, and a slot stores 16 bits of the low
// half; 0 is empty. Within a line the newest ghost is first, and a new ghost pushes out the oldest. So adding and finding
// touch one line, and a ring with a slot of 2 bytes for each key remembers about as many victims as there are keys.
//
// The size of the ring follows the number of keys by a few lines at a time (linear hashing), so no step is long. Splitting a
// line forgets the ghosts that belong to the new line; removing the last line forgets its ghosts. Lines come in segments of
// 4 KiB. Without memory for a segment the ring keeps its size.
//
// A key that was not evicted passes for a ghost with a probability of 1 in 2,000.
//
// Invariants (Validate): the slots of a line differ, and no used slot follows an empty slot. Owns its segments. Loop thread
// only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/memory/heap.h"

namespace mayfly {

class GhostRing {
 public:
  static constexpr size_t kWays = 32;  // slots of a line
  static constexpr size_t kSegmentLines = 64;
  // With this step a ring reaches its size long before the ring is full, and forgets little while growing.
  static constexpr size_t kLinesPerAdd = 8;
  static constexpr size_t kLinesMax = size_t{1} << 27;  // for 2^32 keys, more than the heap can hold

  // Off at first. Borrows `heap`.
  explicit GhostRing(Heap& heap) noexcept : heap_(heap) {}
  ~GhostRing() { Follow(false); }
  GhostRing(const GhostRing&) = delete;
  GhostRing& operator=(const GhostRing&) = delete;

  bool on() const noexcept { return on_; }
  // Turns the ring on or off; turning off forgets all ghosts and frees the memory.
  void Follow(bool on) noexcept;
  // Sets the number of victims to remember, approximately, from now on.
  void set_wanted(size_t ghosts) noexcept { wanted_ = ghosts; }

  // In the functions below, `hash` is well mixed in all bits.
  //
  // Remembers an evicted key. Adds lines or removes one line if the ring does not have the wanted size.
  // REQUIRES: on().
  void Add(uint64_t hash) noexcept;
  // Returns true if `hash` is the hash of a ghost, and forgets the ghost.
  bool Take(uint64_t hash) noexcept;

  size_t capacity() const noexcept { return lines_ * kWays; }
  // Memory of the ring.
  uint64_t bytes() const noexcept { return segments_.size() * MallocSizeClass(sizeof(Segment)); }
  bool Validate() const noexcept;

 private:
  struct alignas(64) Line {
    std::array<uint16_t, kWays> slots;
  };
  using Segment = std::array<Line, kSegmentLines>;

  static uint16_t PrintOf(uint64_t hash) noexcept {
    const auto print = static_cast<uint16_t>(hash);
    return print != 0 ? print : 1;
  }
  // The line of the hash. REQUIRES: lines_ != 0.
  Line& LineOf(uint64_t hash) const noexcept;
  Line& At(size_t line) const noexcept { return (*segments_[line / kSegmentLines])[line % kSegmentLines]; }
  // Adds a line. False if there is no memory.
  bool Grow() noexcept;
  void Shrink() noexcept;
  bool AddSegment() noexcept;

  Heap& heap_;
  bool on_ = false;
  size_t wanted_ = 0;
  size_t lines_ = 0;  // in use
  std::vector<Segment*> segments_;
};

}  // namespace mayfly
