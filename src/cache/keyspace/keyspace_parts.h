// The parts shared by all keyspaces of a server. Databases owns it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bits/hash.h"
#include "base/memory/heap.h"
#include "cache/changes/change.h"
#include "cache/entry/id_set.h"
#include "cache/gone/buried_values.h"
#include "cache/gone/departures.h"
#include "cache/gone/void_guesses.h"
#include "cache/keyspace/big_keys.h"
#include "cache/owners/lfu.h"
#include "cache/owners/namespaces.h"
#include "cache/owners/quotas.h"
#include "cache/time/deadlines.h"
#include "cache/time/ttl_rules.h"

namespace mayfly {

struct ExpiryStats;

// The access effect: the change of an entry by an access (see Databases::SetAccessEffect).
enum class AccessEffect : uint8_t {
  kRecency,        // LRU: the stamp is set and the entry moves to the front of its list
  kVisitedBit,     // SIEVE, S3-FIFO: the stamp and the visited bit are set; the entry does not move
  kFrequency,      // LFU: the counter may rise; the entry does not move
  kNone,           // nothing: the client reads with CLIENT NO-TOUCH (Databases::SuspendAccesses)
  kWalkedRecency,  // as kRecency, during a walk through the lists: a marked entry is reported before it moves
};

// Settings for the tasks of all keyspaces: keys that go into a stream at their deadline (cache/keyspace/tasks.h).
struct TaskSettings {
  // A rule makes only keys with the stream's slot tasks: other slots may be another node's.
  bool by_slots = false;
  // Of the streams: StreamLimits.
  size_t node_bytes = 0;
  size_t node_entries = 0;
  // No task is delivered: a snapshot is loaded, and the streams may be still to come.
  bool held = false;
};

// The streams that no policy evicts (cache/keyspace/spared_streams.h).
struct Sparing {
  bool any = false;  // there may be spared entries
  uint64_t met = 0;  // how often an eviction has met a stream that it must not take
};

// What becomes of expired keys. A replica keeps them until its master says that they are gone: the master may have given them
// another deadline in time.
enum class ExpiredKeys : uint8_t {
  kRemoved,
  kHidden,  // kept, and absent for every lookup. REQUIRES: nobody puts a key
  kShown,   // kept, and there: for the master's commands
};

// Borrows heap, hasher, changes and expiry_stats.
struct KeyspaceParts {
  Heap& heap;
  const Hasher& hasher;
  ChangeHub& changes;
  ExpiryStats& expiry_stats;
  AccessEffect access_effect = AccessEffect::kRecency;
  bool moves_on_access() const noexcept {
    return access_effect == AccessEffect::kRecency || access_effect == AccessEffect::kWalkedRecency;
  }
  IdSet with_stale = {};  // the enlisted keyspaces with stale values
  size_t keys = 0;        // of all enlisted keyspaces
  VoidGuesses void_guesses = {};
  Rearm rearm = {};
  Quotas quotas = {};
  Namespaces namespaces = {};
  size_t first_share = 0;  // the least id of a share: lower ids are the keyspaces'
  // Doomed tags and shares of all keyspaces, flushed keyspaces too, that are not freed yet. If 0, only time makes a key
  // absent.
  size_t doomed = 0;
  size_t shares_to_free = 0;  // doomed shares of enlisted keyspaces
  IdSet pinned = {};          // shares that keep their ids even if empty
  LfuRules lfu = {};          // lfu.random is not null under AccessEffect::kFrequency
  TtlRules ttl_rules = {};
  TaskSettings tasks = {};
  bool draining = false;  // a keyspace may have drained tasks (Tasks::HasDrained)
  Sparing sparing = {};
  ExpiredKeys expired_keys = ExpiredKeys::kRemoved;
  // A master decides: no key is refused, and the master delivers the tasks, also if clients may write here.
  bool follows_master = false;
  bool HoldsTasks() const noexcept { return tasks.held || follows_master; }
  uint64_t dooms = 0;   // of tags and shares, so far: the number of the last doom
  uint64_t client = 0;  // Change::client of a command's changes
  BuriedValues buried = {};
  BigKeys big_keys = {};
  uint32_t table_orders = 0;  // drawn so far
  Departures departures = Departures(heap);

  // Frees the id of an empty share, or else of a doomed one with all its entries. Returns false if there is no such share. Defined
  // beside Owners.
  bool TakeBackShare();

  // An order for a new hash table (cache/table/table_memory.h): odd, and different each time.
  uint32_t DrawTableOrder() noexcept {
    constexpr uint32_t kStep = 2654435769;  // 2^32 by the golden ratio
    return (++table_orders * kStep) | 1U;
  }
};

}  // namespace mayfly
