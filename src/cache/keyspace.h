// A Keyspace holds the keys of one database: a hash table that finds them, two LRU lists that order them by
// last access, and two timing wheels that order them by deadline. It is the only owner of the entries and
// keeps these containers consistent.
//
//   Key -> HashTable -> Entry <- LruList      with a TTL / without
//                             <- TimingWheel  monotonic deadlines / wall-clock deadlines
//
// From its deadline on, a key is absent for every method, even if the wheel has not freed it yet.
//
// Every creation, change and removal is reported to the ChangeHub once, when all containers are consistent.
//
// Invariants (Validate): each entry is in the table once; in the list for entries with or without a TTL; and,
// with a TTL, in the wheel of its clock. bytes() is the sum over all entries.
//
// Entry pointers are valid until the next call that changes this keyspace. If memory runs out, a method
// throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/prefetch.h"
#include "base/short_bytes.h"
#include "cache/buried_values.h"
#include "cache/change.h"
#include "cache/entry.h"
#include "cache/entry_hooks.h"
#include "cache/expiry.h"
#include "cache/expiry_stats.h"
#include "cache/hash_table.h"
#include "cache/lfu.h"
#include "cache/lru_list.h"
#include "cache/rich_value.h"
#include "cache/sieve_hand.h"
#include "cache/stale_guesses.h"
#include "cache/timing_wheel.h"
#include "cache/value.h"

namespace mayfly {

// A key with its hash, which is computed only once.
struct Key {
  std::string_view text;
  uint64_t hash;
  HeapRef guess = {};  // an entry that may be the key's, or null; invalid after Databases::ForgetGuesses
};

// One of several keys that are put in one step (Keyspace::PutAll, which alone uses the last two).
struct KeyPut {
  Key key;
  StringValue value;
  Entry* entry = nullptr;  // the existing one, and later the one that replaces it
  bool inserted = false;   // the latter is in the table
};

// What an access changes in its entry (see Databases::TrackAccesses).
enum class AccessTracking : uint8_t {
  kRecency,     // LRU: the stamp is set and the entry moves to the front of its list
  kVisitedBit,  // SIEVE: the stamp and the visited bit are set; the entry does not move
  kFrequency,   // LFU: the counter may rise; the entry does not move
  kNone,        // nothing: the client reads with CLIENT NO-TOUCH (Databases::SuspendTracking)
};

// What all keyspaces of a server share. Borrows heap, hasher, changes and expiry_stats.
struct KeyspaceParts {
  Heap& heap;
  const Hasher& hasher;
  ChangeHub& changes;
  ExpiryStats& expiry_stats;
  StaleGuesses stale_guesses = {};
  bool rearm = false;  // a deadline was filed that is nearer than all others
  AccessTracking tracking = AccessTracking::kRecency;
  LfuRules lfu = {};    // lfu.random is not null under AccessTracking::kFrequency
  uint64_t client = 0;  // Change::client of what changes now by a command
  BuriedValues buried = {};
};

class Keyspace {
 public:
  Keyspace(KeyspaceParts& parts, uint8_t id, unsigned database, Now now);
  ~Keyspace();
  Keyspace(const Keyspace&) = delete;
  Keyspace& operator=(const Keyspace&) = delete;

  // ---- lookup
  Key KeyOf(std::string_view text) const noexcept { return {text, HashOf(text)}; }
  // The live entry, or null. Removes the entry if it has expired. Does not count as an access.
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
  // The live entry, or null. Removes the entry if it has expired. Records the access (AccessTracking).
  [[gnu::always_inline]] Entry* Find(const Key& key, Now now) {
    Entry* entry = Peek(key, now);
    if (entry != nullptr) Touch(*entry, now);
    return entry;
  }
  // Records an access of the entry (AccessTracking).
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

  // Number of keys, including expired ones that are not freed yet.
  size_t size() const noexcept { return table_.size(); }
  // Of these, the keys with a TTL.
  size_t expiring() const noexcept { return lists_[kExpiring].size(); }
  // Bytes of all entries, of the values outside them, and of the table.
  uint64_t bytes() const noexcept { return bytes_ + table_.memory(); }
  uint64_t table_bytes() const noexcept { return table_.memory(); }
  // Memory of an entry and its value, as the allocator rounds it.
  static uint64_t MemoryOf(const Entry& entry) noexcept;
  uint8_t id() const noexcept { return id_; }
  // The index of the database whose keys these are now, or were until it was flushed.
  unsigned database() const noexcept { return database_; }
  void set_database(unsigned index) noexcept { database_ = index; }
  // Reports the following changes of all keyspaces as this client's, but not expiry and eviction.
  void SetClient(uint64_t id) noexcept { parts_.client = id; }

  [[gnu::always_inline]] static Expiry ExpiryOf(const Entry& entry) noexcept {
    if (!entry.expires()) return Expiry::Never();
    return {entry.Has(EntryFlag::kWallDeadline) ? Expiry::Kind::kWall : Expiry::Kind::kRelative,
            entry.deadline_ms()};
  }
  // Milliseconds until the deadline; <= 0 if the entry has expired but is not freed yet.
  // REQUIRES: entry.expires().
  static int64_t TtlMs(const Entry& entry, Now now) noexcept;
  // The deadline as Unix time in ms.
  // REQUIRES: entry.expires().
  static int64_t UnixDeadlineMs(const Entry& entry, Now now) noexcept;
  [[gnu::always_inline]] static bool Expired(const Entry& entry, Now now) noexcept {
    return entry.expires() && ExpiryOf(entry).Reached(now);
  }

  // ---- changes. `existing` is the result of Peek or Find for the same key, without a change in between.
  // `event` is the change's name for listeners.
  //
  // Creates the key or overwrites its value, and sets the expiry. Counts as an access. Returns the entry.
  Entry* Put(const Key& key, Entry* existing, StringValue&& value, Expiry expiry, Now now,
             const Event& event = events::kSet);
  // As Put, for a plain text (StringValue::IsPlain): the shortest way.
  Entry* PutText(const Key& key, Entry* existing, std::string_view text, Expiry expiry, Now now,
                 const Event& event);
  // As Put for each, in their order: with this expiry or, if `keep_expiry`, with the one that a key has.
  // Throws std::bad_alloc, and changes none of them then.
  void PutAll(std::span<KeyPut> puts, bool keep_expiry, Expiry expiry, Now now,
              const Event& event = events::kSet);
  // Overwrites the value and keeps the expiry. Returns the entry. Does not count as an LFU access; the
  // caller's Find already did.
  Entry* PutValue(const Key& key, Entry& existing, StringValue&& value, Now now, const Event& event);
  // Changes the text of a big string in place and keeps the expiry. If `size` exceeds its length, the text
  // first grows to `size` by zero bytes. Calls write(char*) with the first byte of the text; it returns whether
  // it has changed any. A block that is shared with a reply is copied first. Does not count as an access; the
  // caller's Find already did.
  // REQUIRES: existing.encoding() == Encoding::kBlock.
  template <typename Write>
  void EditBlock(Entry& existing, size_t size, const Event& event, Write&& write) {
    assert(existing.encoding() == Encoding::kBlock);
    TellBefore(existing);
    const bool grows = size > existing.TextLength();
    if (write(OwnBlock(existing, size)) || grows)
      Tell(ChangeReason::kValueChanged, event, existing.key(), &existing);
  }
  // As Put, for a value that is not a string. Throws std::bad_alloc, and frees the value then.
  Entry* PutRich(const Key& key, Entry* existing, std::unique_ptr<RichValue> value, Expiry expiry, Now now,
                 const Event& event);
  // Lets edit(T&) change the value, which returns whether it has changed anything, and reports that. A key whose
  // value has no members left is removed. Does not count as an access; the caller's Find already did. If `edit`
  // throws, nothing is reported. Returns the entry, or null if the key was removed.
  // REQUIRES: the value's type is T.
  template <typename T, typename Edit>
  Entry* EditRich(const Key& key, Entry& existing, const Event& event, Edit&& edit) {
    TellBefore(existing);
    const uint64_t before = existing.rich()->Bytes();
    bool changed = false;
    try {
      changed = edit(static_cast<T&>(*existing.rich()));
    } catch (...) {
      CountEdit(existing, before);
      throw;
    }
    CountEdit(existing, before);
    return changed ? FinishEdit(key, existing, event) : &existing;
  }
  // Sets, changes or removes (Never) the expiry. Returns the entry, which may have been relocated. Does not
  // count as an LFU access; the caller's Find already did.
  Entry* SetExpiry(const Key& key, Entry& entry, Expiry expiry, Now now);
  // Gives the key a copy of the value and expiry of `source`, an entry of another name or keyspace. Returns the
  // entry, whose access history begins now.
  Entry* PutCopy(const Key& key, Entry* existing, const Entry& source, Now now);
  // Moves `entry` to the keyspace `to` under `new_key`, where it replaces `existing`. Keeps value, expiry and
  // access history. What the value holds outside the entry is not copied.
  // REQUIRES: `new_key` is another key, or `to` is another keyspace.
  void Move(const Key& key, Entry& entry, Keyspace& to, const Key& new_key, Entry* existing, Now now);
  // Removes and frees the entry, and reports the change with `reason`.
  void Remove(const Key& key, Entry& entry, ChangeReason reason);
  // Removes the key if it exists; returns whether it did. Reports kDeleted for an absent key too.
  bool Delete(const Key& key, Now now);

  // ---- iteration. Expired entries are skipped.
  //
  // Calls fn(entry) for one page of SCAN from `cursor` and returns the next cursor, which is below 2^53. 0
  // starts and 0 ends. Keys that are present throughout an iteration are reported, whatever grows or shrinks
  // meanwhile.
  template <typename Fn>
  uint64_t Scan(uint64_t cursor, Now now, Fn&& fn) const {
    return table_.Scan(cursor, [&](HeapRef ref) {
      const Entry& entry = *At(ref);
      if (!Expired(entry, now)) fn(entry);
    });
  }
  // Calls fn(entry) for every live key.
  // REQUIRES: fn does not change this keyspace.
  template <typename Fn>
  void ForEach(Now now, Fn&& fn) const {
    table_.ForEach([&](HeapRef ref) {
      const Entry& entry = *At(ref);
      if (!Expired(entry, now)) fn(entry);
    });
  }
  // A random live entry, or null if none was found.
  Entry* Random(std::mt19937_64& random, Now now);

  // ---- marks: entries that ChangeListener::BeforeChange is called for. See Databases::MarkAll.
  bool Marked(const Entry& entry) const noexcept {
    return ((entry.flags() ^ phase_) & static_cast<uint8_t>(EntryFlag::kPhase)) != 0;
  }
  void MarkAll() noexcept { phase_ ^= static_cast<uint8_t>(EntryFlag::kPhase); }
  // As Scan, but calls fn for the marked entries of the page, expired or not, and removes their marks.
  template <typename Fn>
  uint64_t ScanMarked(uint64_t cursor, Fn&& fn) {
    return table_.Scan(cursor, [&](HeapRef ref) {
      Entry& entry = *At(ref);
      if (!Marked(entry)) return;
      fn(static_cast<const Entry&>(entry));
      Unmark(entry);
    });
  }

  // ---- look-ahead. Three stages, with other work between them: each stage prefetches what the next one
  // reads. A guess is an entry that is probably the key's. It may be followed unless StaleGuesses::MayHold.
  using Trail = HashTable<EntryTablePolicy>::Trail;
  uint64_t HashOf(std::string_view key) const noexcept { return parts_.hasher(key); }
  Trail PrefetchGroup(uint64_t hash) const noexcept { return table_.PrefetchGroup(hash); }
  HeapRef PrefetchEntry(const Trail& trail) const noexcept { return table_.PrefetchCandidates(trail); }
  // The third stage, if the second returned null.
  HeapRef PrefetchStray(const Trail& trail, uint64_t hash) const noexcept {
    return table_.PrefetchStray(trail, hash);
  }
  // Prefetches the entries that a Touch of this one will write to; with `writes`, also those that a new
  // deadline will write to.
  // REQUIRES: guess is not null.
  void PrefetchNeighbours(HeapRef guess, bool writes) const noexcept {
    assert(guess);
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
  // Frees expired entries. Subtracts the entries that it touched from `*budget`. Returns true if work is left
  // at `now`.
  bool Advance(Now now, size_t* budget);
  // Milliseconds from `now` until Advance has work; UINT64_MAX if no key will expire.
  uint64_t NextWakeMs(Now now) const noexcept;
  // Number of keys that have expired and are not freed yet. Stops counting at `most`.
  size_t Backlog(Now now, size_t most) const;

  // ---- eviction
  enum List : uint8_t { kLasting = 0, kExpiring = 1 };  // the entries without and with a TTL
  // The least recently used entry of `list`, or null; under SIEVE and LFU the oldest one.
  Entry* Coldest(List list) const noexcept;
  // An entry from the earliest slots of the wheels, or null.
  Entry* NearestDeadline(Now now) const noexcept;
  // A random entry of `list`, possibly an expired one; null if the list is empty.
  Entry* RandomOf(List list, std::mt19937_64& random) const;
  // An entry for a policy that samples: a random one; or, if `with_lasting` is false and few keys have a TTL,
  // the next one in the list of those.
  // REQUIRES: there is such an entry, and tracking is AccessTracking::kFrequency.
  Entry* Sample(bool with_lasting, std::mt19937_64& random) noexcept;
  size_t CountOf(List list) const noexcept { return lists_[list].size(); }
  // Lets SIEVE's hand examine up to `most` entries of `list`. Clears the visited bit of each entry that it
  // passes, and calls passed(entry). The victim stays in the keyspace until Evict.
  // REQUIRES: CountOf(list) >= 2.
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
  // How far the hand of `list` has moved, in units of 1 / kTurn of a turn. Written by SieveEvictor; 0 at
  // first.
  uint64_t& Turned(List list) noexcept { return turned_[list]; }
  static constexpr uint64_t kTurn = uint64_t{1} << 32;
  // Lets the hands start at the oldest entries again.
  void ForgetHands() noexcept {
    for (Lru& list : lists_) list.set_hand({});
  }
  // Removes the entry, counts it as evicted and reports the change.
  void Evict(Entry& entry);

  // ---- end
  //
  // While it is held, a flushed keyspace is not freed. Holds are counted.
  void Hold() noexcept { ++holds_; }
  // REQUIRES: held().
  void Release() noexcept {
    assert(held());
    --holds_;
  }
  bool held() const noexcept { return holds_ != 0; }
  // Frees about `budget` entries, at most a table segment more, without reporting the changes. Returns true if
  // the keyspace is empty.
  // REQUIRES: nobody uses the keyspace for anything else from now on.
  bool FreeSome(size_t budget) noexcept;

  bool Validate() const;

 private:
  using Table = HashTable<EntryTablePolicy>;
  using Lru = LruList<EntryLruHooks>;
  using Wheel = TimingWheel<EntryWheelHooks>;

  Entry* At(HeapRef ref) const noexcept { return base_.Resolve<Entry>(ref); }
  HeapRef RefOf(const Entry& entry) const noexcept { return base_.RefOf(&entry); }
  // Takes its arguments in registers, so that a Key need not be stored in memory.
  [[gnu::noinline]] Entry* LookUp(std::string_view text, uint64_t hash) const noexcept {
    const HeapRef ref = table_.Find(text, hash);
    return ref ? At(ref) : nullptr;
  }
  static List ListOf(const Entry& entry) noexcept { return entry.expires() ? kExpiring : kLasting; }
  Wheel& WheelOf(const Entry& entry) noexcept {
    return entry.Has(EntryFlag::kWallDeadline) ? wall_wheel_ : mono_wheel_;
  }

  void Unmark(Entry& entry) noexcept {
    entry.set_flags(entry.flags() ^ static_cast<uint8_t>(EntryFlag::kPhase));
  }
  void CountHit(Entry& entry, Now now) noexcept;
  // Touches an entry that Find has returned, without counting the access twice.
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
  // As Put, but without reporting the change; likewise the next three.
  Entry* Place(const Key& key, Entry* existing, StringValue&& value, Expiry expiry, Now now);
  Entry* Create(const Key& key, StringValue&& value, Expiry expiry, Now now);
  Entry* Overwrite(const Key& key, Entry& existing, StringValue&& value, Expiry expiry, Now now);
  // As PutText, for a new key or an `existing` that does not take the text in place.
  Entry* PutTextAnew(const Key& key, Entry* existing, std::string_view text, Expiry expiry, Now now,
                     const Event& event);
  // For an `existing` that cannot take `shape` in place, or whose change a listener wants to see before.
  Entry* PutAnew(const Key& key, Entry& existing, const Entry::Shape& shape, StringValue&& value,
                 Expiry expiry, Now now);
  Entry* Allocate(const Key& key, const Entry::Shape& shape, Expiry expiry);
  // For PutAll: makes an entry that is in no table, list or wheel yet; puts it in its place; or frees it.
  Entry* Make(KeyPut& put, Expiry expiry);
  void Install(KeyPut& put, Now now, const Event& event);
  void Discard(KeyPut& put) noexcept;
  // Replaces `old` by `fresh` in all containers and frees the memory of `old`, but not what its value points
  // to.
  void Replace(const Key& key, Entry& old, Entry& fresh, Now now);
  // Takes the entry out of all containers.
  void TakeOut(const Key& key, Entry& entry) noexcept;
  void File(Entry& entry, Now now);
  void FileInTime(Entry& entry, Now now) noexcept;
  void FileInWheel(Entry& entry, Now now) noexcept;
  void Unfile(Entry& entry) noexcept;
  void UnfileFromWheel(Entry& entry) noexcept;
  // Changes the deadline of an entry that is in a wheel.
  // REQUIRES: entry.expires().
  [[gnu::always_inline]] void Refile(Entry& entry, Expiry expiry, Now now) {
    assert(entry.expires());
    if (expiry.kind == Expiry::Kind::kWall || entry.Has(EntryFlag::kWallDeadline)) [[unlikely]]
      return RefileByWall(entry, expiry, now);
    MoveInWheel(entry, expiry);
  }
  void RefileByWall(Entry& entry, Expiry expiry, Now now);
  // REQUIRES: the entry is in the wheel of expiry.kind.
  [[gnu::always_inline]] void MoveInWheel(Entry& entry, Expiry expiry) {
    assert(entry.Has(EntryFlag::kWallDeadline) == (expiry.kind == Expiry::Kind::kWall));
    entry.set_deadline_ms(expiry.deadline_ms);
    if (WheelOf(entry).Move(RefOf(entry))) parts_.rearm = true;
  }
  // If the wall clock was set back, sets the wall wheel back. Must precede any filing by the new time.
  void FollowWallStepBack(Now now) noexcept;
  void Free(Entry& entry) noexcept;
  // Frees the entry's own memory, but not what its value points to.
  void FreeMemory(Entry& entry) noexcept;
  // Releases what the value holds outside the entry. Returns its size in bytes.
  [[gnu::always_inline]] size_t DropValue(Entry& entry) noexcept {
    if (entry.encoding() < Encoding::kBlock) [[likely]]
      return 0;
    return DropOutside(entry);
  }
  size_t DropOutside(Entry& entry) noexcept;
  static size_t OutsideBytes(const Entry& entry) noexcept;
  // For EditRich: the value has other bytes now; it has changed.
  void CountEdit(const Entry& entry, uint64_t bytes_before) noexcept {
    bytes_ += entry.rich()->Bytes() - bytes_before;
  }
  Entry* FinishEdit(const Key& key, Entry& entry, const Event& event);
  // The allocated size of the entry plus what its value holds outside it.
  static size_t BytesOf(const Entry& entry) noexcept;
  char* OwnBlock(Entry& entry, size_t size);
  void Expire(Entry& entry, Now now);
  bool AdvanceWheel(Wheel& wheel, uint64_t to, Now now, size_t* budget);
  void CountExpired(const Entry& entry, uint64_t lag_ms, Now now) noexcept;
  [[gnu::always_inline]] void Tell(ChangeReason reason, const Event& event, std::string_view key,
                                   const Entry* entry) {
    if (parts_.changes.Wants(reason)) [[unlikely]]
      Report(reason, event, key, entry);
  }
  void Report(ChangeReason reason, const Event& event, std::string_view key, const Entry* entry);
  // Must precede every change of an entry's value or expiry, and its removal.
  [[gnu::always_inline]] void TellBefore(Entry& entry) noexcept {
    if (Marked(entry)) [[unlikely]]
      ReportBefore(entry);
  }
  void ReportBefore(Entry& entry) noexcept;

  KeyspaceParts& parts_;
  HeapBase base_;
  uint8_t id_;
  uint8_t phase_;  // EntryFlag::kPhase or 0
  unsigned database_;
  unsigned holds_ = 0;
  uint64_t bytes_ = 0;
  Table table_;
  Lru lists_[2];
  uint64_t turned_[2] = {0, 0};
  Wheel mono_wheel_;
  Wheel wall_wheel_;
  bool wall_first_ = false;  // which wheel Advance empties first; changes with each call
};

}  // namespace mayfly

#include "cache/keyspace_put.h"
