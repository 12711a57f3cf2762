// A client that waits until enough replicas have confirmed all changes before the request: WAIT, WAITAOF.
//
// The answers of INVALIDATE, NSFLUSH and DRAIN promise changes that come into the stream in slices (Databases::IsDone). A wait
// begins with the end of those before it. DRAINs have no numbers: a wait beside a DRAIN of many tasks also waits for later ones.
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
    int64_t place = 0;     // kNotYet: the stream lacks keys that the server has promised to remove
    size_t replicas = 0;   // the number of replicas
    bool durable = false;  // in the replicas' append-only files
  };

  // No replica has confirmed this place.
  static constexpr int64_t kNotYet = INT64_MAX;

  // Throws std::bad_alloc.
  ReplicaWait(Replicas& replicas, Session& session, const Terms& terms);
  ~ReplicaWait() override;

  const Terms& terms() const noexcept { return terms_; }
  // The last doom that the stream must have before there is a place. REQUIRES: SetPlace was not called.
  uint64_t doom() const noexcept { return doom_; }
  bool settled() const noexcept { return terms_.place != kNotYet; }
  // The stream has everything up to this place.
  void SetPlace(int64_t place) noexcept { terms_.place = place; }
  Session& session() const noexcept { return session_; }
  // The number of replicas that fulfil the terms now.
  size_t Reached() const noexcept;

 private:
  Replicas& replicas_;
  Session& session_;
  Terms terms_;
  const uint64_t doom_;
};

}  // namespace mayfly
