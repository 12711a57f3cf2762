#include "exec/info/memory_report.h"

#include <algorithm>

#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/memory/memory_meter.h"
#include "server/clients/session.h"
#include "server/clients/sessions.h"
#include "server/figures/process_usage.h"
#include "server/figures/replica_figures.h"
#include "server/figures/stats.h"
#include "server/waiting/held_bytes.h"
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

// The memory of the stream is there once: the backlog's blocks, and older ones that outputs still refer to (replication/backlog.h).
// What exceeds repl-backlog-size is there for the slowest replica, and counts as memory of replicas, as the chunks and the
// snapshot of a replica's output do. As in Redis 7, a replica that keeps up holds nothing.
void ReportReplicas(const Server& server, MemoryReport& report) {
  const ReplicaFigures& figures = server.followers;
  int64_t oldest = figures.offset;  // the first byte of the stream that a replica still needs
  uint64_t held = 0;
  for (const ReplicaFigures::Line& line : figures.lines) {
    const auto found = server.sessions.by_id().find(line.client);
    if (found == server.sessions.by_id().end()) continue;
    const Session& session = *found->second;
    const uint64_t chunks = session.output.chunk_memory();
    const uint64_t shared = session.output.memory() - chunks;
    held += HeldBytes(session);
    report.replicas += line.online ? chunks : chunks + shared;
    if (session.closes()) continue;  // its place may be one of a stream that has ended
    oldest = std::min(oldest, line.needs - static_cast<int64_t>(line.online ? shared : 0));
  }
  const auto in_outputs = static_cast<uint64_t>(std::max<int64_t>(figures.backlog_begin - oldest, 0));
  const uint64_t stream = figures.backlog_bytes + in_outputs;
  const auto needed = static_cast<uint64_t>(figures.offset - oldest);
  const uint64_t beyond = std::min(stream, Above(needed, server.options.settings().repl_backlog_bytes));
  report.replicas += beyond;
  report.backlog = stream - beyond;
  report.normal_clients = Above(server.stats.held_bytes, held);
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
  ReportReplicas(server, report);
  report.overhead = report.at_start + report.clients - server.stats.announced_bytes +
                    server.followers.backlog_bytes + server.stats.scripts.bytes() + server.stats.tls_bytes +
                    server.stats.migration_bytes + server.databases.miss_ring_bytes() +
                    server.databases.shadow().memory() + server.databases.ghosts().bytes() +
                    server.event_log.ring().bytes();
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
