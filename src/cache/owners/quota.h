// A Quota has the LRU lists and the bytes of one owner: a keyspace, or a namespace's share of a keyspace. Two lists have the
// entries with and without a TTL; the hands of SIEVE and the gates of S3-FIFO on the lists belong to the quota. Every entry
// names its owner (Entry::owner), and Quotas finds the owner's quota.
//
// Four more lists have entries that no policy evicts. kTasks: tasks not yet due, unordered. kReady: due tasks, longest due
// first (cache/tags/task_name.h). kSpared, kSparedExpiring: spared streams without and with a TTL, unordered
// (cache/keyspace/spared_streams.h).
//
// Owners of one keyspace (cache/owners/namespaces.h) have the keyspace's table in common but no list, so the data of one
// owner pushes out no data of another.
//
// Invariants (Validate): those of the lists. Owns no entry. Loop thread only.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "base/memory/heap.h"
#include "cache/entry/entry.h"
#include "cache/entry/entry_hooks.h"
#include "cache/entry/id_set.h"
#include "cache/owners/lru_list.h"
#include "cache/owners/sieve_hand.h"

namespace mayfly {

class Keyspace;
class Namespace;
class Quota;

// The quotas that a victim of eviction may come from.
struct EvictionPool {
  static constexpr uint8_t kForBytes = 1;  // in Quota::promised
  static constexpr uint8_t kForKeys = 2;

  const Namespace* only = nullptr;  // the shares of this namespace; null: all quotas
  uint8_t leaves_out = 0;           // EvictionPool bits: without quotas that have such a promise

  bool Has(const Quota& quota) const noexcept;
};

class Quota {
 public:
  // The entries without and with a TTL; tasks that wait for their time, and tasks whose time has come; spared streams without
  // and with a TTL.
  enum List : uint8_t {
    kLasting = 0,
    kExpiring = 1,
    kTasks = 2,
    kReady = 3,
    kSpared = 4,
    kSparedExpiring = 5
  };
  static constexpr List kLists[] = {kLasting, kExpiring, kTasks, kReady, kSpared, kSparedExpiring};
  static constexpr List kEvictable[] = {kLasting, kExpiring};
  static constexpr uint64_t kTurn = uint64_t{1} << 32;

  // Adds `owner` to `moved` whenever the cold end of a list becomes another entry. Borrows `home` and `moved`.
  Quota(Keyspace& home, uint8_t owner, HeapBase base, IdSet& moved) noexcept
      : home_(home),
        base_(base),
        lists_{Line(EntryLruHooks(base, &moved, owner)), Line(EntryLruHooks(base, &moved, owner)),
               Line(EntryLruHooks(base, &moved, owner)), Line(EntryLruHooks(base, &moved, owner)),
               Line(EntryLruHooks(base, &moved, owner)), Line(EntryLruHooks(base, &moved, owner))},
        owner_(owner) {}
  Quota(const Quota&) = delete;
  Quota& operator=(const Quota&) = delete;

  static List ListOf(const Entry& entry) noexcept {
    if (!entry.evictable()) [[unlikely]]
      return ListWithoutVictims(entry);
    return entry.expires() ? kExpiring : kLasting;
  }

  // The keyspace that holds the entries.
  Keyspace& home() const noexcept { return home_; }
  uint8_t owner() const noexcept { return owner_; }
  size_t CountOf(List list) const noexcept { return lists_[list].size(); }
  size_t size() const noexcept { return evictable() + CountOf(kTasks) + CountOf(kReady) + spared(); }
  size_t evictable() const noexcept { return CountOf(kLasting) + CountOf(kExpiring); }
  size_t spared() const noexcept { return CountOf(kSpared) + CountOf(kSparedExpiring); }
  // The least recently used entry of `list`, or null; under SIEVE and LFU the oldest entry.
  Entry* Coldest(List list) const noexcept {
    const HeapRef ref = lists_[list].coldest();
    return ref ? At(ref) : nullptr;
  }
  // The coldest entry of the first list that has one, or null.
  Entry* Any() const noexcept {
    for (const List list : kLists) {
      if (Entry* const entry = Coldest(list)) return entry;
    }
    return nullptr;
  }

  // The other end of `list`, or null.
  Entry* Hottest(List list) const noexcept {
    const HeapRef ref = lists_[list].hottest();
    return ref ? At(ref) : nullptr;
  }

  // Calls fn(entry) for the coldest entries of `list`, at most `most`, the coldest first.
  template <typename Fn>
  void ForColdest(List list, size_t most, Fn&& fn) const {
    HeapRef ref = lists_[list].coldest();
    for (; ref && most != 0; ref = lists_[list].Hotter(ref), --most) fn(*At(ref));
  }

  // ---- for the keyspace: the entry's place in its list
  void Push(Entry& entry) noexcept {
    const List list = ListOf(entry);
    const HeapRef ref = base_.RefOf(&entry);
    lists_[list].PushHottest(ref);
    if (entry.young() && young_[list]++ == 0) [[unlikely]]
      lists_[list].set_gate(ref);
  }
  void Remove(Entry& entry) noexcept {
    const List list = ListOf(entry);
    lists_[list].Remove(base_.RefOf(&entry));
    young_[list] -= entry.young() ? 1 : 0;
  }
  // REQUIRES: both entries belong to the same list, and both or none are young.
  void Replace(Entry& old, Entry& fresh) noexcept {
    assert(old.owner() == fresh.owner() && ListOf(old) == ListOf(fresh) && old.young() == fresh.young());
    lists_[ListOf(old)].Replace(base_.RefOf(&old), base_.RefOf(&fresh));
  }
  // REQUIRES: entry.evictable().
  [[gnu::always_inline]] void MoveToHottest(Entry& entry) noexcept {
    assert(entry.evictable());
    LineOf(entry).MoveToHottest(base_.RefOf(&entry));
  }
  // The entry is no longer young.
  void MoveToColdest(Entry& entry) noexcept {
    young_[ListOf(entry)] -= entry.young() ? 1 : 0;
    lists_[ListOf(entry)].MoveToColdest(base_.RefOf(&entry));
    entry.set_young(false);
  }

  // Moves the entry to its place by the time of its last use, in a list that is in this order. Looks at no more than kLooks
  // entries from each end: an entry that belongs deeper comes to where the search from the nearer end has stopped.
  void MoveByUse(Entry& entry, uint64_t now_mono_ms) noexcept;
  static constexpr size_t kLooks = 256;

  // ---- a walk from the hottest entry to the coldest (cache/snapshot_walk.h). Between StartWalk and EndWalk, accesses move
  // entries by MoveWalked.
  void MoveWalked(Entry& entry) noexcept { lists_[ListOf(entry)].MoveWalked(base_.RefOf(&entry)); }
  void StartWalk(List list) noexcept { lists_[list].StartWalk(); }
  void EndWalk(List list) noexcept { lists_[list].EndWalk(); }
  // The next entry of the walk, or null. StepWalk goes on to the entry after it.
  Entry* Walker(List list) const noexcept {
    const HeapRef ref = lists_[list].walker();
    return ref ? At(ref) : nullptr;
  }
  void StepWalk(List list) noexcept { lists_[list].StepWalk(); }

  // ---- SIEVE
  // Lets the hand examine up to `most` entries of `list`. Clears the visited bit of each entry that the hand passes, and
  // calls passed(entry). If `passes_young`, the hand passes young entries too, and leaves their bit. The victim stays in the
  // keyspace until Evict.
  // REQUIRES: CountOf(list) >= 2.
  template <typename Passed>
  HandWalk<Entry*> Sieve(List list, size_t most, bool passes_young, Passed&& passed) noexcept {
    const HandWalk<HeapRef> walk = WalkHand(lists_[list], most, [&](HeapRef ref) {
      Entry& entry = *At(ref);
      if (!(passes_young && entry.young())) {
        if (!entry.Has(EntryFlag::kVisited)) return false;
        entry.Clear(EntryFlag::kVisited);
      }
      passed(entry);
      return true;
    });
    return {walk.victim ? At(walk.victim) : nullptr, walk.looked};
  }
  // How far the hand of `list` has moved, in units of 1 / kTurn of a turn. Written by SieveEvictor; 0 at first.
  uint64_t& Turned(List list) noexcept { return turned_[list]; }
  // Lets the hands and the gates start at the oldest entries again.
  void ForgetHands() noexcept {
    for (Lru& list : lists_) list.set_hand({}), list.set_gate({});
  }

  // ---- S3-FIFO
  // The entries of `list` on probation.
  size_t YoungIn(List list) const noexcept { return young_[list]; }
  // Lets the gate examine up to `most` entries of `list`, until at most `keep` entries are young. A visited young entry
  // stays in its place and is young no more. The first young entry without the bit is the victim; the victim stays in the
  // keyspace until Evict.
  // REQUIRES: YoungIn(list) > keep, and keep is not 0.
  HandWalk<Entry*> Gate(List list, size_t most, size_t keep) noexcept;

  // The next entry of `list` in turn, for a policy without a hand, or a list without victims: this method moves SIEVE's hand. Starts at
  // the coldest entry, and again after the hottest.
  // REQUIRES: CountOf(list) != 0.
  Entry* NextInTurn(List list) noexcept {
    assert(CountOf(list) != 0);
    Lru& lru = lists_[list];
    const HeapRef next = lru.hand() ? lru.hand() : lru.coldest();
    lru.set_hand(lru.Hotter(next));
    return At(next);
  }

  // Returns true if NextInTurn begins with the coldest entry: the last turn through the list is complete.
  bool TurnIsComplete(List list) const noexcept { return !lists_[list].hand(); }

  // Checks everything but the number of young entries; the keyspace checks this number.
  bool Validate() const noexcept {
    return std::all_of(std::begin(lists_), std::end(lists_), [](const Lru& list) { return list.Validate(); });
  }

  uint64_t bytes = 0;  // of the entries and of the values outside them; written by the keyspace
  uint64_t stale = 0;  // number of stale values of the owner; likewise
  // ---- of a share; written by the keyspace and the namespace
  Namespace* space = nullptr;      // the namespace; null for a doomed share, or a quota that is no share
  bool doomed = false;             // its entries are absent and wait to be freed
  uint64_t doom = 0;               // the number of its doom (Databases::dooms)
  bool gone_before_marks = false;  // doomed before the entries were last marked (Databases::StartWalk)
  uint8_t promised = 0;  // EvictionPool bits: the limits for which others' eviction takes none of its entries

 private:
  using Lru = LruList<EntryLruHooks>;
  struct alignas(Entry::Bit(EntryFlag::kExpires)) Line : Lru {
    using Lru::Lru;
  };

  static List ListWithoutVictims(const Entry& entry) noexcept {
    if (entry.task()) return entry.ready() ? kReady : kTasks;
    return entry.expires() ? kSparedExpiring : kSpared;
  }
  Entry* At(HeapRef ref) const noexcept { return base_.Resolve<Entry>(ref); }
  // lists_[ListOf(entry)] of an entry in a list of victims. The flag itself is the distance between the lists: each hit runs through
  // this method.
  [[gnu::always_inline]] Lru& LineOf(const Entry& entry) noexcept {
    static_assert(kExpiring == 1);
#ifdef MAYFLY_SANITIZE  // whose references are pointers: a list is longer
    return lists_[ListOf(entry)];
#else
    static_assert(sizeof(Line) == Entry::Bit(EntryFlag::kExpires));
    return *reinterpret_cast<Line*>(reinterpret_cast<char*>(lists_) +
                                    (entry.flags() & Entry::Bit(EntryFlag::kExpires)));
#endif
  }

  Keyspace& home_;
  HeapBase base_;
  Line lists_[std::size(kLists)];
  uint64_t turned_[std::size(kEvictable)] = {0, 0};
  size_t young_[std::size(kLists)] = {};
  uint8_t owner_;
};

inline bool EvictionPool::Has(const Quota& quota) const noexcept {
  if (only != nullptr) return quota.space == only;
  return !quota.doomed && (quota.promised & leaves_out) == 0;
}

}  // namespace mayfly
