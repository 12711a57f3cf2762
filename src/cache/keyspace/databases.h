// The numbered databases, each with a Keyspace: flush, swap, expiry and memory of all of them.
//
// A flush replaces the Keyspace by an empty one at once. FreeSome frees the old keyspace in slices; its bytes no longer
// cause evictions. Rich values with many members are freed in the same way. The empty keyspace takes over the id: only
// keyspaces in use have ids of their own, and may use all owner ids of an entry. A namespace is flushed in the same way: its
// shares are doomed. Loop thread only.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/bits/hash.h"
#include "base/databases_max.h"
#include "base/memory/heap.h"
#include "base/time/clock.h"
#include "cache/changes/change.h"
#include "cache/gone/miss_ring.h"
#include "cache/keyspace/keyspace.h"
#include "cache/owners/quota_limits.h"
#include "cache/owners/quotas.h"
#include "cache/owners/tournament.h"
#include "cache/time/expiry_stats.h"

namespace mayfly {

class SlicedReader;

// A read of an absent key.
struct Miss {
  MissReason reason;
  bool in_shadow;  // the key would exist with twice the memory
};

class Databases {
 public:
  static constexpr size_t kBacklogCounted = 10'000;
  // The maximum of flushed keyspaces that wait to be freed, since each takes some KB: as many as one FLUSHALL leaves. Beyond
  // this number the next flush frees a whole keyspace at once.
  static constexpr size_t kWaitingMax = kDatabasesMax;

  // Borrows heap, hasher and changes.
  // REQUIRES: 1 <= count <= kDatabasesMax.
  Databases(Heap& heap, const Hasher& hasher, ChangeHub& changes, unsigned count, Now now);
  ~Databases();

  unsigned count() const noexcept { return static_cast<unsigned>(databases_.size()); }
  // REQUIRES: index < count().
  Keyspace& At(unsigned index) noexcept {
    assert(index < count());
    return *databases_[index];
  }
  const Keyspace& At(unsigned index) const noexcept {
    assert(index < count());
    return *databases_[index];
  }
  // Keys of all databases, including expired keys that are not freed yet.
  size_t total_keys() const noexcept { return parts_.keys; }
  // Calls fn(keyspace, entry) for each noted large value whose key still exists, in no order (cache/keyspace/big_keys.h).
  // REQUIRES: fn changes no key.
  template <typename Fn>
  void ForEachBigKey(Now now, Fn&& fn) const {
    for (const BigKeys::Noted& noted : parts_.big_keys.noted()) {
      const Keyspace& keyspace = *databases_[index_of_[noted.keyspace]];
      if (const Entry* const entry = keyspace.LookAt(noted.key, now)) fn(keyspace, *entry);
    }
  }
  Heap& heap() noexcept { return parts_.heap; }
  ChangeHub& changes() noexcept { return parts_.changes; }
  Quotas& quotas() noexcept { return parts_.quotas; }
  ExpiryStats& expiry_stats() noexcept { return expiry_stats_; }
  const ExpiryStats& expiry_stats() const noexcept { return expiry_stats_; }

  // Marks all entries of all databases: before a marked entry changes, moves in its list by an access, or goes, BeforeChange
  // is called once. Costs nothing per entry. Later entries are not marked. Marks::Remove removes a mark.
  // REQUIRES: no entry is marked, and there is no walk.
  void StartWalk() noexcept;
  // REQUIRES: no entry is marked any more.
  void EndWalk() noexcept;
  bool walked() const noexcept { return walked_; }
  // A walk may read large values in slices. The walk has hold of a text by reference: an edit of the text would copy it.
  // Keys may share a text, so a text may have several readers; a reader has one text. Borrows reader until LetGoText. HoldText
  // throws std::bad_alloc. REQUIRES: HoldText: the text is a block. LetGoText: the reader holds a text.
  void HoldText(const char* text, SlicedReader& reader) { held_texts_.push_back({text, &reader}); }
  void LetGoText(const SlicedReader& reader) noexcept {
    std::erase_if(held_texts_, [&](const HeldText& held) { return held.reader == &reader; });
  }
  // Who reads the entry's value in slices now, or null.
  SlicedReader* ReaderOf(const Entry& entry) const noexcept;
  // Frees a value without a key in slices. REQUIRES: the value has no listener.
  void Bury(std::unique_ptr<RichValue> value) noexcept { parts_.buried.Bury(std::move(value)); }
  // Flush replaces the database by an empty database and reports kFlushed; FlushAll does so with all databases. No effect on
  // a database without keys and stale values. Both throw std::bad_alloc, and then have changed nothing.
  // REQUIRES: index < count().
  void Flush(unsigned index, Now now);
  void FlushAll(Now now);
  // Removes all keys of the namespace at once and reports kNamespaceFlushed for each database with a share. Returns the
  // number of removed keys, including expired keys that were not freed yet.
  size_t FlushNamespace(const Namespace& space);
  // Exchanges the contents of the databases `a` and `b`.
  // REQUIRES: both are < count().
  void Swap(unsigned a, unsigned b);
  // Clears the filter of void guesses: look-ahead starts again, without guesses in use.
  void ForgetGuesses() noexcept { parts_.void_guesses.Forget(); }

  // Sets the access effect from now on. The lists stay: after a change to kRecency, accesses bring the lists into the order
  // of use. kFrequency needs `rules`; the objects borrowed by `rules` must outlive this object.
  void SetAccessEffect(AccessEffect effect, const LfuRules& rules = {}) noexcept;
  AccessEffect access_effect() const noexcept { return effect_; }
  Sparing& sparing() noexcept { return parts_.sparing; }
  const LfuRules& lfu_rules() const noexcept { return parts_.lfu; }
  // Turns the effects of accesses off until ResumeAccesses, so that a client's single request leaves no trace.
  // REQUIRES: they are not off.
  void SuspendAccesses() noexcept {
    assert(!suspended_);
    suspended_ = true;
    FollowEffect();
  }
  bool accesses_suspended() const noexcept { return suspended_; }
  void ResumeAccesses() noexcept {
    suspended_ = false;
    FollowEffect();
  }

  // Names the client (Session::id) that causes the changes from now on; see Change::client.
  void SetClient(uint64_t id) noexcept { parts_.client = id; }
  uint64_t client() const noexcept { return parts_.client; }

  // ---- absent keys
  //
  // The reason why the key is absent. Call NoteMiss once for each miss: the call may count as an access of the shadow list.
  Miss NoteMiss(const Keyspace& keyspace, const Key& key, Now now) noexcept;
  // Remembers misses in this ring from now on; what was remembered before is forgotten. REQUIRES: it is in heap().
  void AdoptMissRing(MissRing ring) noexcept { parts_.departures.misses() = std::move(ring); }
  uint64_t miss_ring_bytes() const noexcept { return parts_.departures.misses().bytes(); }
  // Changed by AdoptNamespaces and PromiseNamespaces only (see Namespaces).
  Namespaces& namespaces() noexcept { return parts_.namespaces; }
  void AdoptNamespaces(Namespaces::Prepared prepared) noexcept;
  void PromiseNamespaces(const QuotaLimits& all) noexcept;
  TtlRules& ttl_rules() noexcept { return parts_.ttl_rules; }
  // Victims of eviction, while the shadow list is on.
  ShadowList& shadow() noexcept { return parts_.departures.shadow(); }
  const ShadowList& shadow() const noexcept { return parts_.departures.shadow(); }

  // ---- tasks (cache/keyspace/tasks.h)
  //
  TaskSettings& task_settings() noexcept { return parts_.tasks; }
  const TaskSettings& task_settings() const noexcept { return parts_.tasks; }
  // The tasks of all databases; the due tasks, which wait for their streams.
  size_t total_tasks() const noexcept;
  size_t ready_tasks() const noexcept;
  // Between HoldTasks and ReleaseTasks no task is delivered. Those that are due then come in the order of their deadlines, see
  // Tasks::SortReady.
  void HoldTasks() noexcept { parts_.tasks.held = true; }
  void ReleaseTasks(Now now) noexcept;

  // ---- tags (cache/tags/tags.h)
  //
  // The number of the last doom: of tags and of shares.
  uint64_t dooms() const noexcept { return parts_.dooms; }
  // ---- what was answered, and is still being done: keys of dooms that are not freed, and not reported as removed, yet; drained
  // tasks that are not in their streams yet, unless no stream takes them
  //
  // True if nothing is left to do of the dooms up to this number (dooms()), nor of any DRAIN.
  bool IsDone(uint64_t doom) const noexcept;
  // True if DoPromised has work at `now`.
  bool HasPromised(Now now) const noexcept;
  // Does about `budget` of it. Returns true if some is left. For a server on which nothing expires now.
  bool DoPromised(Now now, size_t* budget);
  // Does all of it, while everybody waits.
  void FinishPromised(Now now);
  // Frees a key with a doomed tag, and reports the removal. Returns false if there is no such key.
  bool RemoveInvalidated();

  // ---- stale values (cache/gone/stale_values.h)
  //
  // Drops the stale value with the oldest last use, by its keyspace's list; of equal values the lowest keyspace id's.
  // Returns false if there are no stale values.
  bool EvictStale(Now now) noexcept;
  // Drops about `budget` stale values. Returns true if some are left.
  bool DropSomeStale(size_t budget) noexcept;
  size_t stale_values() const noexcept;
  uint64_t stale_bytes() const noexcept;

  // ---- ghosts of evicted keys, for S3-FIFO
  //
  // Turns ghosts on or off. While on, new keys are young (Entry::young) unless the ring has their ghost.
  void KeepGhosts(bool on) noexcept { parts_.departures.ghosts().Follow(on); }
  // Sets the number of ghosts to remember, approximately.
  void WantGhosts(size_t ghosts) noexcept { parts_.departures.ghosts().set_wanted(ghosts); }
  const GhostRing& ghosts() const noexcept { return parts_.departures.ghosts(); }

  // ---- expiry, for the owner of the timer
  // If off, expired keys are freed only when a lookup finds them. For tests.
  void SetActiveExpiry(bool on) noexcept;
  bool active_expiry() const noexcept { return active_expiry_; }
  // For a replica; active expiry is off while expired keys are kept. kRemoved frees them.
  void TreatExpired(ExpiredKeys how) noexcept;
  // While a master is followed, no task is delivered, no value becomes stale, and a key whose namespace gets no share
  // (OwnersExhausted) stays outside of the namespace.
  void FollowMaster(bool follows) noexcept;
  ExpiredKeys expired_keys() const noexcept { return parts_.expired_keys; }
  // Frees expired keys and stale values of all databases, and delivers tasks. Touches at most `budget` entries. Returns true if
  // work is left at `now`.
  bool Advance(Now now, size_t budget);
  // Frees the keys of all databases that a master has cut off: see Reaper::FreeCutOff. Touches about `budget` entries. Returns
  // true if some are left.
  bool FreeCutOff(Now cutoff, bool expires, Now now, size_t budget);
  // Milliseconds from `now` until Advance has work; UINT64_MAX if no key will expire.
  uint64_t NextWakeMs(Now now) noexcept;
  // Number of keys that have expired and are not freed yet. Visits each of them, and therefore looks at kBacklogCounted at
  // most.
  size_t Backlog(Now now) const;
  // A new nearest deadline was filed, or a lookup has removed a key: NextWakeMs may have changed.
  bool rearms() const noexcept { return parts_.rearm.any; }
  // Returns true once after that.
  bool TakeRearm() noexcept { return std::exchange(parts_.rearm.any, false); }

  // ---- flushed keyspaces and big values that are not freed yet
  uint64_t waiting_bytes() const noexcept {
    const bool any = !graveyard_.empty() || parts_.shares_to_free != 0;
    return parts_.buried.bytes() + (any ? DoomedBytes() : 0);
  }
  // Keys of flushed keyspaces and namespaces, and values without a key.
  size_t waiting_keys() const noexcept;
  // Returns true if FreeSome has work: held keyspaces must wait.
  bool MayFreeSome() const noexcept {
    return !parts_.buried.empty() || parts_.departures.shadow().doomed() != 0 || parts_.shares_to_free != 0 ||
           (!graveyard_.empty() && FreeableGraves() != 0);
  }
  // Frees about `budget` members of values, keys of the shadow list and entries of flushed keyspaces, at most a table
  // segment more. Returns MayFreeSome().
  bool FreeSome(size_t budget) noexcept;

 private:
  struct HeldText {
    const char* text;
    SlicedReader* reader;
  };
  // Tells the keyspaces the effect of an access now.
  void FollowEffect() noexcept;
  size_t FreeableGraves() const noexcept;
  // Returns true if a flush has nothing to do: the database has no key and no stale value.
  bool IsEmpty(unsigned index) const noexcept {
    return At(index).size() == 0 && At(index).stale().size() == 0;
  }
  // Makes room in graveyard_ for `graves` more keyspaces. Throws std::bad_alloc.
  // REQUIRES: graves <= kWaitingMax.
  void DigGraves(size_t graves);
  // Replaces the database by `fresh`; the old keyspace waits to be freed.
  // REQUIRES: there is room in graveyard_.
  void Bury(unsigned index, std::unique_ptr<Keyspace> fresh);
  // Reports a change of a whole keyspace, or of its keys with a prefix.
  void Tell(ChangeReason reason, Keyspace& keyspace, std::string_view prefix);
  uint64_t DoomedBytes() const noexcept;
  std::unique_ptr<Keyspace> Successor(const Keyspace& old, Now now);
  Keyspace& WithId(uint8_t id) noexcept { return *databases_[index_of_[id]]; }
  // Brings wakes_ up to date after deadlines were filed or the wall clock was set.
  void CatchUp(Now now) noexcept;
  // Stores the time of the keyspace's next work, and returns the time.
  uint64_t RecordWake(uint8_t id, Now now) noexcept;
  // Advances the keyspaces with work, from `begin` to `end`. Returns the result of Advance.
  bool AdvanceSome(size_t begin, size_t end, Now now, size_t* budget);

  KeyspaceParts parts_;
  ExpiryStats expiry_stats_;
  std::vector<std::unique_ptr<Keyspace>> databases_;
  std::vector<std::unique_ptr<Keyspace>> graveyard_;
  bool active_expiry_ = true;
  AccessEffect effect_ = AccessEffect::kRecency;  // without a walk, and without suspension
  std::vector<HeldText> held_texts_;
  bool walked_ = false;
  bool suspended_ = false;
  std::vector<uint8_t> index_of_;  // database index, by keyspace id
  // The time of each keyspace's next work, in monotonic ms, by its id; never later than the real time. Only a filed deadline
  // (parts_.rearm) and a step of the wall clock make the real time earlier. If removed or moved keys make the real time
  // later, the next look at the recorded time finds the difference.
  Tournament wakes_;
  int64_t wall_minus_mono_ms_;  // when all of wakes_ was computed
  size_t advance_from_ = 0;     // the id to start with: round robin, so that no keyspace starves others
};

// While it lives, the expired keys that a replica keeps are there.
class ShownExpired {
 public:
  explicit ShownExpired(Databases& databases) noexcept
      : databases_(databases), before_(databases.expired_keys()) {
    if (before_ == ExpiredKeys::kHidden) databases_.TreatExpired(ExpiredKeys::kShown);
  }
  ShownExpired(const ShownExpired&) = delete;
  ShownExpired& operator=(const ShownExpired&) = delete;
  ~ShownExpired() { databases_.TreatExpired(before_); }

 private:
  Databases& databases_;
  const ExpiredKeys before_;
};

}  // namespace mayfly
