// The uses of memory at one moment: the figures of INFO memory, MEMORY STATS and MEMORY DOCTOR.
//
// Everything but the keys and values themselves is overhead: the server's memory at its start, buffers of clients, and each
// database's memory to find entries and to know their order and deadlines. Bytes, unless a name says otherwise.
#pragma once

#include <cstdint>
#include <vector>

#include "base/memory/heap.h"
#include "exec/dispatch/context.h"

namespace mayfly {

// The memory of a database beside keys and values.
struct DatabaseOverhead {
  unsigned index = 0;
  uint64_t keys = 0;
  uint64_t table = 0;     // the hash table
  uint64_t headers = 0;   // of all entries: LRU links, stamp, flags
  uint64_t expiries = 0;  // the extra part of entries with a TTL: wheel links, deadline
};

struct MemoryReport {
  uint64_t used = 0;
  uint64_t peak = 0;
  uint64_t at_start = 0;
  uint64_t clients = 0;
  uint64_t normal_clients = 0;  // as in CLIENT LIST, without replicas
  uint64_t replicas = 0;        // what is there for replicas alone: waiting output, and so much of the stream
  uint64_t backlog = 0;         // the rest of the stream, which would be there without replicas, too
  uint64_t spare_chunks = 0;
  uint64_t resident = 0;  // as the kernel counts
  AllocatorBytes allocator;
  std::vector<DatabaseOverhead> databases;  // databases with keys
  uint64_t keys = 0;
  uint64_t tables = 0;
  uint64_t overhead = 0;
  uint64_t dataset = 0;  // used, without the overhead

  double DatasetPercent() const noexcept;  // of the memory used since the start
  double PeakPercent() const noexcept;
  uint64_t BytesPerKey() const noexcept;
};

// The report itself takes `own` bytes, free again after the reply.
MemoryReport ReportMemory(Server& server, uint64_t own = 0);

// The difference, or 0 if `part` is larger.
uint64_t Above(uint64_t whole, uint64_t part) noexcept;
// The quotient, or 0 if `whole` is 0.
double Ratio(uint64_t part, uint64_t whole) noexcept;

}  // namespace mayfly
