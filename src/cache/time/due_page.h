// A page of the keys that expire soon, read from the lists of the timing wheels (Deadlines::FillPage).
//
// The lists go by the time by which they must be empty (`by` in timing_wheel.h), nearest first, those of both wheels
// together. A page takes one list after another, each as a whole, until it would have looked at too many entries.
// The cursor is the `by` of the first list that was not looked at, in monotonic ms.
//
//   mono   [ by 5 ][ by 9 ][ by 64 .............. ][ by 4096 ....          cursor 64: all lists with by < 64
//   wall        [ by 7 ]      [ by 64 ....... ]                            have been looked at
//
// Guarantee. An entry that expires within the time asked for during the whole iteration, and whose deadline does not
// move, is in one of the pages; it may be in several. For of an entry that was in no page yet, two things are true
// whenever the cursor is C: it is due at C or later, and its list has `by` >= C or can hold a deadline that is at C or
// later (`last` >= C). They hold at first, when C is 0. A page takes all lists with `last` >= C and `by` below its new
// cursor D, so an entry that it leaves out is in a list with `by` >= D, and no entry is due before its list's `by`.
// Between pages, the list of such an entry changes only if it is filed anew: by its deadline, into a list whose `last`
// is at or after that. So a page has to look again at lists with `by` < C; there is at most one for each level that
// has one, and a side list.
//
// The guarantee would not survive some rare events, so FillPage gives up then, and the caller walks the hash table,
// which has the same guarantee (Keyspace::Scan):
//   - A single list has more entries than a page may look at. A walk cannot go on in the middle of a list: its
//     entries come and go on both sides, and no entry has a position.
//   - The wall clock was set since the last page: lists of the wall wheel have another `by` now. The cursor has the
//     low bits of the number of these steps.
//   - Some entry has two times (cache/entry/entry.h), and is filed by the other one: a key with a TTL, and with members that
//     have one. As long as there are such entries, only a page that holds everything is given.
// If a table has many keys of which few expire soon, none of this happens with a page of reasonable size.
#pragma once

#include <cstdint>
#include <vector>

namespace mayfly {

class Entry;

struct DuePage {
  // A cursor of the table is below 2^53; one of these has this bit, the step of the wall clock, and the time.
  static constexpr uint64_t kMark = uint64_t{1} << 62;
  static constexpr unsigned kStepBits = 8;
  static constexpr unsigned kTimeBits = 62 - kStepBits;
  static constexpr uint64_t kLatest = (uint64_t{1} << kTimeBits) - 1;

  static uint64_t CursorAt(uint64_t mono_ms, uint32_t step) noexcept {
    return kMark | uint64_t{step % (1U << kStepBits)} << kTimeBits | mono_ms;
  }
  // Whether a cursor is one of a page. Any value is safe.
  static bool Owns(uint64_t cursor) noexcept { return (cursor & kMark) != 0; }
  static uint64_t TimeOf(uint64_t cursor) noexcept { return cursor & kLatest; }
  static bool HasStep(uint64_t cursor, uint32_t step) noexcept {
    return cursor >> kTimeBits == CursorAt(0, step) >> kTimeBits;
  }

  uint64_t cursor = 0;
  std::vector<const Entry*> entries = {};
};

}  // namespace mayfly
