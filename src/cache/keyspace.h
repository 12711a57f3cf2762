// The keys of one (database, namespace): the hash table that finds them, two LRU lists that know the coldest,
// and two timing wheels that know who is due. The only owner of entries; it keeps the three in step.
//
//   Key -> HashTable -> Entry <- LruList with a TTL / without one
//                             <- TimingWheel monotonic / wall
//
// A key is gone for every method from its deadline on, whether or not the wheel has come round to it.
// Every creation, change and removal passes the ChangeHub once, after all is consistent.
// Invariants (Validate): each entry is in the table once, in the list that its TTL asks for, and, with a TTL,
// in the wheel that its clock asks for; bytes() is the sum over all entries. Entry pointers die with the next
// call that changes this keyspace. Allocation failure throws std::bad_alloc before anything has changed. Loop
// thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/prefetch.h"
#include "base/short_bytes.h"
#include "cache/change.h"
#include "cache/entry.h"
#include "cache/entry_hooks.h"
#include "cache/expiry_stats.h"
#include "cache/hash_table.h"
#include "cache/lfu.h"
#include "cache/lru_list.h"
#include "cache/sieve_hand.h"
#include "cache/stale_guesses.h"
#include "cache/timing_wheel.h"
#include "cache/value.h"

namespace mayfly {

// A key that was hashed once and for all.
struct Key {
  std::string_view text;
  uint64_t hash;
  HeapRef guess = {};  // an entry that may be the key's, or null; dies when look-ahead starts anew
};

// When a key is to expire. Deadlines are ms: monotonic (kRelative, from a TTL) or Unix (kWall, EXAT and
// PXAT).
struct Expiry {
  enum class Kind : uint8_t { kNever, kRelative, kWall };
  Kind kind = Kind::kNever;
  uint64_t deadline_ms = 0;

  static Expiry Never() noexcept { return {}; }
  static Expiry In(uint64_t ttl_ms, Now now) noexcept { return {Kind::kRelative, now.mono_ms + ttl_ms}; }
  // REQUIRES: unix_ms >= 0.
  static Expiry At(int64_t unix_ms) noexcept { return {Kind::kWall, static_cast<uint64_t>(unix_ms)}; }
  bool Reached(Now now) const noexcept {
    if (kind == Kind::kRelative) return deadline_ms <= now.mono_ms;
    return kind == Kind::kWall && now.wall_ms >= 0 && deadline_ms <= static_cast<uint64_t>(now.wall_ms);
  }
};

// What a hit changes in its entry (Databases::TrackAccesses).
enum class AccessTracking : uint8_t {
  kRecency,     // the entry moves to the front of its list
  kVisitedBit,  // SIEVE: it gets the visited bit and stays where it is
  kFrequency,   // LFU: its count may rise, and it stays where it is
  kNone,        // nothing: reads of a client with CLIENT NO-TOUCH (Databases::SuspendTracking)
};

// What all keyspaces of a server share.
struct KeyspaceParts {
  Heap& heap;
  const Hasher& hasher;
  ChangeHub& changes;
  ExpiryStats& expiry_stats;
  StaleGuesses stale_guesses = {};
  bool rearm = false;  // a deadline was filed that is nearer than all before
  AccessTracking tracking = AccessTracking::kRecency;
  LfuRules lfu = {};  // with a source of random numbers under AccessTracking::kFrequency
};

class Keyspace {
 public:
  Keyspace(KeyspaceParts& parts, uint8_t id, Now now);
  ~Keyspace();
  Keyspace(const Keyspace&) = delete;
  Keyspace& operator=(const Keyspace&) = delete;

  // ---- look
  Key KeyOf(std::string_view text) const noexcept { return {text, HashOf(text)}; }
  // The live entry, or null; leaves the LRU order alone.
  [[gnu::always_inline]] Entry* Peek(const Key& key, Now now) {
    const bool alive = key.guess && !parts_.stale_guesses.MayHold(key.guess);
    Entry* entry =
        alive && SameBytes(At(key.guess)->key(), key.text) ? At(key.guess) : LookUp(key.text, key.hash);
    if (entry != nullptr && Expired(*entry, now)) [[unlikely]] {
      Expire(*entry, now);
      return nullptr;
    }
    return entry;
  }
  // The live entry, recording the access (AccessTracking); null when there is none.
  [[gnu::always_inline]] Entry* Find(const Key& key, Now now) {
    Entry* entry = Peek(key, now);
    if (entry != nullptr) Touch(*entry, now);
    return entry;
  }
  [[gnu::always_inline]] void Touch(Entry& entry, Now now) noexcept {
    if (parts_.tracking == AccessTracking::kRecency) [[likely]] {
      entry.set_stamp(Entry::StampOf(now.mono_ms));
      return lists_[ListOf(entry)].MoveToHottest(RefOf(entry));
    }
    if (parts_.tracking == AccessTracking::kFrequency) [[unlikely]]
      return CountHit(entry, now);
    if (parts_.tracking == AccessTracking::kNone) return;
    entry.set_stamp(Entry::StampOf(now.mono_ms));
    entry.Set(EntryFlag::kVisited);
  }

  size_t size() const noexcept { return table_.size(); }
  size_t expiring() const noexcept { return lists_[kExpiring].size(); }
  uint64_t bytes() const noexcept { return bytes_ + table_.memory(); }
  uint64_t table_bytes() const noexcept { return table_.memory(); }
  // What an entry takes with its value, as the allocator rounds it.
  static uint64_t MemoryOf(const Entry& entry) noexcept;
  uint8_t id() const noexcept { return id_; }

  [[gnu::always_inline]] static Expiry ExpiryOf(const Entry& entry) noexcept {
    if (!entry.expires()) return Expiry::Never();
    return {entry.Has(EntryFlag::kWallDeadline) ? Expiry::Kind::kWall : Expiry::Kind::kRelative,
            entry.deadline_ms()};
  }
  // Milliseconds left; REQUIRES: entry.expires(). May be <= 0 while a late entry waits for the wheel.
  static int64_t TtlMs(const Entry& entry, Now now) noexcept;
  // The deadline as Unix time in ms. REQUIRES: entry.expires().
  static int64_t UnixDeadlineMs(const Entry& entry, Now now) noexcept;
  [[gnu::always_inline]] static bool Expired(const Entry& entry, Now now) noexcept {
    return entry.expires() && ExpiryOf(entry).Reached(now);
  }

  // ---- change. `existing` is what Peek or Find gave for the same key just before.
  // Creates the key or overwrites its value, with this expiry. Returns the entry; that is a use of it.
  Entry* Put(const Key& key, Entry* existing, StringValue&& value, Expiry expiry, Now now);
  // Overwrites the value alone; the expiry stays. No use of its own: Find has counted that.
  Entry* PutValue(const Key& key, Entry& existing, StringValue&& value, Now now);
  // Changes the text of a big string where it lies, made longer by zeros where `size` is more than it has:
  // `write` gets its first byte. A block that a reply shares is copied first. The expiry stays, and the entry
  // where it is. No use of its own: Find has counted that. REQUIRES: existing.encoding() == Encoding::kBlock.
  template <typename Write>
  void EditBlock(Entry& existing, size_t size, Write&& write) {
    write(OwnBlock(existing, size));
    Tell(ChangeReason::kSet, existing.key(), &existing);
  }
  // Gives, changes or takes away (Never) the expiry. Returns the entry, which may have been relocated. No use
  // of its own: Find has counted that.
  Entry* SetExpiry(const Key& key, Entry& entry, Expiry expiry, Now now);
  // Gives the key the value and the expiry of `source`, an entry under another name or of another keyspace.
  // Returns the entry, which is as new: nobody has used it but now.
  Entry* PutCopy(const Key& key, Entry* existing, const Entry& source, Now now);
  // `entry` goes away under its name and lies in `to` under another one or the same, where it replaces
  // `existing`. Value, expiry and the memory of its uses stay. REQUIRES: another name, or another keyspace.
  void Move(const Key& key, Entry& entry, Keyspace& to, const Key& new_key, Entry* existing, Now now);
  void Remove(const Key& key, Entry& entry, ChangeReason reason);
  // Removes the key if it lives. Tells the change point of an absent key too.
  bool Delete(const Key& key, Now now);

  // ---- walk. Expired entries are never shown.
  // One page of SCAN from `cursor` (0 starts); the next cursor, 0 at the end, below 2^53. Keys present
  // throughout an iteration are shown, whatever grows or shrinks meanwhile.
  template <typename Fn>
  uint64_t Scan(uint64_t cursor, Now now, Fn&& fn) const {
    return table_.Scan(cursor, [&](HeapRef ref) {
      const Entry& entry = *At(ref);
      if (!Expired(entry, now)) fn(entry);
    });
  }
  template <typename Fn>
  void ForEach(Now now, Fn&& fn) const {
    table_.ForEach([&](HeapRef ref) {
      const Entry& entry = *At(ref);
      if (!Expired(entry, now)) fn(entry);
    });
  }
  // A live entry by chance, or null where there is none.
  Entry* Random(std::mt19937_64& random, Now now);

  // ---- look-ahead, in three stages with other work between them: what a stage reads, the one before has
  // asked for. A guess is the key's entry or another one; StaleGuesses says when it may be freed.
  using Trail = HashTable<EntryTablePolicy>::Trail;
  uint64_t HashOf(std::string_view key) const noexcept { return parts_.hasher(key); }
  Trail PrefetchGroup(uint64_t hash) const noexcept { return table_.PrefetchGroup(hash); }
  HeapRef PrefetchEntry(const Trail& trail) const noexcept { return table_.PrefetchCandidates(trail); }
  // For the third stage where the second had no guess.
  HeapRef PrefetchStray(const Trail& trail, uint64_t hash) const noexcept {
    return table_.PrefetchStray(trail, hash);
  }
  // The entries that a touch of this one writes to; with `writes`, also those that a new deadline does.
  // REQUIRES: guess is not null.
  void PrefetchNeighbours(HeapRef guess, bool writes) const noexcept {
    const Entry& entry = *At(guess);
    if (parts_.tracking == AccessTracking::kRecency) {
      if (entry.hotter()) PrefetchToWrite(At(entry.hotter()));
      if (entry.colder()) PrefetchToWrite(At(entry.colder()));
    }
    if (!writes || !entry.expires()) return;
    if (entry.wheel_next()) PrefetchToWrite(At(entry.wheel_next()));
    if (entry.wheel_prev()) PrefetchToWrite(At(entry.wheel_prev()));
  }

  // ---- expiry
  // Frees what is due; takes the entries that it worked on off `budget`. True where more is to be done at
  // `now`.
  bool Advance(Now now, size_t* budget);
  // Milliseconds from `now` until Advance has something to do; UINT64_MAX where nothing will expire.
  uint64_t NextWakeMs(Now now) const noexcept;
  // Keys whose deadline has come and that wait to be freed; counting stops at `most`.
  size_t Backlog(Now now, size_t most) const;

  // ---- eviction
  enum List : uint8_t { kLasting = 0, kExpiring = 1 };
  Entry* Coldest(List list) const noexcept;
  // An entry of the earliest slots of the wheels, or null.
  Entry* NearestDeadline(Now now) const noexcept;
  Entry* RandomOf(List list, std::mt19937_64& random) const;
  // An entry for a policy that goes by samples: by chance; or, where those with a TTL are asked for and few
  // among many, the next of their list. REQUIRES: there is one, and AccessTracking::kFrequency.
  Entry* Sample(bool with_lasting, std::mt19937_64& random) noexcept;
  size_t CountOf(List list) const noexcept { return lists_[list].size(); }
  // SIEVE's hand looks at up to `most` entries; `passed` gets those that lose their visited bit. The victim
  // stays until it is evicted. REQUIRES: CountOf(list) >= 2.
  template <typename Passed>
  HandWalk<Entry*> Sieve(List list, size_t most, Passed&& passed) noexcept {
    const HandWalk<HeapRef> walk = WalkHand(lists_[list], most, [&](HeapRef ref) {
      Entry& entry = *At(ref);
      if (!entry.Has(EntryFlag::kVisited)) return false;
      entry.Clear(EntryFlag::kVisited);
      passed(entry);
      return true;
    });
    return {walk.victim ? At(walk.victim) : nullptr, walk.looked};
  }
  // How far the hand of `list` has come, in kTurn-ths of a turn; kept by SieveEvictor, 0 at first.
  uint64_t& Turned(List list) noexcept { return turned_[list]; }
  static constexpr uint64_t kTurn = uint64_t{1} << 32;
  // The hands will start at the oldest entries.
  void ForgetHands() noexcept {
    for (Lru& list : lists_) list.set_hand({});
  }
  void Evict(Entry& entry);

  // ---- end
  // Frees up to `budget` entries without telling anybody; true when the keyspace is empty. REQUIRES: nobody
  // will use it for anything else any more.
  bool FreeSome(size_t budget) noexcept;

  bool Validate() const;

 private:
  using Table = HashTable<EntryTablePolicy>;
  using Lru = LruList<EntryLruHooks>;
  using Wheel = TimingWheel<EntryWheelHooks>;

  Entry* At(HeapRef ref) const noexcept { return base_.Resolve<Entry>(ref); }
  HeapRef RefOf(const Entry& entry) const noexcept { return base_.RefOf(&entry); }
  // Takes its arguments in registers, so that a Key need not be in memory.
  [[gnu::noinline]] Entry* LookUp(std::string_view text, uint64_t hash) const noexcept {
    const HeapRef ref = table_.Find(text, hash);
    return ref ? At(ref) : nullptr;
  }
  static List ListOf(const Entry& entry) noexcept { return entry.expires() ? kExpiring : kLasting; }
  Wheel& WheelOf(const Entry& entry) noexcept {
    return entry.Has(EntryFlag::kWallDeadline) ? wall_wheel_ : mono_wheel_;
  }

  void CountHit(Entry& entry, Now now) noexcept;
  // Touch of an entry that Find has given, so that its use is not counted twice.
  void TouchFound(Entry& entry, Now now) noexcept {
    if (parts_.tracking != AccessTracking::kFrequency) Touch(entry, now);
  }
  [[gnu::always_inline]] static Entry::Shape ShapeFor(const Key& key, size_t value_bytes,
                                                      Expiry expiry) noexcept {
    const bool expires = expiry.kind != Expiry::Kind::kNever;
    return {.key_bytes = key.text.size(),
            .value_bytes = value_bytes,
            .expires = expires,
            .extra = expires && expiry.deadline_ms > Entry::kMaxNearDeadline};
  }
  Entry* Create(const Key& key, StringValue&& value, Expiry expiry, Now now);
  // As Put, where `existing` cannot become an entry of `shape`.
  Entry* PutAnew(const Key& key, Entry& existing, const Entry::Shape& shape, StringValue&& value,
                 Expiry expiry, Now now);
  Entry* Allocate(const Key& key, const Entry::Shape& shape, Expiry expiry);
  // Swaps `fresh` in for `old` everywhere and frees old's memory (not what its value points to).
  void Replace(const Key& key, Entry& old, Entry& fresh, Now now);
  void File(Entry& entry, Now now);
  void FileInTime(Entry& entry, Now now) noexcept;
  void FileInWheel(Entry& entry, Now now) noexcept;
  void Unfile(Entry& entry) noexcept;
  void UnfileFromWheel(Entry& entry) noexcept;
  // Gives an entry in a wheel another deadline. REQUIRES: entry.expires().
  [[gnu::always_inline]] void Refile(Entry& entry, Expiry expiry, Now now) {
    if (expiry.kind == Expiry::Kind::kWall || entry.Has(EntryFlag::kWallDeadline)) [[unlikely]]
      return RefileByWall(entry, expiry, now);
    MoveInWheel(entry, expiry);
  }
  void RefileByWall(Entry& entry, Expiry expiry, Now now);
  // REQUIRES: the wheel that it is in is the one of `expiry`.
  [[gnu::always_inline]] void MoveInWheel(Entry& entry, Expiry expiry) {
    entry.set_deadline_ms(expiry.deadline_ms);
    if (WheelOf(entry).Move(RefOf(entry))) parts_.rearm = true;
  }
  // The wall wheel goes back with the wall clock before anything is filed by the new time.
  void FollowWallStepBack(Now now) noexcept;
  void Free(Entry& entry) noexcept;
  // The entry's own memory, not what its value points to.
  void FreeMemory(Entry& entry) noexcept;
  // Lets go of what the value holds outside the entry: so many bytes.
  [[gnu::always_inline]] static size_t DropValue(Entry& entry) noexcept {
    if (entry.encoding() != Encoding::kBlock) [[likely]]
      return 0;
    return SharedBytes::Adopt(entry.pointer()).size();
  }
  // With what its value holds outside the entry.
  static size_t BytesOf(const Entry& entry) noexcept;
  char* OwnBlock(Entry& entry, size_t size);
  void Expire(Entry& entry, Now now);
  bool AdvanceWheel(Wheel& wheel, uint64_t to, Now now, size_t* budget);
  void CountExpired(const Entry& entry, uint64_t lag_ms, Now now) noexcept;
  [[gnu::always_inline]] void Tell(ChangeReason reason, std::string_view key, const Entry* entry) const {
    if (parts_.changes.Wants(reason)) [[unlikely]]
      parts_.changes.Tell({reason, id_, key, entry});
  }

  KeyspaceParts& parts_;
  HeapBase base_;
  uint8_t id_;
  uint64_t bytes_ = 0;
  Table table_;
  Lru lists_[2];
  uint64_t turned_[2] = {0, 0};
  Wheel mono_wheel_;
  Wheel wall_wheel_;
};

// In the header because nearly every SET ends here: a value of the same size, and a TTL as before. Inlined,
// it costs 40 instructions less than called.
[[gnu::always_inline]] inline Entry* Keyspace::Put(const Key& key, Entry* existing, StringValue&& value,
                                                   Expiry expiry, Now now) {
  if (existing == nullptr) return Create(key, std::move(value), expiry, now);
  const Entry::Shape shape = ShapeFor(key, value.stored_bytes(), expiry);
  char* const room = existing->Become(shape);
  if (room == nullptr) [[unlikely]]
    return PutAnew(key, *existing, shape, std::move(value), expiry, now);
  bytes_ += value.outside_bytes() - DropValue(*existing);
  if (shape.expires) Refile(*existing, expiry, now);
  existing->set_encoding(value.encoding());
  value.StoreTo(room);
  Touch(*existing, now);
  Tell(ChangeReason::kSet, key.text, existing);
  return existing;
}

}  // namespace mayfly
