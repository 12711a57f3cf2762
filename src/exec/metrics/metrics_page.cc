#include "exec/metrics/metrics_page.h"

#include <algorithm>
#include <string_view>

#include "base/time/histogram.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/call/command_table.h"
#include "exec/info/identity.h"
#include "exec/info/info_sections.h"
#include "exec/metrics/metric_table.h"
#include "server/figures/link_figures.h"

namespace mayfly {
namespace {

// The rows of a part. A command has up to 17 samples, built in about 5 us.
constexpr uint32_t kRowsPerPart = 16;

constexpr double kCommandBounds[] = {1e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 5e-4, 1e-3, 1e-2, 1e-1, 1};
constexpr MetricsText::Family kCommandFamily = {
    "command_duration_seconds",
    "Time of each call, by command. A call counts as up to an eighth longer than it was.", kCommandBounds};
constexpr double kLagBounds[] = {1e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 1e-1, 2.5e-1, 5e-1, 1, 5};
constexpr MetricsText::Family kLagFamily = {"expiry_lag_seconds",
                                            "Time from a deadline until the key was freed. Each counts as up "
                                            "to an eighth longer than it was, in the sum too.",
                                            kLagBounds};

using Part = void (*)(MetricsText&, Server&, Now);

void Build(MetricsText& text, Server& server, Now) {
  text.AddInfo("build_info", "The versions of Mayfly, and of the Redis whose commands it has.",
               MetricsText::Label("version", kMayflyVersion) + ',' +
                   MetricsText::Label("redis_version", kRedisVersion));
  text.AddInfo("eviction_policy_info", "The policy by which keys are evicted.",
               MetricsText::Label("policy", server.options.Get("maxmemory-policy").value_or("")));
  text.AddInfo("snapshot_last_info", "The end of the last save of a snapshot: ok or err.",
               MetricsText::Label("status", server.stats.saves.last_ok ? "ok" : "err"));
  text.AddInfo("role_info", "The server is a master or a replica.",
               MetricsText::Label("role", server.link.follows() ? "replica" : "master"));
}

// The histogram keeps no sum.
void ExpiryLag(MetricsText& text, Server& server, Now) {
  const Histogram& lag_us = server.databases.expiry_stats().lag_us;
  double sum_us = 0;
  lag_us.ForEachBucket([&](uint64_t highest, uint64_t count) {
    sum_us += static_cast<double>(highest) * static_cast<double>(count);
  });
  text.AddHistogram(kLagFamily, {"", lag_us, kUsPerS, sum_us / kUsPerS});
}

template <void (*write)(InfoSink&, Server&, Now)>
void Section(MetricsText& text, Server& server, Now now) {
  write(text, server, now);
}

constexpr Part kParts[] = {
    Section<info::ServerSection>,
    Section<info::ClientsSection>,
    Section<info::MemorySection>,
    Section<info::PersistenceSection>,
    Section<info::StatsSection>,
    Section<info::ExpirySection>,
    Section<info::TlsSection>,
    Section<info::ReplicationSection>,
    Section<info::CpuSection>,
    Section<info::ErrorStatsSection>,
    Section<info::UnknownCommandsSection>,
    Section<info::KeyspaceSection>,
    Section<info::NamespacesSection>,
    ExpiryLag,
    Build,
};

}  // namespace

bool MetricsPage::BuildSome(Now now) {
  constexpr size_t kCalls = std::size(kParts);
  if (part_ < kCalls) {
    kParts[part_++](text_, server_, now);
    return true;
  }
  if (part_ == kCalls ? CallsOfSome() : LatenciesOfSome()) return true;
  row_ = 0;
  if (part_++ == kCalls) return true;
  body_ = text_.Take();
  return false;
}

// Both functions return true if commands are left.
bool MetricsPage::CallsOfSome() {
  const auto end = std::min(row_ + kRowsPerPart, static_cast<uint32_t>(server_.commands.size()));
  for (; row_ < end; ++row_) info::CallsField(text_, server_.commands.row(row_), server_.cycle_rate);
  return row_ < server_.commands.size();
}

bool MetricsPage::LatenciesOfSome() {
  const auto end = std::min(row_ + kRowsPerPart, static_cast<uint32_t>(server_.commands.size()));
  for (; row_ < end; ++row_) {
    const TableRow& row = server_.commands.row(row_);
    if (row.latency == nullptr || row.latency->total() == 0) continue;
    const double sum_us = static_cast<double>(row.calls.cycles) / server_.cycle_rate.cycles_per_us();
    text_.AddHistogram(kCommandFamily, {MetricsText::Label("command", row.full_name), *row.latency,
                                        server_.cycle_rate.cycles_per_us() * kUsPerS, sum_us / kUsPerS});
  }
  return row_ < server_.commands.size();
}

}  // namespace mayfly
