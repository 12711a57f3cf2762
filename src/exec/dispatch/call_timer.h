// Times calls, for INFO's commandstats and latencystats. Lives on the stack of whoever makes the calls, so calls
// may be nested: the time of the outer one includes that of the inner ones, as in Redis.
//
// Consecutive calls of one row may be recorded together. Reading the cycle counter costs a tenth of a GET. Loop
// thread only.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <new>

#include "base/histogram.h"
#include "base/tsc.h"
#include "exec/dispatch/command_table.h"
#include "server/stats.h"

namespace mayfly {

class CallTimer {
 public:
  // `track_latency`: a row that has no histogram gets one with its first call. It is recorded from the next
  // call on; a row that is never called needs none.
  CallTimer(Stats& stats, bool track_latency) noexcept : stats_(stats), track_latency_(track_latency) {}
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;

  // The time from now on is that of the next call.
  void Restart() noexcept { began_ = ReadCycles(); }
  // The row of the calls that ran and were not recorded yet; null: there are none.
  const TableRow* row() const noexcept { return row_; }
  // One call of `row` has run.
  // REQUIRES: row() is null or this row.
  void Count(const TableRow& row) noexcept {
    assert(row_ == nullptr || row_ == &row);
    row_ = &row;
    ++calls_;
  }
  // Adds the time since the last Record or Restart to the calls since then. Returns the cycle counter, or the
  // value of the last time if there was nothing to record.
  uint64_t Record() noexcept {
    if (row_ == nullptr) return began_;
    const uint64_t ended = ReadCycles();
    const uint64_t cycles = ended - began_;
    row_->calls.calls += calls_;
    stats_.commands_processed += calls_;
    row_->calls.cycles += cycles;
    if (Histogram* latency = row_->latency.get(); latency != nullptr) [[likely]]
      latency->Add(calls_ == 1 ? cycles : cycles / calls_, calls_);
    else if (track_latency_)
      row_->latency.reset(new (std::nothrow) Histogram);
    began_ = ended;
    row_ = nullptr;
    calls_ = 0;
    return ended;
  }

 private:
  Stats& stats_;
  const bool track_latency_;
  uint64_t began_ = ReadCycles();
  const TableRow* row_ = nullptr;
  uint64_t calls_ = 0;
};

}  // namespace mayfly
