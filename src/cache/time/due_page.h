// A page of the keys that expire soon, read from the lists of the timing wheels (Deadlines::FillPage).
//
// The pages go through the lists of both wheels in the order of the time by which a list must be empty (`by` in
// timing_wheel.h), nearest first. A page takes one whole list after another, until the next list would exceed the page's
// limit on entries. The cursor is the `by` of the first list after the page, in monotonic ms.
//
//   mono   [ by 5 ][ by 9 ][ by 64 .............. ][ by 4096 ....          cursor 64: all lists with by < 64
//   wall        [ by 7 ]      [ by 64 ....... ]                            have been looked at
//
// Guarantee. Take an entry that expires within the requested time during the whole iteration, and whose deadline does not
// move. Then one of the pages contains the entry, perhaps several do. Proof: as long as no page has contained the entry, two
// facts hold at every cursor C. The entry is due at C or later; and its list has `by` >= C, or can hold a deadline at C or
// later (`last` >= C). Both facts hold at first, with C = 0. A page takes all lists with `last` >= C and with `by` below its
// new cursor D. So an entry outside the page is in a list with `by` >= D, and no entry is due before its list's `by`.
// Between pages, the list of an entry changes only when the wheel files the entry anew: by its deadline, into a list whose
// `last` is at or after the deadline. So a page has to look again at lists with `by` < C and `last` >= C: on each level at
// most one such list, and a side list.
//
// Some rare events would break the guarantee. Then FillPage gives up, and the caller walks the hash table with the same
// guarantee (Keyspace::Scan):
//   - A single list has more entries than a page may look at. A walk cannot go on in the middle of a list: entries come and
//   go on both sides, and no entry has a position.
//   - The wall clock was set since the last page: lists of the wall wheel have another `by` now. The cursor contains the low
//   bits of the number of steps.
//   - Some entry has two times (cache/entry/entry.h), and is filed by its own time: a key with a TTL whose members have a
//   TTL, too. While such entries exist, FillPage gives a page only if the page holds everything.
// If a table has many keys and few of them expire soon, a page of reasonable size meets none of these events.
#pragma once

#include <cstdint>
#include <vector>

namespace mayfly {

class Entry;

struct DuePage {
  // A cursor of the table is below 2^53; a cursor of a page has the bit kMark, the step of the wall clock, and the time.
  static constexpr uint64_t kMark = uint64_t{1} << 62;
  static constexpr unsigned kStepBits = 8;
  static constexpr unsigned kTimeBits = 62 - kStepBits;
  static constexpr uint64_t kLatest = (uint64_t{1} << kTimeBits) - 1;

  static uint64_t CursorAt(uint64_t mono_ms, uint32_t step) noexcept {
    return kMark | uint64_t{step % (1U << kStepBits)} << kTimeBits | mono_ms;
  }
  // Returns true if the cursor belongs to a page. Any value is safe.
  static bool Owns(uint64_t cursor) noexcept { return (cursor & kMark) != 0; }
  static uint64_t TimeOf(uint64_t cursor) noexcept { return cursor & kLatest; }
  static bool HasStep(uint64_t cursor, uint32_t step) noexcept {
    return cursor >> kTimeBits == CursorAt(0, step) >> kTimeBits;
  }

  uint64_t cursor = 0;
  std::vector<const Entry*> entries = {};
};

}  // namespace mayfly
