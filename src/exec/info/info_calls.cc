// Sections of INFO about calls: figures of each command and each error code.
#include <cstdio>
#include <string>

#include "base/time/histogram.h"
#include "config/sources/options.h"
#include "exec/call/command_table.h"
#include "exec/info/info_sections.h"
#include "server/figures/stats.h"

namespace mayfly::info {
namespace {

template <typename Fn>
void ForEachRow(const CommandTable& commands, Fn&& fn) {
  for (const TableRow* row : commands.rows()) {
    fn(*row);
    for (const TableRow* sub : row->subcommands) fn(*sub);
  }
}

// "p99.9": at most six decimals, as in Redis.
std::string NameOf(double percentile) {
  char text[32];
  std::string name("p");
  name.append(text, static_cast<size_t>(std::snprintf(text, sizeof text, "%f", percentile)));
  name.erase(name.find_last_not_of('0') + 1);
  if (name.back() == '.') name.pop_back();
  return name;
}

// "p50=1.003,p99=...": microseconds with three decimals, as in Redis.
void LatencyField(InfoSink& sink, const TableRow& row, const std::vector<double>& percentiles,
                  const CycleRate& rate) {
  if (row.latency == nullptr || row.latency->total() == 0) return;
  constexpr int kNanoseconds = 3;
  std::vector<std::string> names;
  names.reserve(percentiles.size());
  for (const double percentile : percentiles) names.push_back(NameOf(percentile));
  std::vector<InfoMember> members;
  members.reserve(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const auto cycles = static_cast<double>(row.latency->Percentile(percentiles[i] / 100));
    members.push_back({names[i], InfoDecimal{cycles / rate.cycles_per_us(), kNanoseconds}});
  }
  sink.Group({"latency_percentiles_usec_", "command", row.full_name}, members);
}

}  // namespace

void CallsField(InfoSink& sink, const TableRow& row, const CycleRate& rate) {
  const CallStats& calls = row.calls;
  if (calls.calls == 0 && calls.rejected == 0 && calls.failed == 0) return;
  const uint64_t us = rate.ToUs(calls.cycles);
  const double us_per_call =
      calls.calls == 0 ? 0 : static_cast<double>(us) / static_cast<double>(calls.calls);
  const InfoMember members[] = {{"calls", calls.calls},
                                {"usec", us},
                                {"usec_per_call", InfoDecimal{us_per_call, 2}},
                                {"rejected_calls", calls.rejected},
                                {"failed_calls", calls.failed}};
  sink.Group({"cmdstat_", "command", row.full_name}, members);
}

void CommandStatsSection(InfoSink& sink, Server& server, Now) {
  ForEachRow(server.commands, [&](const TableRow& row) { CallsField(sink, row, server.cycle_rate); });
}

void ErrorStatsSection(InfoSink& sink, Server& server, Now) {
  for (const auto& [code, count] : server.stats.errors.counts()) {
    const InfoMember members[] = {{"count", count}};
    sink.Group({"errorstat_", "code", code}, members);
  }
}

void UnknownCommandsSection(InfoSink& sink, Server& server, Now) {
  for (const auto& [name, count] : server.stats.unknown_commands.counts()) {
    const InfoMember members[] = {{"count", count}};
    sink.Group({"unknowncmd_", "command", name}, members);
  }
}

void LatencyStatsSection(InfoSink& sink, Server& server, Now) {
  const std::vector<double>& percentiles = server.options.settings().latency_percentiles;
  ForEachRow(server.commands,
             [&](const TableRow& row) { LatencyField(sink, row, percentiles, server.cycle_rate); });
}

}  // namespace mayfly::info
