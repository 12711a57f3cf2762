#include "exec/metrics/status_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "base/text/numbers.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/memory/memory_meter.h"
#include "server/clients/sessions.h"
#include "server/figures/link_figures.h"
#include "server/figures/rates.h"
#include "server/figures/replica_figures.h"
#include "server/figures/stats.h"

namespace mayfly {
namespace {

constexpr size_t kNameWidth = 18;

void AddLine(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(kNameWidth - name.size(), ' ').append(value).append("\n");
}

std::string HitRatio(const Stats& stats) {
  const uint64_t reads = stats.keyspace_hits + stats.keyspace_misses;
  if (reads == 0) return "no reads yet";
  char digits[16];
  std::snprintf(digits, sizeof digits, "%.1f%%",
                100.0 * static_cast<double>(stats.keyspace_hits) / static_cast<double>(reads));
  return digits;
}

std::string LastSave(const SaveFigures& saves, Now now) {
  std::string text = "none since the start";
  if (saves.last_save_s != 0)
    text = std::to_string(now.wall_ms / kMsPerSecond - saves.last_save_s) + " s ago, " +
           std::to_string(saves.last_keys) + " keys, " + FormatBytesHuman(saves.last_bytes) + ", in " +
           std::to_string(saves.last_took_ms) + " ms";
  if (!saves.last_problem.empty()) text += "; the last one has failed: " + saves.last_problem;
  return text;
}

// Addresses are left out: replicas choose theirs.
std::string Role(const Server& server, Now now) {
  if (server.link.follows())
    return std::string("replica, the link to the master is ") + (server.link.up() ? "up" : "down");
  const std::vector<ReplicaFigures::Line>& lines = server.followers.lines;
  if (lines.empty()) return "master, no replica";
  uint64_t lag_ms = 0;
  for (const ReplicaFigures::Line& line : lines) {
    if (line.online) lag_ms = std::max(lag_ms, now.mono_ms - line.heard_mono_ms);
  }
  return "master, " + std::to_string(lines.size()) + (lines.size() == 1 ? " replica" : " replicas") +
         ", the longest lag is " + std::to_string(lag_ms / kMsPerSecond) + " s";
}

}  // namespace

std::string StatusText(Server& server, Now now) {
  const Stats& stats = server.stats;
  const ExpiryStats& expiry = server.databases.expiry_stats();
  const uint64_t max = server.options.settings().maxmemory.bytes;
  std::string text;
  AddLine(text, "keys", std::to_string(server.databases.total_keys()));
  AddLine(text, "commands a second",
          std::to_string(std::llround(server.rates.At(now.mono_ms, RateTotals(stats)).commands)));
  AddLine(text, "hit ratio", HitRatio(stats));
  AddLine(text, "used memory",
          FormatBytesHuman(server.memory.Used()) + (max != 0 ? " of " + FormatBytesHuman(max) : ""));
  AddLine(text, "expired keys", std::to_string(expiry.expired_keys));
  AddLine(text, "evicted keys", std::to_string(expiry.evicted_keys));
  AddLine(text, "expiry lag, p99", std::to_string(expiry.lag_us.Percentile(0.99)) + " us");
  AddLine(text, "clients", std::to_string(server.sessions.size()));
  AddLine(text, "role", Role(server, now));
  AddLine(text, "uptime", std::to_string((now.mono_ms - stats.started_mono_ms) / kMsPerSecond) + " s");
  AddLine(text, "last save", LastSave(stats.saves, now));
  if (stats.saves.loading)
    AddLine(text, "loading",
            FormatBytesHuman(stats.saves.load_done_bytes) + " of " +
                FormatBytesHuman(stats.saves.load_file_bytes) + ", " + std::to_string(stats.saves.load_keys) +
                " keys");
  return text;
}

}  // namespace mayfly
