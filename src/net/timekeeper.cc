#include "net/timekeeper.h"

#include <algorithm>

#include "base/log/log.h"
#include "cache/keyspace/databases.h"
#include "exec/memory/memory_watch.h"
#include "exec/memory/resident_guard.h"
#include "server/figures/latency_monitor.h"
#include "server/figures/stats.h"
#include "server/hubs/hubs.h"
#include "server/waiting/leases.h"
#include "server/waiting/parking.h"
#include "server/watch/event_log.h"
#include "server/watch/tracking.h"

namespace mayfly::net {
Timekeeper::Timekeeper(uv_loop_t& loop, Server& server, Executor& executor, Turn& turn, Clients& clients)
    : server_(server),
      executor_(executor),
      turn_(turn),
      clients_(clients),
      expiry_(server, executor),
      eviction_(server, executor),
      freeing_(server),
      defragmenter_(server),
      clock_watch_([this] { turn_.Begin(); }) {
  uv_timer_init(&loop, &timer_);
  timer_.data = this;
  uv_idle_init(&loop, &idle_);
  idle_.data = this;
  steps_are_told_ = clock_watch_.Start(loop);
}

void Timekeeper::Close() {
  uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&idle_), nullptr);
  clock_watch_.Close();
}

bool Timekeeper::HasNothingNew() noexcept {
  const bool same = executor_.TakeOnlyQuickReads() && !server_.databases.rearms() &&
                    !server_.databases.MayFreeSome() && !server_.event_log.MayFreeSome() &&
                    (server_.memory_watch == nullptr || !server_.memory_watch->Due(executor_.now().mono_ms));
  assert(!same || !keys_wake_known_ || armed_for_mono_ms_ <= NextWake());
  return same;
}

void Timekeeper::BeforePoll() {
  if (server_.memory_watch != nullptr) server_.memory_watch->Look(executor_.now().mono_ms);
  if (server_.resident.EndTurn(server_.databases.heap().ChurnedBytes())) [[unlikely]]
    defragmenter_.NoteChurn(executor_.now());
  // A step may have made wall-clock deadlines due, or put the wall wheel ahead of its time.
  if (turn_.TakeStep()) expiry_.Announce();
  if (server_.databases.TakeRearm()) keys_wake_known_ = false;
  if (!eviction_.waits() && executor_.EvictSome(kEntriesPerLook)) eviction_.Announce();
  if (server_.databases.MayFreeSome() || server_.event_log.MayFreeSome() || server_.tracking.MayFreeSome())
    freeing_.Announce();  // evicted big values, too
  if (server_.sliced_work.waits() != idling_) {
    idling_ = !idling_;
    if (idling_)
      uv_idle_start(&idle_, [](uv_idle_t* idle) { static_cast<Timekeeper*>(idle->data)->OnIdle(); });
    else
      uv_idle_stop(&idle_);
  }
  if (const uint64_t wake = NextWake(); wake < armed_for_mono_ms_) Arm(wake);
}

uint64_t Timekeeper::NextWake() {
  if (!keys_wake_known_) {
    const Now now = executor_.RefreshNow();
    const uint64_t wait = server_.databases.NextWakeMs(now);
    const auto resolution = static_cast<uint64_t>(clients_.settings().expire_resolution_ms);
    keys_wake_mono_ms_ = wait > kNever - now.mono_ms ? kNever : Coalesce(now.mono_ms + wait, resolution);
    if (!steps_are_told_ && keys_wake_mono_ms_ != kNever)
      keys_wake_mono_ms_ = std::min(keys_wake_mono_ms_, now.mono_ms + kClockLookMs);
    keys_wake_known_ = true;
  }
  return std::min(keys_wake_mono_ms_, server_.hubs.alarms.NextWake());
}

// Libuv counts from the time of its last poll, possibly long ago, and must read the clock again.
void Timekeeper::Arm(uint64_t wake_mono_ms) {
  const uint64_t now = executor_.RefreshNow().mono_ms;
  uv_update_time(timer_.loop);
  uv_timer_start(
      &timer_, [](uv_timer_t* timer) { static_cast<Timekeeper*>(timer->data)->OnTimer(); },
      wake_mono_ms > now ? wake_mono_ms - now : 0, /*repeat=*/0);
  armed_for_mono_ms_ = wake_mono_ms;
}

void Timekeeper::OnTimer() {
  turn_.Begin();
  armed_for_mono_ms_ = kNever;
  const Now now = executor_.RefreshNow();
  server_.hubs.alarms.Wake(now, server_.log);
  if (keys_wake_mono_ms_ > now.mono_ms && keys_wake_known_) return;
  ++server_.databases.expiry_stats().wheel_wakeups;
  expiry_.Announce();
  if (!idling_) RunSlice();  // else the idle handle runs the slice, also in this turn
}

void Timekeeper::CatchUp() {
  if (executor_.RefreshNow().mono_ms >= armed_for_mono_ms_)
    OnTimer();
  else if (idling_)
    OnIdle();
}

void Timekeeper::OnIdle() {
  turn_.Begin();
  RunSlice();
}

uint64_t Timekeeper::SliceCycles(uint64_t now) const noexcept {
  const uint64_t least =
      server_.cycle_rate.ToCycles(static_cast<uint64_t>(clients_.settings().expire_slice_us));
  return std::clamp(turn_.CyclesUntil(now), least, kMostSlice * least);
}

void Timekeeper::RunSlice() {
  const uint64_t began = ReadCycles();
  const bool expires = expiry_.waits();
  ExpiryStats& stats = server_.databases.expiry_stats();
  const uint64_t expired_before = stats.expired();
  const uint64_t had_before = expiry_.spent_cycles();
  if (expires) {
    const int64_t now_us = executor_.RefreshNow().wall_ms * kUsPerMs;  // for the whole slice
    stats.wall_behind_us = static_cast<uint64_t>(std::max<int64_t>(server_.clock.ReadWallUs() - now_us, 0));
  }
  server_.sliced_work.RunSlice(executor_.now(), began, SliceCycles(began), kEntriesPerLook);
  if (!expires) return;
  stats.wall_behind_us = 0;
  const uint64_t expiry_us = server_.cycle_rate.ToUs(expiry_.spent_cycles() - had_before);
  server_.latency_monitor.Note(LatencyMonitor::kExpiry, expiry_us / kUsPerMs,
                               executor_.now().wall_ms / kMsPerSecond);
  if (expiry_.waits()) ++stats.full_slices;
  stats.burst_max = std::max(stats.burst_max, stats.expired() - expired_before);
  keys_wake_known_ = false;
}

bool Timekeeper::Expiry::DoSome(Now now, size_t budget) noexcept {
  return !server_.Busy() && server_.databases.Advance(now, budget);
}

bool Timekeeper::Eviction::DoSome(Now, size_t budget) noexcept { return executor_.EvictSome(budget); }

bool Timekeeper::Freeing::DoSome(Now, size_t budget) noexcept {
  const bool more = server_.databases.FreeSome(budget);
  const bool more_events = server_.event_log.FreeSome(budget);
  return server_.tracking.FreeSome(budget) || more_events || more;
}

}  // namespace mayfly::net
