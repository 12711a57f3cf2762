// What one client holds: tot-mem of CLIENT LIST. The sum over all clients is mem_clients_normal of INFO, and
// maxmemory-clients limits it.
//
// As in Redis: the session, input that waits, the arguments of parked and queued requests, unread replies, and an
// estimate of what subscriptions, watches and tracking take. A reply that many clients wait for counts for each of
// them. Bytes. Loop thread only.
#pragma once

#include <cstdint>
#include <string>

#include "server/parking.h"
#include "server/session.h"

namespace mayfly {

// Whether it has something that few clients have: HeldBytes looks at that only then.
inline bool HoldsRareThings(const Session& session) noexcept {
  return session.parked != nullptr || session.transaction != nullptr || session.subscriptions != nullptr ||
         session.tracking != nullptr;
}

// The arguments of requests that wait.
inline uint64_t QueuedBytes(const Session& session) noexcept {
  uint64_t bytes = 0;
  if (session.parked != nullptr) bytes += session.parked->arguments.memory();
  if (session.transaction != nullptr) bytes += session.transaction->queued_bytes();
  return bytes;
}

// These, and what subscriptions, watches and tracking take.
inline uint64_t RareBytes(const Session& session) noexcept {
  constexpr uint64_t kListHooks = 2 * sizeof(void*);
  uint64_t bytes = QueuedBytes(session);
  if (session.transaction != nullptr)
    bytes += session.transaction->watches.size() * (sizeof(KeyWatch) + kListHooks);
  if (session.subscriptions != nullptr) {
    constexpr uint64_t kEach = sizeof(Subscription) + sizeof(Subscriptions::ByName::value_type) + kListHooks;
    for (const Subscriptions::ByName& topics : session.subscriptions->by_kind) bytes += topics.size() * kEach;
  }
  if (session.tracking != nullptr) bytes += session.tracking->prefixes.size() * sizeof(std::string);
  return bytes;
}

inline uint64_t HeldBytes(const Session& session) noexcept {
  const uint64_t rare = HoldsRareThings(session) ? RareBytes(session) : 0;
  return sizeof(Session) + session.input_memory + session.output.memory() + rare;
}

}  // namespace mayfly
