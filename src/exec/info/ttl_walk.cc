#include "exec/info/ttl_walk.h"

#include <algorithm>
#include <memory>

#include "base/time/clock.h"
#include "cache/keyspace/databases.h"
#include "exec/dispatch/executor.h"

namespace mayfly {

TtlWalk& TtlWalk::Of(Server& server) {
  if (server.ttl_walk == nullptr) server.ttl_walk = std::make_unique<TtlWalk>(server);
  return static_cast<TtlWalk&>(*server.ttl_walk);
}

const TtlWalk::Result& TtlWalk::Ask(Now now, size_t at_once) noexcept {
  if (waits()) return last_;
  if (server_.databases.total_keys() <= at_once) {
    Begin(now);
    while (Walk(now, kAtOnce)) {
    }
    last_ = draft_;
  } else if (now.mono_ms >= rests_until_mono_ms_) {
    Begin(now);
    spent_before_cycles_ = spent_cycles();
    Announce();
  }
  return last_;
}

void TtlWalk::Begin(Now now) noexcept {
  draft_ = {.known = true, .began_mono_ms = now.mono_ms, .histogram = {}};
  database_ = 0;
  cursor_ = 0;
}

bool TtlWalk::Walk(Now now, size_t budget) noexcept {
  constexpr size_t kKeysPerPage = 10;
  while (database_ < server_.databases.count()) {
    if (budget == 0) return true;
    size_t seen = 0;
    cursor_ = server_.databases.At(database_).Scan(cursor_, now, [&](const Entry& entry) {
      draft_.histogram.Count(entry, now);
      ++seen;
    });
    budget -= std::min(budget, std::max(seen, kKeysPerPage));
    if (cursor_ == 0) ++database_;
  }
  return false;
}

bool TtlWalk::DoSome(Now now, size_t budget) noexcept {
  if (Walk(now, budget)) return true;
  last_ = draft_;
  const uint64_t spent_us = server_.cycle_rate.ToUs(spent_cycles() - spent_before_cycles_);
  rests_until_mono_ms_ = now.mono_ms + std::max(kRestMs, kRestFactor * spent_us / kUsPerMs);
  return false;
}

}  // namespace mayfly
