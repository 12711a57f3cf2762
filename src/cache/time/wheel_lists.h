// The lists of a timing wheel: the heads and one occupancy bit per list. The links are in the entries.
//
// A list consists of four *strands*. Each strand is doubly linked through its entries (Hooks accesses the fields), so
// removing an entry is O(1). Following one linked list through memory in random order waits for one cache miss after
// another. Walking four strands in turn overlaps the misses.
//
// The `prev` link of a strand's head is undefined and never read: the table of heads, likely in the cache, identifies a
// head. So popping or removing a head does not touch its neighbour's memory.
//
// Invariants (Validate): the bit of a list is set iff one of its strands has a head; every entry stores its list and strand;
// `next` and `prev` links agree. Owns nothing, allocates nothing. Loop thread only.
#pragma once

#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cache/time/wheel_geometry.h"

namespace mayfly::wheel {

// The wheel's access to the fields of an entry. A small value, such as the base address of a heap; kNull is the null
// reference. The owner writes the deadline, the wheel the other fields. Slot is kUnfiled in an entry on no list.
//
// An owner stores a deadline and files the entry right after. Deadline() should therefore load in the same pieces in which
// the owner stored: the store buffer cannot forward to a wider load, and the wait doubles the cost of filing.
//
// (clang-format 14 would break every requirement into two lines.)
// clang-format off
template <typename H>
concept WheelHooks =
    std::copyable<H> && std::is_trivially_copyable_v<typename H::Ref> && sizeof(typename H::Ref) <= sizeof(uint64_t) &&
    requires(const H hooks, typename H::Ref ref, Place place) {
      { H::kNull } -> std::convertible_to<typename H::Ref>;
      { hooks.Next(ref) } noexcept -> std::same_as<typename H::Ref>;
      { hooks.Prev(ref) } noexcept -> std::same_as<typename H::Ref>;
      { hooks.SetNext(ref, ref) } noexcept;
      { hooks.SetPrev(ref, ref) } noexcept;
      { hooks.Deadline(ref) } noexcept -> std::same_as<uint64_t>;
      { hooks.Slot(ref) } noexcept -> std::same_as<Place>;
      { hooks.SetSlot(ref, place) } noexcept;
      { hooks.Prefetch(ref) } noexcept;
    };
// clang-format on

template <WheelHooks Hooks>
class WheelLists {
 public:
  using Ref = typename Hooks::Ref;
  static constexpr Ref kNull = Hooks::kNull;

  // The heads of a list's strands, or cursors into them.
  using Strands = std::array<Ref, kStrands>;

  static constexpr Strands kEmpty = [] {
    Strands empty{};
    empty.fill(kNull);
    return empty;
  }();

  explicit WheelLists(Hooks hooks) noexcept : hooks_(hooks) { heads_.fill(kEmpty); }

  const Hooks& hooks() const noexcept { return hooks_; }
  const Strands& Heads(ListId list) const noexcept { return heads_[list]; }
  bool Holds(ListId list) const noexcept { return ((occupied_[list / kSlots] >> (list % kSlots)) & 1) != 0; }
  // One bit for each slot of the level; row kLevels has one bit for each side list.
  uint64_t Occupied(int row) const noexcept { return occupied_[static_cast<size_t>(row)]; }

  // Puts `ref` at the front of its strand. Returns true if the list was empty.
  bool Push(Ref ref, ListId list) noexcept {
    const unsigned strand = StrandOf(ref);
    Ref& head = heads_[list][strand];
    const Ref old = head;
    hooks_.SetNext(ref, old);
    hooks_.SetSlot(ref, static_cast<Place>(list * kStrands + strand));
    head = ref;
    if (old != kNull) {
      hooks_.SetPrev(old, ref);
      return false;
    }
    uint64_t& row = occupied_[list / kSlots];
    const uint64_t before = row;
    row |= BitOf(list);
    return row != before;
  }

  // Removes `ref` from its list.
  // REQUIRES: `ref` is on a list.
  void Unlink(Ref ref) noexcept {
    const Place place = hooks_.Slot(ref);
    assert(place < kLists * kStrands);
    const Ref next = hooks_.Next(ref);
    hooks_.SetSlot(ref, kUnfiled);
    Ref& head = heads_[ListOf(place)][place % kStrands];
    if (head == ref) {
      head = next;
      if (next == kNull) MarkIfEmpty(ListOf(place));
      return;
    }
    const Ref prev = hooks_.Prev(ref);
    hooks_.SetNext(prev, next);
    if (next != kNull) hooks_.SetPrev(next, prev);
  }

  // Drops all entries before `cursors`, one for each strand. A cursor of kNull drops the whole strand.
  void CutTo(ListId list, const Strands& cursors) noexcept {
    heads_[list] = cursors;
    MarkIfEmpty(list);
  }

  // Calls fn(ref) -> bool for each entry of `list` until fn returns false. Returns false if fn did.
  template <typename Fn>
  bool ForEach(ListId list, Fn fn) const {
    for (Ref ref : heads_[list]) {
      for (Ref next; ref != kNull; ref = next) {
        next = hooks_.Next(ref);
        if (next != kNull) hooks_.Prefetch(next);
        if (!fn(ref)) return false;
      }
    }
    return true;
  }

  // The number of entries on `list`; SIZE_MAX if an invariant is broken or there are more than `most`.
  size_t Validate(ListId list, size_t most) const noexcept {
    size_t count = 0;
    for (size_t strand = 0; strand < kStrands; ++strand) {
      Ref prev = kNull;
      for (Ref ref = heads_[list][strand]; ref != kNull; prev = ref, ref = hooks_.Next(ref)) {
        if (++count > most || hooks_.Slot(ref) != list * kStrands + strand) return SIZE_MAX;
        if (prev != kNull && hooks_.Prev(ref) != prev) return SIZE_MAX;
      }
    }
    return Holds(list) == (count != 0) ? count : SIZE_MAX;
  }

 private:
  static constexpr uint64_t BitOf(ListId list) noexcept { return uint64_t{1} << (list % kSlots); }

  // Spreads the entries over the strands by their addresses. (A counter would also do, but costs one more store per filing,
  // and the number of outstanding stores limits how many filings overlap.)
  static unsigned StrandOf(Ref ref) noexcept {
    uint64_t bits = 0;
    std::memcpy(&bits, &ref, sizeof ref);
    return static_cast<unsigned>((bits * 0x9E3779B97F4A7C15) >> 32) % kStrands;
  }

  void MarkIfEmpty(ListId list) noexcept {
    bool empty = true;
    for (const Ref head : heads_[list]) empty &= head == kNull;
    if (empty) occupied_[list / kSlots] &= ~BitOf(list);
  }

  Hooks hooks_;
  std::array<uint64_t, kLevels + 1> occupied_{};
  std::array<Strands, kLists> heads_;
};

}  // namespace mayfly::wheel
