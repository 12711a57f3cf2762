// The lists of a timing wheel: heads, one occupancy bit per list, and the links inside the entries.
//
// A list is four *strands*, each doubly linked through the entries (Hooks reaches the fields), so that taking
// an entry out is O(1) wherever it is. Following links from entry to entry through memory in random order
// waits for one cache miss after the other; with four strands in turn, three of those waits go on meanwhile.
// The previous-link of a head means nothing and is never read: the head is recognised by the head table,
// which is in the cache, and so popping or removing a head does not touch its neighbour's memory.
//
// Invariants (Validate): the bit of a list is set iff one of its strands has a head; every entry names the
// strand that it is on; links agree both ways. Owns nothing, allocates nothing. Loop thread only.
#pragma once

#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cache/wheel_geometry.h"

namespace mayfly::wheel {

// How the wheel reaches the fields inside an entry. A small value (say, a heap's base); kNull names no entry.
// Deadline belongs to the owner, the other fields to the wheel; Slot reads kUnfiled in an entry that is on no
// list. An owner stores a deadline and files the entry at once, so Deadline should load in the same pieces in
// which the owner stores: a wider load waits until the stores have reached the cache, which doubles the cost
// of filing. (The formatter of version 14 would break every requirement in two.)
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

  // The heads of a list's strands, or cursors on them.
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
  // One bit per slot of the level; of row kLevels, one bit per side list.
  uint64_t Occupied(int row) const noexcept { return occupied_[static_cast<size_t>(row)]; }

  // Puts `ref` in front of its strand; true when the list was empty before.
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

  // Takes `ref` off its list. REQUIRES: it is on one.
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

  // Lets go of everything before `cursors`, each of them further down its strand, or kNull for all of it.
  void CutTo(ListId list, const Strands& cursors) noexcept {
    heads_[list] = cursors;
    MarkIfEmpty(list);
  }

  // Calls fn(ref) -> bool for everything on `list` until it returns false; whether it went through.
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

  // The number of entries on `list`, or SIZE_MAX where an invariant is broken or more than `most` are found.
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

  // Spreads the entries over the strands by their addresses. (A counter would do too, but it is one more
  // store per filing, and it is the stores under way that bound how many filings overlap.)
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
