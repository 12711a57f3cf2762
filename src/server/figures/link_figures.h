// What is known of the link to the master, for INFO, ROLE and the refusals of a replica.
//
// The link to the master writes the figures. Loop thread only. Units: bytes, monotonic milliseconds.
#pragma once

#include <cstdint>
#include <string>

namespace mayfly {

struct Session;

struct LinkFigures {
  enum class State : uint8_t {
    kNone,        // this server follows no master
    kConnect,     // waits until it connects again
    kConnecting,  // to the master's address
    kHandshake,
    kTransfer,  // the master sends all keys
    kLoading,   // they are loaded
    kConnected,
  };

  bool follows() const noexcept { return state != State::kNone; }
  bool up() const noexcept { return state == State::kConnected; }

  State state = State::kNone;
  std::string host;
  uint16_t port = 0;
  uint64_t heard_mono_ms = 0;       // of the last byte
  uint64_t down_since_mono_ms = 0;  // while it is not up
  uint64_t transfer_bytes = 0;      // of this transfer or the last, received
  int64_t transfer_total = 0;       // likewise, -1: the master did not say
  std::string history;  // the replication ID: names the stream that `offset` counts in; 40 hex digits
  int64_t offset = 0;   // bytes of the stream that have taken effect here
  uint64_t full_syncs = 0;
  uint64_t partial_syncs = 0;
  bool frees_cut_off = false;  // keys that the master has cut off are still there (replication/cutoff.h)
  uint64_t failures = 0;       // commands of the master that could not run here, since it has sent all keys
  // What the lists of clients show of the link while it is up, else null. It runs nothing, and is not one of Sessions. A client
  // that sets Mode::kDropped ends the link.
  Session* client = nullptr;
};

}  // namespace mayfly
