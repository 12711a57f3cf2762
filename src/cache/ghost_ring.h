// Ghosts: the hashes of keys that were evicted not long ago. For S3-FIFO (cache/s3fifo_evictor.h): a key that
// comes back while its ghost is here is used again and again, only not often enough.
//
// Shape: cache lines with 16 slots each; a slot is 32 bits of a hash, 0 is empty. The low bits of the slot choose
// the line. Within a line the newest is first, and pushes out the oldest. So adding and finding touch one line,
// and a ring with a slot for each key remembers about as many victims as there are keys.
//
// The ring follows the number of keys by one line at a time (linear hashing): a new line takes from the line that
// it is split from what belongs to it, and the last line goes with its ghosts. So no step is long. Lines come in
// segments of 4 KiB. If there is no memory for one, the ring stays as it is.
//
// A key that was not evicted is taken for a ghost with a probability of lines / 2^28.
//
// Invariants (Validate): each hash is in its line, once, and no slot follows an empty one. Owns its segments. Loop
// thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/heap.h"

namespace mayfly {

class GhostRing {
 public:
  static constexpr size_t kWays = 16;  // slots of a line
  static constexpr size_t kSegmentLines = 64;
  // Enough for 2^28 keys; with more lines, too few bits of a slot would tell hashes apart.
  static constexpr size_t kLinesMax = size_t{1} << 24;

  // Off at first. Borrows `heap`.
  explicit GhostRing(Heap& heap) noexcept : heap_(heap) {}
  ~GhostRing() { Follow(false); }
  GhostRing(const GhostRing&) = delete;
  GhostRing& operator=(const GhostRing&) = delete;

  bool on() const noexcept { return on_; }
  // Turns it on or off, where it forgets all and frees its memory.
  void Follow(bool on) noexcept;
  // From now on it is to remember about as many victims as that.
  void set_wanted(size_t ghosts) noexcept { wanted_ = ghosts; }

  // In the functions below, `hash` is well mixed in all bits.
  //
  // A key was evicted. Adds or removes a line if the ring has not the wanted size.
  // REQUIRES: on().
  void Add(uint64_t hash) noexcept;
  // Whether this is the hash of a ghost, which is forgotten then.
  bool Take(uint64_t hash) noexcept;

  size_t capacity() const noexcept { return lines_ * kWays; }
  // Memory of the ring.
  uint64_t bytes() const noexcept { return segments_.size() * Heap::SizeClass(sizeof(Segment)); }
  bool Validate() const noexcept;

 private:
  struct alignas(64) Line {
    std::array<uint32_t, kWays> slots;
  };
  using Segment = std::array<Line, kSegmentLines>;

  static uint32_t PrintOf(uint64_t hash) noexcept {
    constexpr unsigned kHalf = 32;
    const auto print = static_cast<uint32_t>(hash >> kHalf);
    return print != 0 ? print : 1;
  }
  // REQUIRES: lines_ != 0.
  size_t LineOf(uint32_t print) const noexcept;
  Line& At(size_t line) const noexcept { return (*segments_[line / kSegmentLines])[line % kSegmentLines]; }
  void Grow() noexcept;
  void Shrink() noexcept;
  bool AddSegment() noexcept;

  Heap& heap_;
  bool on_ = false;
  size_t wanted_ = 0;
  size_t lines_ = 0;  // in use
  std::vector<Segment*> segments_;
};

}  // namespace mayfly
