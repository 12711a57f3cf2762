#include "replication/cutoff.h"

#include <algorithm>
#include <limits>

#include "cache/keyspace/databases.h"
#include "cache/keyspace/reaper.h"
#include "exec/call/command_keys.h"
#include "exec/call/command_table.h"
#include "server/figures/link_figures.h"
#include "server/watch/event_log.h"

namespace mayfly {

Cutoff::Cutoff(Server& server) : Step(server.sliced_work), server_(server) {}

Cutoff::~Cutoff() = default;

void Cutoff::MoveTo(int64_t unix_ms, int64_t told_clock_distance_ms, Now now) {
  if (unix_ms <= at_.wall_ms) return;
  const int64_t mono_ms = unix_ms - told_clock_distance_ms;
  at_ = {.mono_ms = static_cast<uint64_t>(std::max<int64_t>(mono_ms, 0)), .wall_ms = unix_ms};
  server_.event_log.set_cutoff(at_);
  FreeSome(now, kAtOnce);
  Continue();
}

void Cutoff::FreeSome(Now now, size_t budget) {
  waits_ = server_.databases.FreeCutOff(at_, /*expires=*/false, now, budget);
  server_.link.frees_cut_off = waits_;
}

bool Cutoff::DoSome(Now now, size_t budget) noexcept {
  if (!waits_ || server_.Busy()) return false;
  FreeSome(now, budget);
  return waits_;
}

void Cutoff::End(Now now) {
  if (waits_) FreeSome(now, std::numeric_limits<size_t>::max() / 2);
  Forget();
}

void Cutoff::Forget() noexcept {
  at_ = {};
  server_.event_log.set_cutoff({});
  waits_ = false;
  server_.link.frees_cut_off = false;
}

// The target of MOVE is a key of another database.
void Cutoff::DropNow(const TableRow& row, std::span<const std::string_view> words, unsigned database) {
  const bool moves = row.full_name == "move";
  ForEachKey(*row.command, words, [&](const FoundKey& key) {
    for (unsigned i = 0; i < server_.databases.count(); ++i) {
      if (i != database && !moves) continue;
      Keyspace& keyspace = server_.databases.At(i);
      keyspace.reaper().DropIfCutOff(keyspace.KeyOf(key.text), at_);
    }
  });
}

}  // namespace mayfly
