// Moves entries out of mostly free pages, to give the pages back. Values that change their sizes for hours would else
// leave holes of yesterday's sizes.
//
//   kResting --much was freed and allocated (NoteChurn)--> kLooking --a second later--> is a good part unused?
//      ^                                                                                   | yes: a pass begins
//      |  no, or a pass has moved little                                                   v
//      +------------------------------------------------------ looks again <--- kMoving: through all keys in slices,
//                                                                               with pauses in between
//
// After a pass that was of no use it rests for kFutileMs: what lies in those pages cannot be moved, or as much is freed beside it.
//
// Slices and pauses: the processor's time that a pass takes is between active-defrag-cycle-min and -max percent, the more
// the larger the unused part is, from -threshold-lower to -upper; as in Redis. A slice is kSliceUs long, and shares the loop's with
// other sliced work. Entries alone are moved, with the texts that lie in them, which is nearly all that the heap of entries
// holds. Rich values and texts above 16 KB (cache/entry/entry.h) are the general allocator's.
//
// Moves are no changes: no listener hears of them, and no order of keys is another one. While a script has been running
// for too long, nothing moves. Loop thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/memory/heap.h"
#include "base/time/clock.h"
#include "server/hubs/alarms.h"
#include "server/sliced_work.h"

namespace mayfly {

struct Server;

class Defragmenter final : private SlicedWork::Step, private Alarms::Alarm {
 public:
  static constexpr uint64_t kNever = UINT64_MAX;
  // From a churn to the look at it: what is about to be filled again, or freed, then is.
  static constexpr uint64_t kLookMs = 1000;
  static constexpr uint64_t kSliceUs = 250;
  // While keys move, how much is unused is looked at so often.
  static constexpr uint64_t kLookAgainMs = 250;
  // A pass that has moved less than this part of the entries that it saw is the last one.
  static constexpr size_t kLeastMovedPart = 100;
  static constexpr uint64_t kFutileMs = 10'000;

  // Borrows the server, whose options may change as long as this lives, and not after.
  explicit Defragmenter(Server& server);

  // Megabytes went through the allocator since the last call.
  void NoteChurn(Now now) noexcept {
    if (state_ != State::kResting) return;
    state_ = State::kLooking;
    wake_mono_ms_ = std::max(now.mono_ms + kLookMs, rests_until_mono_ms_);
  }
  uint64_t NextWake() const noexcept override { return wake_mono_ms_; }
  void OnWake(Now now, Log* log) noexcept override;
  bool moves() const noexcept { return state_ == State::kMoving; }

 private:
  enum class State : uint8_t { kResting, kLooking, kMoving };

  bool DoSome(Now now, size_t budget) noexcept override;
  // Looks how much is unused. Returns which part of the processor's time that is worth, in percent.
  unsigned Measure() noexcept;
  void SetPercent(Now now, unsigned percent) noexcept;
  void Begin(Now now, unsigned percent) noexcept;
  // False if nothing is to be moved now.
  bool BeginSlice(Now now) noexcept;
  void EndPass(Now now) noexcept;
  void Rest() noexcept;
  // Goes through about `budget` entries. True if all were seen.
  bool Walk(Now now, size_t budget) noexcept;
  // Ends the slice, and counts its time.
  void Pause(Now now) noexcept;

  Server& server_;
  State state_ = State::kResting;
  uint64_t wake_mono_ms_ = kNever;
  uint64_t rests_until_mono_ms_ = 0;
  unsigned percent_ = 0;  // of the processor's time
  uint64_t looked_mono_ms_ = 0;
  uint64_t unused_bytes_ = 0;         // when it was looked at last
  uint64_t unused_before_bytes_ = 0;  // when the pass began
  uint64_t slice_began_ = 0;          // TSC; 0: no slice is under way
  uint64_t spent_cycles_ = 0;         // since moving began
  unsigned database_ = 0;             // where the pass is
  uint64_t cursor_ = 0;
  size_t pass_looked_ = 0;
  size_t pass_moved_ = 0;
};

}  // namespace mayfly
