// Times calls, alone or in groups, for INFO's commandstats and latencystats. A CallTimer lives on the stack of the calling
// code, so calls may be nested: the time of an outer call includes the time of inner calls, as in Redis.
//
// Consecutive calls of one row may be recorded together, as a group. Reading the cycle counter costs a tenth of a GET. Loop
// thread only.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <new>

#include "base/time/histogram.h"
#include "base/time/tsc.h"
#include "exec/call/command_table.h"
#include "server/figures/stats.h"

namespace mayfly {

class CallTimer {
 public:
  // The calls of one Record.
  struct Group {
    const TableRow* row;  // null: no calls
    uint64_t calls;
    uint64_t cycles;  // of all calls together
    uint64_t ended;   // the cycle counter after the last call
  };

  // While `track_latency` is true, a row without a histogram gets a histogram with its first call. Borrows both arguments.
  CallTimer(Stats& stats, const bool& track_latency) noexcept
      : stats_(stats), track_latency_(track_latency) {}
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;

  // The time of the next call begins now.
  void Restart() noexcept { began_ = ReadCycles(); }
  // The row of the calls that ran and were not recorded yet; null: no such calls.
  const TableRow* row() const noexcept { return row_; }
  // One call of `row` has run.
  // REQUIRES: row() is null or this row.
  void Count(const TableRow& row) noexcept {
    assert(row_ == nullptr || row_ == &row);
    row_ = &row;
    ++calls_;
  }
  // Adds the time since the last Record or Restart to the calls since then. Without calls, `ended` is the previous value.
  [[gnu::always_inline]] Group Record() noexcept {
    if (row_ == nullptr) return {nullptr, 0, 0, began_};
    const uint64_t ended = ReadCycles();
    const Group group = {row_, calls_, ended - began_, ended};
    row_->calls.calls += calls_;
    stats_.commands_processed += calls_;
    row_->calls.cycles += group.cycles;
    AddLatency(*row_, calls_ == 1 ? group.cycles : group.cycles / calls_, calls_);
    began_ = ended;
    row_ = nullptr;
    calls_ = 0;
    return group;
  }
  // Adds the time since the last Record or Restart to one call of `row`. A call whose client has to wait runs in several
  // pieces: the piece that `begins` counts the call, and the histogram gets the time of the piece that `ends` the call.
  // REQUIRES: row() is null.
  Group RecordOne(const TableRow& row, bool begins, bool ends) noexcept {
    assert(row_ == nullptr);
    const uint64_t ended = ReadCycles();
    const Group group = {&row, 1, ended - began_, ended};
    if (begins) {
      ++row.calls.calls;
      ++stats_.commands_processed;
    }
    row.calls.cycles += group.cycles;
    if (ends) AddLatency(row, group.cycles, 1);
    began_ = ended;
    return group;
  }

 private:
  [[gnu::always_inline]] void AddLatency(const TableRow& row, uint64_t cycles, uint64_t calls) noexcept {
    Histogram* const latency = row.latency.get();
    if (latency != nullptr) [[likely]]
      return latency->Add(cycles, calls);
    if (track_latency_) AddFirst(row, cycles, calls);
  }
  // Without memory the row gets no histogram.
  [[gnu::noinline, gnu::cold]] static void AddFirst(const TableRow& row, uint64_t cycles,
                                                    uint64_t calls) noexcept {
    row.latency.reset(new (std::nothrow) Histogram);
    if (row.latency != nullptr) row.latency->Add(cycles, calls);
  }

  Stats& stats_;
  const bool& track_latency_;
  uint64_t began_ = ReadCycles();
  const TableRow* row_ = nullptr;
  uint64_t calls_ = 0;
};

}  // namespace mayfly
