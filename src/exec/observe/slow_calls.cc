#include "exec/observe/slow_calls.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <string>
#include <utility>

#include "base/time/clock.h"
#include "config/sources/options.h"
#include "exec/call/call.h"
#include "exec/call/command_table.h"
#include "exec/call/shown_arguments.h"
#include "server/clients/session.h"
#include "server/figures/latency_monitor.h"
#include "server/figures/slow_log.h"
#include "server/server.h"

namespace mayfly {
namespace {

std::string_view EventOf(const TableRow& row) noexcept {
  return (row.command->flags & kFast) != 0 ? LatencyMonitor::kFastCommand : LatencyMonitor::kCommand;
}

// A time of years means for ever, and would not fit into 64 bits in cycles.
uint64_t CyclesOf(uint64_t us, CycleRate rate) noexcept {
  constexpr uint64_t kYearsUs = uint64_t{1} << 48;
  return us >= kYearsUs ? UINT64_MAX : rate.ToCycles(us);
}

}  // namespace

void SlowCalls::FollowOptions() noexcept {
  const config::Settings& settings = server_.options.settings();
  const auto threshold_ms = static_cast<uint64_t>(settings.latency_monitor_threshold_ms);
  const bool logs = settings.slowlog_log_slower_than_us >= 0 && settings.slowlog_max_len != 0;
  log_from_us_ = logs ? static_cast<uint64_t>(settings.slowlog_log_slower_than_us) : UINT64_MAX;
  short_threshold_ = log_from_us_ < kGroupUs;
  least_cycles_ = CyclesOf(log_from_us_, server_.cycle_rate);
  if (threshold_ms != 0 && threshold_ms < UINT64_MAX / kUsPerMs)
    least_cycles_ = std::min(least_cycles_, CyclesOf(threshold_ms * kUsPerMs, server_.cycle_rate));
  server_.latency_monitor.set_threshold_ms(threshold_ms);
  server_.slow_log.Trim(static_cast<size_t>(settings.slowlog_max_len));
}

bool SlowCalls::Logs(const TableRow& row, uint64_t us) const noexcept {
  return us >= log_from_us_ && (row.command->flags & kSkipSlowlog) == 0;
}

void SlowCalls::Note(const Call& call, uint64_t cycles, Now now) noexcept {
  assert(call.row != nullptr);
  const uint64_t us = server_.cycle_rate.ToUs(cycles);
  const std::string_view event =
      call.origin == Origin::kWoken ? LatencyMonitor::kUnblocking : EventOf(*call.row);
  server_.latency_monitor.Note(event, us / kUsPerMs, now.wall_ms / kMsPerSecond);
  if (!Logs(*call.row, us)) return;
  try {
    Log(call, us, now);
  } catch (const std::bad_alloc&) {  // the client must not notice the missing entry
  }
}

void SlowCalls::Log(const Call& call, uint64_t us, Now now) {
  const Session& session = call.session;
  const ShownArguments shown(*call.row, call.arguments);
  SlowCall entry;
  entry.wall_s = now.wall_ms / kMsPerSecond;
  entry.us = us;
  entry.arguments = SlowLog::Shorten(shown.all());
  entry.peer = session.peer.empty() ? "?:0" : session.peer;  // for a script's calls, as in Redis
  entry.name = session.names().name;
  server_.slow_log.Add(std::move(entry), static_cast<size_t>(server_.options.settings().slowlog_max_len));
}

void SlowCalls::NoteGroup(const TableRow& row, uint64_t calls, uint64_t cycles, Now now) noexcept {
  assert(calls > 1 && row.calls.calls >= calls);
  const uint64_t mean = row.calls.cycles / row.calls.calls;
  const uint64_t longest = cycles - std::min(cycles, mean * (calls - 1));
  const uint64_t us = server_.cycle_rate.ToUs(longest);
  server_.latency_monitor.Note(EventOf(row), us / kUsPerMs, now.wall_ms / kMsPerSecond);
  if (Logs(row, us)) suspicion_until_mono_ms_ = now.mono_ms + kSuspicionMs;
}

}  // namespace mayfly
