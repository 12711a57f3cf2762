// What is known of this server's replicas and of the stream for them, for INFO and ROLE.
//
// The part that has the replicas writes the figures. Loop thread only. Units: bytes, monotonic milliseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly {

struct ReplicaFigures {
  struct Line {
    std::string address;     // announced, or that of the connection
    uint16_t port = 0;       // on which the replica listens
    std::string_view state;  // in Redis's words: wait_bgsave, send_bulk, online
    int64_t offset = 0;      // that the replica has confirmed
    uint64_t heard_mono_ms = 0;
    bool online = false;
    uint64_t client = 0;  // id of its session
    int64_t needs = 0;    // the first byte of the stream that is not in its output yet
  };

  std::vector<Line> lines;  // in the order of their arrival
  std::string history;      // the replication ID of the stream; empty: there is none
  std::string old_history;  // up to old_offset the stream is the same as this one; mostly empty
  int64_t old_offset = -1;
  int64_t offset = 0;                         // bytes of the stream so far
  std::string_view failover = "no-failover";  // the state of a planned handover, in Redis's words
  uint64_t stop_mono_ms = 0;   // when the server stops, with or without its replicas; 0: it does not
  bool active = false;         // the stream is kept
  int64_t backlog_begin = 0;   // the first byte of the stream that is kept
  uint64_t backlog_bytes = 0;  // memory
  uint64_t full_syncs = 0;     // since the start
  uint64_t partial_syncs = 0;
  uint64_t refused_syncs = 0;  // partial ones: the stream was another, or bytes of it were gone
};

}  // namespace mayfly
