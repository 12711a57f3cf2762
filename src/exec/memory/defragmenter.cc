#include "exec/memory/defragmenter.h"

#include <algorithm>

#include "base/time/tsc.h"
#include "cache/compactor.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "server/figures/stats.h"
#include "server/hubs/hubs.h"
#include "server/server.h"

namespace mayfly {
namespace {

// The processor's time worth spending on this unused memory, in percent; 0: none.
unsigned PercentFor(const Heap::Fill& fill, const config::Settings& settings) noexcept {
  if (!settings.activedefrag || fill.in_pages <= fill.used) return 0;
  const uint64_t unused = fill.in_pages - fill.used;
  const auto part = static_cast<double>(unused) * 100 / static_cast<double>(std::max<uint64_t>(fill.used, 1));
  const auto lower = static_cast<double>(settings.active_defrag_threshold_lower);
  const auto upper = static_cast<double>(settings.active_defrag_threshold_upper);
  if (unused < settings.active_defrag_ignore_bytes || part < lower) return 0;
  const auto least = static_cast<double>(settings.active_defrag_cycle_min);
  const auto most = std::max(static_cast<double>(settings.active_defrag_cycle_max), least);
  const double share = upper > lower ? std::min((part - lower) / (upper - lower), 1.0) : 1.0;
  return static_cast<unsigned>(least + (most - least) * share);
}

}  // namespace

Defragmenter::Defragmenter(Server& server)
    : Step(server.sliced_work), Alarm(server.hubs.alarms), server_(server) {
  using config::Settings;
  server.options.Follow([this](const Settings&) { NoteChurn(server_.clock.Read()); }, &Settings::activedefrag,
                        &Settings::active_defrag_ignore_bytes, &Settings::active_defrag_threshold_lower,
                        &Settings::active_defrag_threshold_upper, &Settings::active_defrag_cycle_min,
                        &Settings::active_defrag_cycle_max);
}

unsigned Defragmenter::Measure() noexcept {
  const Heap::Fill fill = server_.databases.heap().ReadFill();
  unused_bytes_ = fill.in_pages - std::min(fill.used, fill.in_pages);
  return PercentFor(fill, server_.options.settings());
}

void Defragmenter::OnWake(Now now, Log*) noexcept {
  if (now.mono_ms < wake_mono_ms_) return;
  wake_mono_ms_ = kNever;
  if (state_ == State::kMoving) return Announce();
  spent_cycles_ = 0;
  const unsigned percent = Measure();
  percent != 0 ? Begin(now, percent) : Rest();
}

void Defragmenter::SetPercent(Now now, unsigned percent) noexcept {
  percent_ = percent;
  server_.stats.defrag_percent = static_cast<uint8_t>(percent);
  looked_mono_ms_ = now.mono_ms;
}

void Defragmenter::Begin(Now now, unsigned percent) noexcept {
  state_ = State::kMoving;
  wake_mono_ms_ = now.mono_ms;
  SetPercent(now, percent);
  unused_before_bytes_ = unused_bytes_;
  database_ = 0;
  cursor_ = 0;
  pass_looked_ = pass_moved_ = 0;
}

void Defragmenter::EndPass(Now now) noexcept {
  const unsigned percent = Measure();
  if (percent == 0) return Rest();
  const bool moved_some = pass_moved_ != 0 && pass_moved_ * kLeastMovedPart >= pass_looked_;
  if (moved_some && unused_bytes_ < unused_before_bytes_) return Begin(now, percent);
  rests_until_mono_ms_ = now.mono_ms + kFutileMs;
  Rest();
}

void Defragmenter::Rest() noexcept {
  state_ = State::kResting;
  wake_mono_ms_ = kNever;
  server_.stats.defrag_percent = 0;
}

bool Defragmenter::Walk(Now now, size_t budget) noexcept {
  constexpr size_t kKeysPerPage = 10;
  Compactor::Count count;
  size_t pages = 0;
  while (database_ < server_.databases.count()) {
    if (count.looked + pages * kKeysPerPage >= budget) break;
    cursor_ = Compactor(server_.databases.At(database_)).Pass(cursor_, now, count);
    ++pages;
    if (cursor_ == 0) ++database_;
  }
  pass_looked_ += count.looked;
  pass_moved_ += count.moved;
  server_.stats.defrag_moved += count.moved;
  server_.stats.defrag_left += count.looked - count.moved;
  return database_ == server_.databases.count();
}

void Defragmenter::Pause(Now now) noexcept {
  const uint64_t cycles = ReadCycles() - slice_began_;
  slice_began_ = 0;
  const auto spent_ms = [this] { return server_.cycle_rate.ToUs(spent_cycles_) / kUsPerMs; };
  const uint64_t before = spent_ms();
  spent_cycles_ += cycles;
  server_.stats.defrag_ms = spent_ms();
  server_.stats.defrag_total_ms += server_.stats.defrag_ms - before;
  const uint64_t pause_us = server_.cycle_rate.ToUs(cycles) * (100 - percent_) / percent_;
  wake_mono_ms_ = now.mono_ms + std::max<uint64_t>(pause_us / kUsPerMs, 1);
}

bool Defragmenter::BeginSlice(Now now) noexcept {
  if (!server_.options.settings().activedefrag) return false;
  if (now.mono_ms - looked_mono_ms_ >= kLookAgainMs) SetPercent(now, Measure());
  if (percent_ == 0) return false;
  slice_began_ = ReadCycles();
  server_.databases.heap().FlushCaches();
  return true;
}

bool Defragmenter::DoSome(Now now, size_t budget) noexcept {
  if (server_.Busy() || (slice_began_ == 0 && !BeginSlice(now))) {
    slice_began_ = 0;
    Rest();
    return false;
  }
  const bool all = Walk(now, budget);
  if (!all && ReadCycles() - slice_began_ < server_.cycle_rate.ToCycles(kSliceUs)) return true;
  Pause(now);
  if (all) EndPass(now);
  return false;
}

}  // namespace mayfly
