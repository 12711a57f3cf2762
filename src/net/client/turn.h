// One turn of the loop, from the first callback after a poll until the next poll. A turn also ends when it is full
// (ServerLoop::EndFullTurn).
//
// The first callback of a turn reads the clock for all callbacks; every working callback calls Begin, at the cost of one
// test after the first call. Durations are measured with the TSC.
//
// Most turns bring nothing but reads of clients (BeginReading). If their requests are quick reads, too, nothing has changed
// that the end of a turn would have to look at: see Timekeeper::HasNothingNew. Such a turn ends with its replies. Loop thread
// only.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "base/time/tsc.h"
#include "cache/keyspace/databases.h"
#include "exec/dispatch/executor.h"
#include "exec/memory/memory_meter.h"
#include "net/socket/limits.h"
#include "server/figures/rates.h"
#include "server/figures/stats.h"

namespace mayfly::net {

class Turn {
 public:
  Turn(Server& server, Executor& executor) noexcept : server_(server), executor_(executor) {
    distance_ms_ = Distance(executor_.now());
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void Begin() noexcept {
    BeginReading();
    NoteWork();
  }
  // As Begin, for a callback that receives bytes and changes nothing else.
  void BeginReading() noexcept {
    finished_ = false;
    if (!running_) [[unlikely]]
      Start();
  }
  // Sets the function for the first callback that calls Begin after an End. Set once.
  void OnWork(std::function<void()> on_work) { on_work_ = std::move(on_work); }
  // No callback has called Begin since the last End.
  bool only_reads() const noexcept { return only_reads_; }
  // All work left by the callbacks was done. True until the next working callback.
  void SetFinished() noexcept { finished_ = true; }
  bool finished() const noexcept { return finished_; }
  // The loop is about to poll, or the turn is full. `memory_is_same`: as after the last turn.
  void End(bool memory_is_same = false) noexcept {
    only_reads_ = true;
    if (!running_) return;
    running_ = false;
    if (!memory_is_same) static_cast<void>(server_.memory.Peak());  // Peak samples the used memory
    const uint64_t us = server_.cycle_rate.ToUs(ReadCycles() - began_);
    if (us > server_.stats.loop_turn_max_us) server_.stats.loop_turn_max_us = us;
  }

  // The turn's time until `now` (ReadCycles), without what was left out. REQUIRES: Begin was called in this turn.
  uint64_t CyclesUntil(uint64_t now) const noexcept { return now - began_ - left_out_; }
  // So much of the turn's time was spent on what no client of this turn has asked for.
  void LeaveOut(uint64_t cycles) noexcept { left_out_ += cycles; }
  // Different in each turn (except for wrapping round).
  uint32_t number() const noexcept { return number_; }
  Now now() const noexcept { return executor_.now(); }
  // True once after a step of the wall clock was found.
  bool TakeStep() noexcept { return std::exchange(stepped_, false); }

 private:
  static int64_t Distance(Now now) noexcept { return now.wall_ms - static_cast<int64_t>(now.mono_ms); }

  void Start() noexcept {
    running_ = true;
    began_ = ReadCycles();
    left_out_ = 0;
    ++number_;
    ++server_.stats.loop_turns;
    const Now fresh = executor_.RefreshNow();
    server_.rates.Sample(fresh.mono_ms, RateTotals(server_.stats));
    const int64_t distance = Distance(fresh);
    const int64_t moved = distance - distance_ms_;
    distance_ms_ = distance;
    if (moved < kClockStepMs && moved > -kClockStepMs) return;
    ++server_.databases.expiry_stats().clock_steps;
    stepped_ = true;
    NoteWork();
  }

  void NoteWork() noexcept {
    if (std::exchange(only_reads_, false) && on_work_) on_work_();
  }

  Server& server_;
  Executor& executor_;
  uint64_t began_ = 0;
  uint64_t left_out_ = 0;
  int64_t distance_ms_;
  uint32_t number_ = 0;
  bool running_ = false;
  bool finished_ = false;
  bool stepped_ = false;
  bool only_reads_ = true;
  std::function<void()> on_work_;
};

}  // namespace mayfly::net
