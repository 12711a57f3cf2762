// INFO: what is counted for each command and each error code.
#include <algorithm>
#include <string>

#include "config/options.h"
#include "exec/dispatch/command_table.h"
#include "exec/info/info_sections.h"
#include "server/stats.h"

namespace mayfly::info {
namespace {

template <typename Fn>
void ForEachRow(const CommandTable& commands, Fn&& fn) {
  for (const TableRow* row : commands.rows()) {
    fn(*row);
    for (const TableRow* sub : row->subcommands) fn(*sub);
  }
}

void CallsField(InfoText& text, const TableRow& row, const CycleRate& rate) {
  const CallStats& calls = row.calls;
  if (calls.calls == 0 && calls.rejected == 0 && calls.failed == 0) return;
  const uint64_t us = rate.ToUs(calls.cycles);
  const double us_per_call =
      calls.calls == 0 ? 0 : static_cast<double>(us) / static_cast<double>(calls.calls);
  text.Field("cmdstat_" + row.full_name,
             "calls=" + std::to_string(calls.calls) + ",usec=" + std::to_string(us) + ",usec_per_call=" +
                 InfoText::FixedText(us_per_call, 2) + ",rejected_calls=" + std::to_string(calls.rejected) +
                 ",failed_calls=" + std::to_string(calls.failed));
}

// "p50=1.003,p99=...": microseconds with three decimals, as in Redis.
std::string PercentilesText(const Histogram& latency, const std::vector<double>& percentiles,
                            const CycleRate& rate) {
  constexpr int kNanoseconds = 3;
  std::string text;
  for (const double percentile : percentiles) {
    const uint64_t cycles = latency.Percentile(percentile / 100);
    if (!text.empty()) text += ',';
    text.append("p").append(FormatDouble(percentile)).append("=");
    text += InfoText::FixedText(static_cast<double>(cycles) / rate.cycles_per_us(), kNanoseconds);
  }
  return text;
}

// Without the characters that would end a name or a line of INFO.
std::string SafeName(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '#' || c == ':' || c == '\n' || c == '\r'; }, '_');
  return name;
}

}  // namespace

void CommandStatsSection(InfoText& text, Server& server, Now) {
  ForEachRow(server.commands, [&](const TableRow& row) { CallsField(text, row, server.cycle_rate); });
}

void ErrorStatsSection(InfoText& text, Server& server, Now) {
  for (const auto& [code, count] : server.stats.errors.counts())
    text.Field("errorstat_" + SafeName(code), "count=" + std::to_string(count));
}

void LatencyStatsSection(InfoText& text, Server& server, Now) {
  const std::vector<double>& percentiles = server.options.settings().latency_percentiles;
  ForEachRow(server.commands, [&](const TableRow& row) {
    if (row.latency == nullptr || row.latency->total() == 0 || percentiles.empty()) return;
    text.Field("latency_percentiles_usec_" + row.full_name,
               PercentilesText(*row.latency, percentiles, server.cycle_rate));
  });
}

}  // namespace mayfly::info
