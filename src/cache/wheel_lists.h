// The lists of a timing wheel: heads, one occupancy bit per list, and the links inside the entries.
//
// Lists are doubly linked through the entries (Hooks reaches the fields), so that taking one out is O(1)
// wherever it is. The previous-link of a head means nothing and is never read: the head is recognised by the
// head table, which is in the cache, and so popping or removing a head does not touch its neighbour's memory.
//
// Invariants (Validate): the bit of a list is set iff it has a head; every entry names the list that it is
// on; links agree both ways. Owns nothing, allocates nothing. Loop thread only.
#pragma once

#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cache/wheel_geometry.h"

namespace mayfly::wheel {

// How the wheel reaches the fields inside an entry. A small value (say, a heap's base); kNull names no entry.
// Deadline belongs to the owner, the other fields to the wheel; Slot reads kUnfiled in an entry that is on no
// list.
template <typename H>
concept WheelHooks = std::copyable<H> && std::is_trivially_copyable_v<typename H::Ref> &&
    requires(const H hooks, typename H::Ref ref, ListId list) {
  { H::kNull } -> std::convertible_to<typename H::Ref>;
  { hooks.Next(ref) }
  noexcept->std::same_as<typename H::Ref>;
  { hooks.Prev(ref) }
  noexcept->std::same_as<typename H::Ref>;
  { hooks.SetNext(ref, ref) }
  noexcept;
  { hooks.SetPrev(ref, ref) }
  noexcept;
  { hooks.Deadline(ref) }
  noexcept->std::same_as<uint64_t>;
  { hooks.Slot(ref) }
  noexcept->std::same_as<ListId>;
  { hooks.SetSlot(ref, list) }
  noexcept;
  { hooks.Prefetch(ref) }
  noexcept;
};

template <WheelHooks Hooks>
class WheelLists {
 public:
  using Ref = typename Hooks::Ref;
  static constexpr Ref kNull = Hooks::kNull;

  explicit WheelLists(Hooks hooks) noexcept : hooks_(hooks) { heads_.fill(kNull); }

  const Hooks& hooks() const noexcept { return hooks_; }
  Ref Head(ListId list) const noexcept { return heads_[list]; }
  bool Holds(ListId list) const noexcept { return ((occupied_[list / kSlots] >> (list % kSlots)) & 1) != 0; }
  // One bit per slot of the level; of row kLevels, one bit per side list.
  uint64_t Occupied(int row) const noexcept { return occupied_[static_cast<size_t>(row)]; }

  // Puts `ref` in front; true when the list was empty before.
  bool Push(Ref ref, ListId list) noexcept {
    const Ref old = heads_[list];
    hooks_.SetNext(ref, old);
    hooks_.SetSlot(ref, list);
    heads_[list] = ref;
    if (old != kNull) {
      hooks_.SetPrev(old, ref);
      return false;
    }
    occupied_[list / kSlots] |= BitOf(list);
    return true;
  }

  // Takes `ref` off its list. REQUIRES: it is on one.
  void Unlink(Ref ref) noexcept {
    const ListId list = hooks_.Slot(ref);
    assert(list < kLists);
    const Ref next = hooks_.Next(ref);
    hooks_.SetSlot(ref, kUnfiled);
    if (heads_[list] == ref) return CutTo(list, next);
    const Ref prev = hooks_.Prev(ref);
    hooks_.SetNext(prev, next);
    if (next != kNull) hooks_.SetPrev(next, prev);
  }

  // Lets go of everything before `head`, an entry further down the same list, or of the whole list for kNull.
  void CutTo(ListId list, Ref head) noexcept {
    heads_[list] = head;
    if (head == kNull) occupied_[list / kSlots] &= ~BitOf(list);
  }

  // The number of entries on `list`, or SIZE_MAX where an invariant is broken or more than `most` are found.
  size_t Validate(ListId list, size_t most) const noexcept {
    if (Holds(list) != (heads_[list] != kNull)) return SIZE_MAX;
    size_t count = 0;
    Ref prev = kNull;
    for (Ref ref = heads_[list]; ref != kNull; prev = ref, ref = hooks_.Next(ref)) {
      if (++count > most || hooks_.Slot(ref) != list) return SIZE_MAX;
      if (prev != kNull && hooks_.Prev(ref) != prev) return SIZE_MAX;
    }
    return count;
  }

 private:
  static constexpr uint64_t BitOf(ListId list) noexcept { return uint64_t{1} << (list % kSlots); }

  Hooks hooks_;
  std::array<uint64_t, kLevels + 1> occupied_{};
  std::array<Ref, kLists> heads_;
};

}  // namespace mayfly::wheel
