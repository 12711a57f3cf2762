// The uses of memory at one moment: the figures of INFO memory, MEMORY STATS and MEMORY DOCTOR.
//
// Everything but the keys and values themselves is overhead: what the server used at its start, buffers of
// clients, and what each database needs to find its entries and to know their order and deadlines. Bytes,
// unless a name says otherwise.
#pragma once

#include <cstdint>
#include <vector>

#include "base/memory/heap.h"
#include "exec/dispatch/context.h"

namespace mayfly {

// What a database uses in addition to keys and values.
struct DatabaseOverhead {
  unsigned index = 0;
  uint64_t keys = 0;
  uint64_t table = 0;     // the hash table
  uint64_t headers = 0;   // of all entries: LRU links, stamp, flags
  uint64_t expiries = 0;  // the part of entries that those with a TTL have: wheel links, deadline
};

struct MemoryReport {
  uint64_t used = 0;
  uint64_t peak = 0;
  uint64_t at_start = 0;
  uint64_t clients = 0;
  uint64_t spare_chunks = 0;
  uint64_t resident = 0;  // as the kernel counts
  AllocatorBytes allocator;
  std::vector<DatabaseOverhead> databases;  // those that have keys
  uint64_t keys = 0;
  uint64_t tables = 0;
  uint64_t overhead = 0;
  uint64_t dataset = 0;  // used, without the overhead

  double DatasetPercent() const noexcept;  // of what was used since the start
  double PeakPercent() const noexcept;
  uint64_t BytesPerKey() const noexcept;
};

// `own` bytes are taken by the report itself, and will be free when it is told.
MemoryReport ReportMemory(Server& server, uint64_t own = 0);

// The difference, or 0 if `part` is the larger one.
uint64_t Above(uint64_t whole, uint64_t part) noexcept;
// The quotient, or 0 if `whole` is 0.
double Ratio(uint64_t part, uint64_t whole) noexcept;

}  // namespace mayfly
