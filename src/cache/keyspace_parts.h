// What all keyspaces of a server share. Databases owns it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/hash.h"
#include "base/heap.h"
#include "cache/buried_values.h"
#include "cache/change.h"
#include "cache/deadlines.h"
#include "cache/lfu.h"
#include "cache/quotas.h"
#include "cache/stale_guesses.h"

namespace mayfly {

class DuePolicy;
struct ExpiryStats;

// What an access changes in its entry (see Databases::TrackAccesses).
enum class AccessTracking : uint8_t {
  kRecency,     // LRU: the stamp is set and the entry moves to the front of its list
  kVisitedBit,  // SIEVE: the stamp and the visited bit are set; the entry does not move
  kFrequency,   // LFU: the counter may rise; the entry does not move
  kNone,        // nothing: the client reads with CLIENT NO-TOUCH (Databases::SuspendTracking)
};

// Borrows heap, hasher, changes and expiry_stats.
struct KeyspaceParts {
  Heap& heap;
  const Hasher& hasher;
  ChangeHub& changes;
  ExpiryStats& expiry_stats;
  AccessTracking tracking = AccessTracking::kRecency;
  size_t keys = 0;           // of all keyspaces that are enlisted
  DuePolicy* due = nullptr;  // asked at the own times of entries
  StaleGuesses stale_guesses = {};
  Rearm rearm = {};
  Quotas quotas = {};
  LfuRules lfu = {};    // lfu.random is not null under AccessTracking::kFrequency
  uint64_t client = 0;  // Change::client of what changes now by a command
  BuriedValues buried = {};
  uint32_t table_orders = 0;  // drawn so far

  // An order for a new hash table (cache/table_memory.h): odd, and another one each time.
  uint32_t DrawTableOrder() noexcept {
    constexpr uint32_t kStep = 2654435769;  // 2^32 by the golden ratio
    return (++table_orders * kStep) | 1U;
  }
};

}  // namespace mayfly
