// Moves entries out of mostly free pages, to give the pages back. Without moves, values with changing sizes would for hours
// leave holes of yesterday's sizes.
//
//   kResting --much was freed and allocated (NoteChurn)--> kLooking --a second later--> is a good part unused?
//      ^                                                                                   | yes: a pass begins
//      |  no, or a pass has moved little                                                   v
//      +------------------------------------------------------ looks again <--- kMoving: through all keys in slices,
//                                                                               with pauses in between
//
// After a useless pass the defragmenter rests for kFutileMs: the rest of those pages cannot be moved, or other entries are
// freed as fast.
//
// Slices and pauses: a pass takes between active-defrag-cycle-min and -max percent of the processor's time, more for a
// larger unused part, from -threshold-lower to -upper; as in Redis. A slice lasts kSliceUs, and shares the loop's slice with
// other sliced work. Only entries are moved, with the texts inside: nearly the whole heap of entries. Rich values and texts
// above 16 KB (cache/entry/entry.h) belong to the general allocator.
//
// Moves are no changes: no listener hears of a move, and the order of keys stays. While a script has been running for too
// long, nothing moves. Loop thread only.
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
  // From a churn to the measurement: memory about to be filled again, or freed, has changed by then.
  static constexpr uint64_t kLookMs = 1000;
  static constexpr uint64_t kSliceUs = 250;
  // The time between two measurements of unused memory while keys move.
  static constexpr uint64_t kLookAgainMs = 250;
  // A pass is the last if it has moved less than this part of the entries seen.
  static constexpr size_t kLeastMovedPart = 100;
  static constexpr uint64_t kFutileMs = 10'000;

  // Borrows the server. The server's options may change as long as this lives, and not after.
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
  // Measures the unused memory. Returns the share of the processor's time worth spending, in percent.
  unsigned Measure() noexcept;
  void SetPercent(Now now, unsigned percent) noexcept;
  void Begin(Now now, unsigned percent) noexcept;
  // False if there is nothing to move now.
  bool BeginSlice(Now now) noexcept;
  void EndPass(Now now) noexcept;
  void Rest() noexcept;
  // Visits about `budget` entries. True if all entries were seen.
  bool Walk(Now now, size_t budget) noexcept;
  // Ends the slice, and counts its time.
  void Pause(Now now) noexcept;

  Server& server_;
  State state_ = State::kResting;
  uint64_t wake_mono_ms_ = kNever;
  uint64_t rests_until_mono_ms_ = 0;
  unsigned percent_ = 0;  // of the processor's time
  uint64_t looked_mono_ms_ = 0;
  uint64_t unused_bytes_ = 0;         // at the last measurement
  uint64_t unused_before_bytes_ = 0;  // at the begin of the pass
  uint64_t slice_began_ = 0;          // TSC; 0: no slice runs
  uint64_t spent_cycles_ = 0;         // since the moves began
  unsigned database_ = 0;             // the pass's place
  uint64_t cursor_ = 0;
  size_t pass_looked_ = 0;
  size_t pass_moved_ = 0;
};

}  // namespace mayfly
