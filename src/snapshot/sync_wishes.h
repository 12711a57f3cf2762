// A client's REPLCONF words before SYNC: the client's address and abilities, and the wanted parts of a snapshot.
//
// Loop thread only.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "server/clients/session.h"
#include "server/hubs/client_ends.h"
#include "snapshot/saver.h"

namespace mayfly {

struct SyncWish {
  bool rdb_only = false;  // no stream after the snapshot
  SaveParts parts;
  bool takes_marks = false;    // a snapshot without a length, with a mark at its end
  bool takes_history = false;  // the answer to PSYNC may name another history
  bool is_mayfly = false;      // knows the facts of Mayfly alone
  bool takes_cutoffs = false;  // needs no DEL for expired keys (replication/cutoff.h)
  uint16_t listening_port = 0;
  std::string address;  // announced; empty: the connection's address
};

class SyncWishes final : private ClientEnds::Listener {
 public:
  explicit SyncWishes(ClientEnds& ends) : Listener(ends) {}
  ~SyncWishes() = default;

  // Returns the client's wish, to be changed. Throws std::bad_alloc.
  SyncWish& Of(const Session& client) { return wishes_[client.id]; }

 private:
  void OnClientEnd(Session& client) noexcept override { wishes_.erase(client.id); }

  std::unordered_map<uint64_t, SyncWish> wishes_;  // by the session's id
};

}  // namespace mayfly
