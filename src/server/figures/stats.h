// Counters for INFO: plain numbers, incremented at the place of the event. CONFIG RESETSTAT sets them to zero. Loop
// thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/time/clock.h"
#include "cache/gone/miss_reason.h"
#include "server/figures/error_stats.h"
#include "server/figures/save_figures.h"
#include "server/figures/unknown_commands.h"

namespace mayfly {

// The number of scripts and functions, and their memory in bytes.
struct ScriptFigures {
  uint64_t eval_heap_bytes = 0;      // Lua's memory for EVAL and kin
  uint64_t function_heap_bytes = 0;  // Lua's memory for functions
  uint64_t cached = 0;               // scripts
  uint64_t cached_bytes = 0;         // the scripts' texts
  uint64_t libraries = 0;
  uint64_t functions = 0;
  uint64_t library_bytes = 0;  // the libraries' texts

  uint64_t heap_bytes() const noexcept { return eval_heap_bytes + function_heap_bytes; }
  uint64_t bytes() const noexcept { return heap_bytes() + cached_bytes + library_bytes; }
};

// The figures of TLS for INFO.
struct TlsFigures {
  uint64_t handshakes = 0;  // completed
  uint64_t handshakes_failed = 0;
  uint64_t resumed = 0;  // completed handshakes that resumed a session
  // Not counters, so Reset keeps them.
  uint64_t connections = 0;           // with a completed handshake
  int64_t certificate_expires_s = 0;  // Unix time; 0: no certificate
};

// The figures that CONFIG RESETSTAT sets to zero.
struct Counters {
  uint64_t connections_received = 0;
  uint64_t connections_rejected = 0;
  uint64_t commands_processed = 0;
  uint64_t net_input_bytes = 0;
  uint64_t net_output_bytes = 0;
  uint64_t keyspace_hits = 0;
  uint64_t keyspace_misses = 0;
  uint64_t leases_granted = 0;
  uint64_t stale_served = 0;                              // replies of TAKE with a stale value
  std::array<uint64_t, kMissReasons> misses_by_reason{};  // the sum is keyspace_misses
  uint64_t shadow_hits = 0;                               // misses that would be hits with twice the memory
  uint64_t error_replies = 0;
  ErrorStats errors;
  UnknownCommands unknown_commands;
  uint64_t failed_logins = 0;
  uint64_t denied_commands = 0;  // the user may not run the command
  uint64_t denied_keys = 0;
  uint64_t denied_channels = 0;
  uint64_t output_limit_disconnections = 0;
  uint64_t query_limit_disconnections = 0;
  uint64_t evicted_clients = 0;   // closed because of maxmemory-clients
  uint64_t loop_turn_max_us = 0;  // the longest working time of a loop turn
  uint64_t loop_turns = 0;
  uint64_t defrag_moved = 0;  // entries moved to denser memory (exec/memory/defragmenter.h)
  uint64_t defrag_left = 0;   // entries examined and left in place
  uint64_t defrag_ms = 0;     // the time of the current or last run of the defragmenter
  uint64_t defrag_total_ms = 0;
  TlsFigures tls;

  void CountMiss(MissReason reason, bool in_shadow) noexcept {
    ++keyspace_misses;
    ++misses_by_reason[static_cast<size_t>(reason)];
    shadow_hits += in_shadow ? 1 : 0;
  }
  uint64_t MissesOf(MissReason reason) const noexcept {
    return misses_by_reason[static_cast<size_t>(reason)];
  }
};

// Levels: how much the server keeps now.
struct Levels {
  uint64_t started_mono_ms = 0;
  // Client bytes cause no evictions, except the received part of big arguments, which will be values.
  uint64_t client_bytes = 0;     // input, big arguments and reply chunks of all clients
  uint64_t held_bytes = 0;       // all memory of clients (server/waiting/held_bytes.h)
  uint64_t arriving_bytes = 0;   // of client_bytes: the received part of big arguments
  uint64_t announced_bytes = 0;  // of client_bytes: reserved for the rest of big arguments
  uint64_t name_bytes = 0;  // names that clients watch, wait for or subscribe to, and the lists of clients
  uint64_t spare_chunk_bytes = 0;  // reply chunks kept for reuse
  uint8_t defrag_percent = 0;      // share of the processor's time spent now on moving entries
  uint64_t tls_bytes = 0;          // TLS memory beside the connections: certificates, sessions, spare buffers
  uint64_t migration_bytes = 0;    // values on their way to other servers (MIGRATE)
  uint64_t idle_outgoing = 0;      // connections to other servers that wait for the next MIGRATE
  ScriptFigures scripts;
  SaveFigures saves;

  // Unix time of the last good save, or of the start.
  int64_t LastSaveS(Now now) const noexcept {
    return saves.last_save_s != 0 ? saves.last_save_s : now.WallOf(started_mono_ms) / kMsPerSecond;
  }
};

struct Stats : Counters, Levels {
  void Reset() noexcept {
    const TlsFigures kept{.connections = tls.connections, .certificate_expires_s = tls.certificate_expires_s};
    static_cast<Counters&>(*this) = Counters();
    tls = kept;
    saves.saves = 0;
  }
};

}  // namespace mayfly
