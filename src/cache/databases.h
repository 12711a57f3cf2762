// The numbered databases, each a Keyspace, and what concerns all of them: flushing, swapping, expiry, memory.
//
// A flush exchanges the Keyspace for an empty one at once; what it held is freed in slices (FreeSome), and
// its bytes no longer drive eviction. The empty one takes over the id: only the keyspaces in use have ids of
// their own, so there may be as many of them as an entry can name. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/databases_max.h"
#include "base/hash.h"
#include "base/heap.h"
#include "cache/change.h"
#include "cache/expiry_stats.h"
#include "cache/keyspace.h"

namespace mayfly {

class Databases {
 public:
  static constexpr size_t kBacklogCounted = 10'000;
  // Flushed keyspaces that may wait to be freed, since each takes some KB of its own: as many as one FLUSHALL
  // leaves. The next flush frees one of them whole.
  static constexpr size_t kWaitingMax = kDatabasesMax;

  // Borrows heap, hasher and changes. REQUIRES: 1 <= count <= kDatabasesMax.
  Databases(Heap& heap, const Hasher& hasher, ChangeHub& changes, unsigned count, Now now);
  ~Databases();

  unsigned count() const noexcept { return static_cast<unsigned>(databases_.size()); }
  // REQUIRES: index < count().
  Keyspace& At(unsigned index) noexcept { return *databases_[index]; }
  const Keyspace& At(unsigned index) const noexcept { return *databases_[index]; }
  size_t total_keys() const noexcept;
  Heap& heap() noexcept { return parts_.heap; }
  ChangeHub& changes() noexcept { return parts_.changes; }
  ExpiryStats& expiry_stats() noexcept { return expiry_stats_; }
  const ExpiryStats& expiry_stats() const noexcept { return expiry_stats_; }

  void Flush(unsigned index, Now now);
  void FlushAll(Now now);
  // What was database `a` is `b` from now on, and the other way round. REQUIRES: both are < count().
  void Swap(unsigned a, unsigned b);
  // Look-ahead starts anew: all guesses made so far are dead.
  void ForgetGuesses() noexcept { parts_.stale_guesses.Forget(); }

  // How hits are remembered from now on. The lists are taken over as they are: under kOrder their order
  // becomes that of use again as keys are used. What `rules` borrow must outlive this; kCount needs them.
  void TrackAccesses(AccessTracking tracking, const LfuRules& rules = {}) noexcept;
  AccessTracking tracking() const noexcept { return parts_.tracking; }
  const LfuRules& lfu_rules() const noexcept { return parts_.lfu; }
  // Until ResumeTracking is given what this returns, hits change neither the order of use nor the time of the
  // last one: for a client's single read. REQUIRES: meanwhile nobody asks for tracking() or calls
  // TrackAccesses.
  [[nodiscard]] AccessTracking SuspendTracking() noexcept {
    return std::exchange(parts_.tracking, AccessTracking::kNone);
  }
  void ResumeTracking(AccessTracking tracking) noexcept { parts_.tracking = tracking; }

  // ---- expiry, for the owner of the timer
  // Off, nothing is freed at its deadline, only when somebody comes by: for tests.
  void SetActiveExpiry(bool on) noexcept;
  // Frees what is due in all databases, at most `budget` entries of work; true where more is due at `now`.
  bool Advance(Now now, size_t budget);
  // Milliseconds from `now` until Advance has something to do; UINT64_MAX where nothing will expire.
  uint64_t NextWakeMs(Now now) const noexcept;
  // Keys of all databases whose deadline has come and that wait to be freed. Looks at each of them, so
  // counting stops at kBacklogCounted.
  size_t Backlog(Now now) const;
  // True where a deadline was filed that is nearer than all before: NextWakeMs must be asked again.
  bool TakeRearm() noexcept { return std::exchange(parts_.rearm, false); }

  // ---- what was flushed
  uint64_t waiting_bytes() const noexcept { return graveyard_.empty() ? 0 : GraveyardBytes(); }
  size_t waiting_keys() const noexcept;
  // Frees up to `budget` flushed entries; true while more wait.
  bool FreeSome(size_t budget) noexcept;

 private:
  uint64_t GraveyardBytes() const noexcept;

  KeyspaceParts parts_;
  ExpiryStats expiry_stats_;
  std::vector<std::unique_ptr<Keyspace>> databases_;
  std::vector<std::unique_ptr<Keyspace>> graveyard_;
  bool active_expiry_ = true;
  unsigned advance_from_ = 0;  // round robin, so that no database starves another's expiry
};

}  // namespace mayfly
