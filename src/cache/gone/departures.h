// The front of three memories of absent keys: hears of every key that comes and goes. MissRing has the reason of a miss,
// ShadowList the keys that a larger memory would have kept, and GhostRing the ghosts of S3-FIFO.
//
// A keyspace id and a hash name a key. One object for all keyspaces. Loop thread only.
#pragma once

#include <cstdint>

#include "base/memory/heap.h"
#include "base/time/clock.h"
#include "cache/entry/expiry.h"
#include "cache/gone/ghost_ring.h"
#include "cache/gone/miss_ring.h"
#include "cache/gone/shadow_list.h"

namespace mayfly {

class Departures {
 public:
  explicit Departures(Heap& heap) noexcept : shadow_(heap), ghosts_(heap) {}

  // The key was created. Returns true if the key begins on probation (cache/evict/s3fifo_evictor.h).
  bool Came(uint8_t id, uint64_t hash) noexcept {
    shadow_.Forget(id, hash);
    if (!ghosts_.on()) [[likely]]
      return false;
    return !ghosts_.Take(MarkOf(id, hash));
  }
  // Prefetch: the key will soon be gone. Went: the key is gone.
  void Prefetch(uint8_t id, uint64_t hash) const noexcept { misses_.Prefetch(MarkOf(id, hash)); }
  void Went(uint8_t id, uint64_t hash, MissReason why) noexcept { misses_.Add(MarkOf(id, hash), why); }
  // The key was evicted because memory was full. `bytes`: the memory for keeping the key; only if NeedsBytes.
  void WasEvicted(uint8_t id, uint64_t hash, uint64_t bytes, Expiry deadline, Now now) noexcept {
    if (ghosts_.on()) [[unlikely]]
      ghosts_.Add(MarkOf(id, hash));
    if (shadow_.on()) [[unlikely]]
      shadow_.Add(id, hash, bytes, deadline, now);
  }
  bool NeedsBytes() const noexcept { return shadow_.on(); }
  // A command has deleted the key although the key was absent.
  void Unwanted(uint8_t id, uint64_t hash) noexcept { shadow_.Forget(id, hash); }
  // The reason why the key is absent.
  MissReason Why(uint8_t id, uint64_t hash) const noexcept { return misses_.Find(MarkOf(id, hash)); }

  MissRing& misses() noexcept { return misses_; }
  const MissRing& misses() const noexcept { return misses_; }
  ShadowList& shadow() noexcept { return shadow_; }
  const ShadowList& shadow() const noexcept { return shadow_; }
  GhostRing& ghosts() noexcept { return ghosts_; }
  const GhostRing& ghosts() const noexcept { return ghosts_; }

 private:
  // A mark that stands for the key with this hash in the keyspace with this id.
  static uint64_t MarkOf(uint8_t id, uint64_t hash) noexcept {
    constexpr uint64_t kStep = 0x9E3779B97F4A7C15;  // 2^64 by the golden ratio
    return hash ^ (id * kStep);
  }

  MissRing misses_;
  ShadowList shadow_;
  GhostRing ghosts_;
};

}  // namespace mayfly
