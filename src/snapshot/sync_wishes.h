// What clients have asked for by REPLCONF before they send SYNC: a snapshot alone, and which parts of it.
//
// Loop thread only.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "server/clients/session.h"
#include "server/hubs/client_ends.h"
#include "snapshot/saver.h"

namespace mayfly {

struct SyncWish {
  bool rdb_only = false;
  SaveParts parts;
};

class SyncWishes final : private ClientEnds::Ear {
 public:
  explicit SyncWishes(ClientEnds& ends) : Ear(ends) {}
  ~SyncWishes() = default;

  // To be changed. Throws std::bad_alloc.
  SyncWish& Of(const Session& client) { return wishes_[client.id]; }

 private:
  void OnClientEnd(Session& client) noexcept override { wishes_.erase(client.id); }

  std::unordered_map<uint64_t, SyncWish> wishes_;  // by the session's id
};

}  // namespace mayfly
