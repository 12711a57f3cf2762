// Moves the entries of an old segment into new ones: the common part of growing, shrinking, splitting and
// merging.
//
// If group and tag determine the new group (nearly always when a segment grows, shrinks or merges), the relay does not read
// the entry. The relay hashes other entries again (all entries of a split, and displaced entries): it prefetches them and
// puts them into a small ring meanwhile, so that their cache misses overlap.
//
// The relay only reads the old segment. Run() returns false if there is no memory for a stash. Then the new segments are
// incomplete and the caller frees them; the table is unchanged. Loop thread only.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "cache/table/table_layout.h"
#include "cache/table/table_segment.h"

namespace mayfly {

template <typename Policy>
class TableRelay {
 public:
  using Ref = typename Policy::Ref;
  using Segment = TableSegment<Policy>;
  using Group = typename Segment::Group;
  using Memory = TableMemory<Policy>;

  // If the new segments are one bit deeper, `low` and `high` are the two halves; else both are the single new segment. If
  // the new segment is one bit less deep, `side` is the last bit of the old prefix: the half of the new segment for the
  // moved entries. Otherwise `side` is ignored.
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
  static constexpr uint32_t kWindow = 16;  // About as many cache misses as a core has in flight.

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

  // Returns the same range of offsets in the new segment; an unknown range if the offsets do not agree on the tag.
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
    const uint64_t hash = memory_.OrderedHashOf(ref);
    const bool upper = (hash << from_.depth() >> 63) != 0;
    return (upper ? high_ : low_).Place(memory_, ref, hash);
  }

  Memory& memory_;
  const Segment from_;
  const Segment low_;
  const Segment high_;
  const uint32_t side_;
  std::array<Ref, kWindow> waiting_{};
  uint32_t first_ = 0;  // Indices into the ring; both only rise and wrap.
  uint32_t last_ = 0;
};

}  // namespace mayfly
