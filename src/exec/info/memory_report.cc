#include "exec/info/memory_report.h"

#include <algorithm>

#include "cache/keyspace/databases.h"
#include "exec/memory/memory_meter.h"
#include "server/figures/process_usage.h"
#include "server/figures/stats.h"
#include "server/watch/event_log.h"

namespace mayfly {
namespace {

DatabaseOverhead OverheadOf(unsigned index, const Keyspace& keyspace) noexcept {
  return {.index = index,
          .keys = keyspace.size(),
          .table = keyspace.table().memory(),
          .headers = keyspace.size() * sizeof(EntryHeader),
          .expiries = keyspace.expiring() * sizeof(EntryExpiry)};
}

}  // namespace

uint64_t Above(uint64_t whole, uint64_t part) noexcept { return whole > part ? whole - part : 0; }

double Ratio(uint64_t part, uint64_t whole) noexcept {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double MemoryReport::DatasetPercent() const noexcept { return 100 * Ratio(dataset, Above(used, at_start)); }
double MemoryReport::PeakPercent() const noexcept { return 100 * Ratio(used, peak); }
uint64_t MemoryReport::BytesPerKey() const noexcept { return keys == 0 ? 0 : Above(used, at_start) / keys; }

MemoryReport ReportMemory(Server& server, uint64_t own) {
  MemoryReport report;
  report.used = Above(server.memory.Used(), own);
  report.peak = server.memory.Peak();
  report.at_start = server.memory.AtStart();
  report.clients = server.stats.client_bytes + server.stats.name_bytes;
  report.spare_chunks = server.stats.spare_chunk_bytes;
  report.resident = ResidentBytes();
  report.allocator = server.databases.heap().ReadAllocator();
  report.overhead = report.at_start + report.clients - server.stats.announced_bytes +
                    server.stats.scripts.bytes() + server.stats.tls_bytes + server.stats.migration_bytes +
                    server.databases.miss_ring_bytes() + server.databases.shadow().memory() +
                    server.databases.ghosts().bytes() + server.event_log.ring().bytes();
  for (unsigned i = 0; i < server.databases.count(); ++i) {
    const Keyspace& keyspace = server.databases.At(i);
    if (keyspace.size() == 0) continue;
    const DatabaseOverhead& of = report.databases.emplace_back(OverheadOf(i, keyspace));
    report.keys += of.keys;
    report.tables += of.table;
    report.overhead += of.table + of.headers + of.expiries;
  }
  report.dataset = Above(report.used, report.overhead);
  return report;
}

}  // namespace mayfly
