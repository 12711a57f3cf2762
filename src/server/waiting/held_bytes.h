// The memory held by one client: tot-mem of CLIENT LIST. maxmemory-clients limits the sum over all clients, and
// mem_clients_normal of INFO is the sum without replicas.
//
// As in Redis: the session, waiting input, the arguments of parked and queued requests, unread replies, and the memory of
// subscriptions, watches, waits for keys and tracking, here with the names. A reply or a name shared by many clients counts
// for each client. Bytes. Loop thread only.
#pragma once

#include <cstdint>
#include <string>

#include "server/clients/name_bytes.h"
#include "server/clients/session.h"
#include "server/clients/subscriptions.h"
#include "server/clients/tracking_state.h"
#include "server/clients/transaction.h"
#include "server/waiting/parking.h"

namespace mayfly {

// True if the client has rare state; HeldBytes reads the rare state only then.
inline bool HoldsRareThings(const Session& session) noexcept {
  return session.parked != nullptr || session.transaction != nullptr || session.subscriptions != nullptr ||
         session.tracking != nullptr;
}

// The arguments of waiting requests.
inline uint64_t QueuedBytes(const Session& session) noexcept {
  uint64_t bytes = 0;
  if (session.parked != nullptr) bytes += session.parked->arguments.memory();
  if (session.transaction != nullptr) bytes += session.transaction->queued_bytes();
  return bytes;
}

// QueuedBytes, and the memory of subscriptions, watches and tracking.
inline uint64_t RareBytes(const Session& session) noexcept {
  uint64_t bytes = QueuedBytes(session);
  if (session.parked != nullptr) bytes += session.parked->waited_bytes;
  if (session.transaction != nullptr) bytes += session.transaction->watched_bytes;
  if (session.subscriptions != nullptr) {
    bytes += session.subscriptions->bytes;
    for (const Subscriptions::ByName& own : session.subscriptions->by_kind) bytes += BucketBytes(own);
  }
  if (session.tracking != nullptr) bytes += session.tracking->prefix_bytes;
  return bytes;
}

inline uint64_t HeldBytes(const Session& session) noexcept {
  const uint64_t rare = HoldsRareThings(session) ? RareBytes(session) : 0;
  return sizeof(Session) + session.input_memory + session.output.memory() + rare;
}

}  // namespace mayfly
