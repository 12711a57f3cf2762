// Counters for INFO: plain numbers, incremented at the place of the event. CONFIG RESETSTAT sets them to zero. Loop
// thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "cache/gone/miss_ring.h"
#include "server/figures/error_stats.h"
#include "server/figures/unknown_commands.h"

namespace mayfly {

// What scripts and functions are there, and their memory in bytes.
struct ScriptFigures {
  uint64_t eval_heap_bytes = 0;      // of Lua, for EVAL and its kin
  uint64_t function_heap_bytes = 0;  // of Lua, for functions
  uint64_t cached = 0;               // scripts
  uint64_t cached_bytes = 0;         // their texts
  uint64_t libraries = 0;
  uint64_t functions = 0;
  uint64_t library_bytes = 0;  // the libraries' texts

  uint64_t heap_bytes() const noexcept { return eval_heap_bytes + function_heap_bytes; }
  uint64_t bytes() const noexcept { return heap_bytes() + cached_bytes + library_bytes; }
};

// What INFO says of TLS.
struct TlsFigures {
  uint64_t handshakes = 0;  // that are done
  uint64_t handshakes_failed = 0;
  uint64_t resumed = 0;  // of handshakes, those that went on with a session
  // Not counters, so Reset keeps them.
  uint64_t connections = 0;           // whose handshake is done
  int64_t certificate_expires_s = 0;  // Unix time; 0: there is no certificate
};

// What CONFIG RESETSTAT sets to zero.
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
  std::array<uint64_t, kMissReasons> misses_by_reason{};  // their sum is keyspace_misses
  uint64_t shadow_hits = 0;                               // misses that twice the memory would have made hits
  uint64_t error_replies = 0;
  ErrorStats errors;
  UnknownCommands unknown_commands;
  uint64_t failed_logins = 0;
  uint64_t denied_commands = 0;  // to users that may not run them
  uint64_t denied_keys = 0;
  uint64_t denied_channels = 0;
  uint64_t output_limit_disconnections = 0;
  uint64_t query_limit_disconnections = 0;
  uint64_t evicted_clients = 0;   // closed because of maxmemory-clients
  uint64_t loop_turn_max_us = 0;  // the longest working time of a loop turn
  uint64_t loop_turns = 0;
  uint64_t defrag_moved = 0;  // entries that were moved to denser memory (exec/memory/defragmenter.h)
  uint64_t defrag_left = 0;   // that were looked at and left where they are
  uint64_t defrag_ms = 0;     // the time of all that since it last began
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

// What it keeps: how much there is now.
struct Levels {
  uint64_t started_mono_ms = 0;
  // It causes no evictions, but for what has arrived of big arguments, which will be values.
  uint64_t client_bytes = 0;       // input, big arguments and reply chunks of all clients
  uint64_t held_bytes = 0;         // all that clients hold (server/waiting/held_bytes.h)
  uint64_t arriving_bytes = 0;     // of client_bytes, what has arrived of big arguments
  uint64_t announced_bytes = 0;    // of client_bytes, reserved for big arguments that have not arrived
  uint64_t name_bytes = 0;         // names that clients watch, wait for or have subscribed to, and who does
  uint64_t spare_chunk_bytes = 0;  // reply chunks kept for reuse
  uint8_t defrag_percent = 0;      // of the processor's time that is spent on moving entries now
  uint64_t tls_bytes = 0;          // of TLS what no client holds: certificates, sessions, spare buffers
  ScriptFigures scripts;
};

struct Stats : Counters, Levels {
  void Reset() noexcept {
    const TlsFigures kept{.connections = tls.connections, .certificate_expires_s = tls.certificate_expires_s};
    static_cast<Counters&>(*this) = Counters();
    tls = kept;
  }
};

}  // namespace mayfly
