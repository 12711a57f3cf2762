// Moves the entries of one old segment into new ones: the step behind growing, shrinking, splitting and
// merging.
//
// Where group and tag tell the new group (nearly always when a segment grows, shrinks or merges) the entry
// itself is not touched. The others (all of a split, displaced ones) must be hashed again: they are
// prefetched and wait in a small ring meanwhile, so that their cache misses overlap.
//
// The old segment is only read. When memory for a stash runs out, Run() is false and the new ones are half
// filled: the caller frees them and nothing has happened. Loop thread only.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "cache/table_layout.h"
#include "cache/table_segment.h"

namespace mayfly {

template <typename Policy>
class TableRelay {
 public:
  using Ref = typename Policy::Ref;
  using Segment = TableSegment<Policy>;
  using Group = typename Segment::Group;
  using Memory = TableMemory<Policy>;

  // When the new segments are one bit deeper, `low` and `high` are the two halves; else both are the one new
  // segment. `side` counts when that is one bit less deep: the old prefix's last bit, which half of the new
  // one it fills.
  TableRelay(Memory& memory, Segment from, Segment low, Segment high, uint32_t side) noexcept
      : memory_(memory), from_(from), low_(low), high_(high), side_(side) {}

  [[nodiscard]] bool Run() noexcept {
    const auto& header = from_.header();
    for (uint32_t i = 0; i < from_.group_count(); ++i) {
      if (!MoveGroup(i)) return false;
    }
    for (uint32_t i = 0; i < header.stash_count; ++i) {
      if (!HashLater(header.stash[i / Group::kSlots].refs[i % Group::kSlots])) return false;
    }
    for (; first_ != last_; ++first_) {
      if (!PlaceHashed(waiting_[first_ % kWindow])) return false;
    }
    return true;
  }

 private:
  static constexpr uint32_t kWindow = 16;  // About as many cache misses as a core keeps in flight.

  bool MoveGroup(uint32_t index) noexcept {
    const Group& group = from_.groups()[index];
    const uint32_t first = FirstOffsetOf(index, from_.group_count());
    const uint32_t end = FirstOffsetOf(index + 1, from_.group_count());
    for (uint32_t slots = group.UsedSlots(); slots != 0; slots &= slots - 1) {
      const auto slot = static_cast<uint32_t>(std::countr_zero(slots));
      OffsetRange range;
      if (!group.IsDisplaced(slot)) range = Translated(OffsetsOf(first, end, group.tags[slot]));
      const uint32_t home = GroupOf(range.low, low_.group_count());
      const bool certain = range.known && home == GroupOf(range.high, low_.group_count());
      const bool done = certain ? low_.PlaceAt(memory_, home, TagOf(range.low), group.refs[slot])
                                : HashLater(group.refs[slot]);
      if (!done) return false;
    }
    return true;
  }

  // The same range as the new segment sees it; unknown when that does not tell the tag.
  OffsetRange Translated(OffsetRange range) const noexcept {
    if (low_.depth() > from_.depth()) return {};
    if (low_.depth() == from_.depth()) return range;
    const uint32_t top = side_ << (kOffsetBits - 1);
    range = {top | range.low >> 1, top | range.high >> 1, range.known};
    range.known = range.known && TagOf(range.low) == TagOf(range.high);
    return range;
  }

  bool HashLater(Ref ref) noexcept {
    memory_.policy().Prefetch(ref);
    if (last_ - first_ == kWindow && !PlaceHashed(waiting_[first_++ % kWindow])) return false;
    waiting_[last_++ % kWindow] = ref;
    return true;
  }

  bool PlaceHashed(Ref ref) noexcept {
    const uint64_t hash = memory_.policy().HashOf(ref);
    const bool upper = (hash << from_.depth() >> 63) != 0;
    return (upper ? high_ : low_).Place(memory_, ref, hash);
  }

  Memory& memory_;
  const Segment from_;
  const Segment low_;
  const Segment high_;
  const uint32_t side_;
  std::array<Ref, kWindow> waiting_{};
  uint32_t first_ = 0;  // Of the ring; both run on and wrap.
  uint32_t last_ = 0;
};

}  // namespace mayfly
