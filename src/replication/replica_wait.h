// A client that waits until enough replicas have confirmed all changes before the request: WAIT, WAITAOF.
//
// Belongs to the waiting request. Wakes the client when enough replicas have confirmed. Borrows replicas and session. Loop
// thread only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/waiting/parking.h"

namespace mayfly {

class Replicas;

class ReplicaWait final : public PendingWork {
 public:
  // What replicas must have of the stream.
  struct Terms {
    int64_t place = 0;
    size_t replicas = 0;   // the number of replicas
    bool durable = false;  // in the replicas' append-only files
  };

  // Throws std::bad_alloc.
  ReplicaWait(Replicas& replicas, Session& session, const Terms& terms);
  ~ReplicaWait() override;

  const Terms& terms() const noexcept { return terms_; }
  Session& session() const noexcept { return session_; }
  // The number of replicas that fulfil the terms now.
  size_t Reached() const noexcept;

 private:
  Replicas& replicas_;
  Session& session_;
  const Terms terms_;
};

}  // namespace mayfly
