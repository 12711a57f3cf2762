// A Keyspace holds the keys of one database: table, LRU lists and deadlines. It has a hash table that finds the keys,
// two LRU lists that order them by last access, and the deadlines of those with a TTL. It is the only owner of the
// entries and keeps these containers consistent.
//
//   Key -> HashTable -> Entry <- Quota      an LruList of those with a TTL, and one of those without
//                             <- Deadlines
//
// Its entries belong to one Quota, that of its id, but for those of namespaces, which have shares of the table.
//
// From its deadline on, or when a tag of it was invalidated, a key is absent for every method, even if it is not
// freed yet.
// Every creation, change and removal is reported to the ChangeHub once, when all containers are consistent.
//
// Invariants (Validate): each entry is in the table once; in its owner's list for entries with or without a
// TTL; and, with a TTL, in the deadlines. The bytes of a quota are the sum over its entries.
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
#include <vector>

#include "base/memory/heap.h"
#include "base/text/short_bytes.h"
#include "base/time/clock.h"
#include "cache/entry/entry.h"
#include "cache/entry/entry_hooks.h"
#include "cache/entry/expiry.h"
#include "cache/entry/key.h"
#include "cache/entry/rich_value.h"
#include "cache/entry/value.h"
#include "cache/keyspace/change.h"
#include "cache/keyspace/keyspace_parts.h"
#include "cache/keyspace/tags.h"
#include "cache/owners/quota.h"
#include "cache/table/hash_table.h"
#include "cache/time/deadlines.h"
#include "cache/types/member_home.h"

namespace mayfly {

class StaleValues;

class Keyspace {
 public:
  Keyspace(KeyspaceParts& parts, uint8_t id, unsigned database, Now now);
  ~Keyspace();
  Keyspace(const Keyspace&) = delete;
  Keyspace& operator=(const Keyspace&) = delete;

  // Its quotas take part in eviction and its keys are counted, from Enlist until Delist. In between no other
  // keyspace with the same id may be enlisted.
  // REQUIRES: it is enlisted while it has keys, except for FreeSome.
  void Enlist() noexcept;
  void Delist() noexcept;

  // ---- owners (cache/owners/namespaces.h). Methods that create a key throw OwnersExhausted, a std::bad_alloc, if its
  // namespace can have no share. An entry that is overwritten keeps its owner.
  Quota& quota() noexcept { return own_; }
  // The keys of the share are absent from now on, and are freed without a report. Returns their number.
  // REQUIRES: the share is of this keyspace, and not doomed.
  size_t Doom(Quota& share) noexcept;
  // Frees entries of doomed shares; subtracts them from `*budget`. Returns true if any are left.
  bool FreeDoomed(size_t* budget) noexcept;
  // REQUIRES: the share is of this keyspace, and no entry or stale value names it.
  void DropShare(Quota& share) noexcept;
  // Counts a hit of the entry's namespace.
  void CountHitOf(const Entry& entry) const noexcept;

  // ---- lookup
  Key KeyOf(std::string_view text) const noexcept { return {text, HashOf(text)}; }
  // The live entry, or null. Removes the entry if it is absent. Does not count as an access.
  Entry* Peek(const Key& key, Now now);
  // As Peek, but changes nothing.
  const Entry* LookAt(std::string_view text, Now now) const noexcept;
  // Whether the key is there. Changes nothing.
  bool Holds(std::string_view text, Now now) const noexcept { return LookAt(text, now) != nullptr; }
  // As Peek, but records the access (AccessTracking).
  Entry* Find(const Key& key, Now now);
  // Records an access of the entry (AccessTracking), and moves its deadline if that slides (SLIDE).
  void Touch(Entry& entry, Now now) noexcept;

  // Whether the key is gone, although its entry is not freed yet. Every lookup tests this.
  bool Absent(const Entry& entry, Now now) const noexcept;
  // Whether one of its tags was invalidated.
  bool Invalidated(const Entry& entry) const noexcept;

  // Number of keys, including expired ones that are not freed yet.
  size_t size() const noexcept { return table_.size() - doomed_keys_; }
  // Of these, the keys with a TTL.
  size_t expiring() const noexcept { return CountOf(kExpiring); }
  // Of these, the keys with members that have a deadline.
  size_t with_timed_members() const noexcept { return deadlines_.with_timed_members(); }
  // Bytes of all entries, of the values outside them, of the table, and of stale values.
  uint64_t bytes() const noexcept;
  uint64_t table_bytes() const noexcept { return table_.memory(); }
  // Memory of an entry and its value, as the allocator rounds it.
  static uint64_t MemoryOf(const Entry& entry) noexcept;
  uint8_t id() const noexcept { return id_; }
  // For the large values that it gets. Each call draws another order for their tables.
  MemberHome home() const noexcept { return {parts_.heap, parts_.hasher, parts_.DrawTableOrder()}; }
  // The index of the database whose keys these are now, or were until it was flushed.
  unsigned database() const noexcept { return database_; }
  void set_database(unsigned index) noexcept { database_ = index; }

  [[gnu::always_inline]] static Expiry ExpiryOf(const Entry& entry) noexcept { return entry.deadline(); }
  // Milliseconds until the deadline; <= 0 if the entry has expired but is not freed yet.
  // REQUIRES: entry.expires().
  static int64_t TtlMs(const Entry& entry, Now now) noexcept;
  // The deadline as Unix time in ms.
  // REQUIRES: entry.expires().
  static int64_t UnixDeadlineMs(const Entry& entry, Now now) noexcept;
  // A key without a deadline has expired, too, when all members of its value have.
  static bool Expired(const Entry& entry, Now now) noexcept;

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
  void EditBlock(Entry& existing, size_t size, const Event& event, Write&& write);
  // Changes bytes of a text that lies in its entry, and keeps its size and the expiry. Calls write(char*) with the
  // first byte; it returns whether it has changed any. Does not count as an access; the caller's Find already did.
  // REQUIRES: existing.encoding() == Encoding::kEdited.
  template <typename Write>
  void EditText(Entry& existing, const Event& event, Write&& write);
  // As Put, for a value that is not a string. Throws std::bad_alloc, and frees the value then.
  Entry* PutRich(const Key& key, Entry* existing, std::unique_ptr<RichValue> value, Expiry expiry, Now now,
                 const Event& event, EntryTerms terms = {}, TagHold tags = {});
  // Lets edit(T&) change the value, which returns whether it has changed anything, and reports that. A key whose
  // value has no members left is removed. Does not count as an access; the caller's Find already did. If `edit`
  // throws, nothing is reported. Returns the entry, or null if the key was removed.
  // REQUIRES: the value's type is T; RoomForOwnTime was called before if `edit` may give a member a deadline.
  template <typename T, typename Edit>
  Entry* EditRich(const Key& key, Entry& existing, Now now, const Event& event, Edit&& edit);
  // Sets, changes or removes (Never) the expiry, lets it slide if `slide` says so, and keeps the window of a stale
  // value. Returns the entry, which may have been relocated. Does not count as an LFU access; the caller's Find
  // already did.
  Entry* SetExpiry(const Key& key, Entry& entry, Expiry expiry, Now now, EntryTerms slide = {});
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

  // ---- deadlines by rules (cache/time/ttl_rules.h). All methods that put a value or set an expiry throw TtlRequired, and
  // have changed nothing, if the key would have no TTL but must have one.
  //
  // As Put, with what is agreed beside the deadline, which needs one, and tags. A deadline that slides is relative.
  Entry* PutOnTerms(const Key& key, Entry* existing, StringValue&& value, Expiry expiry, EntryTerms terms,
                    Now now, const Event& event, TagHold tags = {});
  // What the rules make of the deadline that a write asks for. Throws TtlRequired.
  Expiry Obeying(std::string_view key, Expiry wanted, Now now) const;
  // The deadline of a key of which only the value changes: what it has, or what the rules give it. Refuses nothing.
  Expiry KeptExpiry(const Key& key, const Entry& existing, Now now) const noexcept;
  // Before an edit of its value, a key without a TTL gets the one that the rules give it. Returns the entry, which may
  // have been relocated.
  Entry* WithDeadline(const Key& key, Entry& entry, Now now);

  // ---- an entry's own time, beside the key's deadline, at which it is looked at (cache/entry/entry.h)
  //
  // Gives the entry the room for an own time. Returns it; it may have been relocated. Throws std::bad_alloc.
  Entry* RoomForOwnTime(const Key& key, Entry& entry, Now now);
  // Sets the own time or, if Never, removes it. At that time DuePolicy is asked. The room is kept until the entry
  // is next relocated.
  // REQUIRES: RoomForOwnTime since the entry was put or its expiry changed, unless `own` is Never; not a rich
  // value.
  void SetOwnTime(Entry& entry, Expiry own, Now now) noexcept;
  // To be called when the nearest deadline of a rich value's members may have changed: the own time becomes that
  // of RichValue::NextDeadline. At that time members are dropped that are due (RichValue::DropDue), which
  // reports a change of the value; or the key, as deleted, if it has no other members.
  // REQUIRES: RoomForOwnTime as above, unless no member has a deadline.
  void FileMembers(Entry& entry, Now now) noexcept;
  // Does at once, for a command that looks at the members of a rich value, what the own time would: drops those
  // that are due, but at most `budget`. Returns the entry, or null if the key was removed with its last member.
  Entry* DropDueMembers(const Key& key, Entry& entry, Now now, size_t budget);

  // ---- stale values: what a key held, from its deadline until its window has passed (cache/gone/stale_values.h)
  //
  // The stale value of a key, or null. Counts as an access of it.
  // REQUIRES: Peek or Find of the key returned null at `now`.
  const Entry* FindStale(const Key& key, Now now) noexcept;
  // Drops the key's stale value if it has one. Creating the key does so too.
  void DropStale(const Key& key) noexcept;
  size_t stale_values() const noexcept;
  uint64_t stale_bytes() const noexcept;  // with their table
  // The least recently used one, or null.
  const Entry* ColdestStale() const noexcept;
  // Drops that one, and counts it as evicted. REQUIRES: there is one.
  void EvictStale() noexcept;

  // ---- tags (cache/keyspace/tags.h). A value that is put without tags takes those of its key away.
  Tags& tags() noexcept { return tags_; }
  const Tags& tags() const noexcept { return tags_; }
  // Gives the entry tags beside those that it has. Returns it; it may have been relocated. Throws std::bad_alloc.
  // REQUIRES: no more than EntryExtra::kMostTags different ones then.
  Entry* AddTags(const Key& key, Entry& entry, std::span<const std::string_view> names, Now now);
  // Makes all keys absent that have one of the tags, drops their stale values, and returns the number of the keys.
  // Frees at most `budget` of them at once, and Advance the others.
  size_t Invalidate(std::span<const std::string_view> names, Now now, size_t budget);
  // Frees some of those. Subtracts them from `*budget`. Returns true if others are left.
  bool RemoveSomeInvalidated(size_t* budget);

  // ---- iteration. Absent entries are skipped.
  //
  // Calls fn(entry) for one page of SCAN from `cursor` and returns the next cursor, which is below 2^53. 0
  // starts and 0 ends. Keys that are present throughout an iteration are reported, whatever grows or shrinks
  // meanwhile.
  template <typename Fn>
  uint64_t Scan(uint64_t cursor, Now now, Fn&& fn) const;
  // Calls fn(entry) for every live key.
  // REQUIRES: fn does not change this keyspace.
  template <typename Fn>
  void ForEach(Now now, Fn&& fn) const;
  // A random live entry, or null if none was found.
  Entry* Random(std::mt19937_64& random, Now now);

  // ---- marks: entries that ChangeListener::BeforeChange is called for. See Databases::MarkAll.
  bool Marked(const Entry& entry) const noexcept {
    return ((entry.flags() ^ phase_) & static_cast<uint8_t>(EntryFlag::kPhase)) != 0;
  }
  void MarkAll() noexcept;
  // Whether the key was absent when the entries were last marked, for another reason than its deadline.
  bool GoneBeforeMarks(const Entry& entry) const noexcept;
  // As Scan, but calls fn for the marked entries of the page, expired or not, and removes their marks.
  template <typename Fn>
  uint64_t ScanMarked(uint64_t cursor, Fn&& fn);

  // ---- look-ahead. Three stages, and a fourth for rich values (cache/types/look_ahead.h), with other work between
  // them: each stage prefetches what the next one reads. A guess is an entry that is probably the key's. It may be followed unless StaleGuesses::MayHold.
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
  void PrefetchNeighbours(HeapRef guess, bool writes) const noexcept;
  // Prefetches the rich value of this entry and returns it; null if the entry holds a string.
  // REQUIRES: guess is not null.
  const RichValue* PrefetchRich(HeapRef guess) const noexcept;

  // ---- expiry
  // Frees expired entries. Subtracts from `*budget` those that it touched. Returns true if work is left at `now`.
  bool Advance(Now now, size_t* budget);
  // Milliseconds from `now` until Advance has work; UINT64_MAX if no key will expire.
  uint64_t NextWakeMs(Now now) const noexcept;
  // The wall clock was set, perhaps back.
  void FollowWallStep(Now now) noexcept;
  // Number of keys that have expired and are not freed yet. Stops counting at `most`.
  size_t Backlog(Now now, size_t most) const { return deadlines_.Backlog(now, most); }
  // For Deadlines::FillPage. Its entries may have expired.
  const Deadlines& deadlines() const noexcept { return deadlines_; }

  // ---- eviction
  using List = Quota::List;
  static constexpr List kLasting = Quota::kLasting;
  static constexpr List kExpiring = Quota::kExpiring;
  // A key whose deadline is one of the nearest, or null if no key has one.
  Entry* NearestDeadline(Now now) const noexcept;
  // A random entry of `list`, possibly an expired one; null if the list is empty.
  Entry* RandomOf(List list, std::mt19937_64& random) const;
  // The same of one quota. REQUIRES: it is of this keyspace.
  Entry* RandomOf(const Quota& quota, List list, std::mt19937_64& random) const;
  // An entry of the pool for a policy that samples: a random one; or, if few are in the pool, or `with_lasting` is
  // false and few have a TTL, the next one in a list of those. Null if there is none.
  // REQUIRES: tracking is AccessTracking::kFrequency.
  Entry* Sample(bool with_lasting, const EvictionPool& pool, std::mt19937_64& random) noexcept;
  size_t CountOf(List list) const noexcept {
    size_t count = own_.CountOf(list);
    for (const auto& other : others_) count += other->doomed ? 0 : other->CountOf(list);
    return count;
  }
  // Removes the entry, counts it as evicted and reports the change.
  void Evict(Entry& entry, Now now);

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
  friend class Compactor;
  using Table = HashTable<EntryTablePolicy>;

  Entry* At(HeapRef ref) const noexcept { return base_.Resolve<Entry>(ref); }
  HeapRef RefOf(const Entry& entry) const noexcept { return base_.RefOf(&entry); }
  // Takes its arguments in registers, so that a Key need not be stored in memory.
  [[gnu::noinline]] Entry* LookUp(std::string_view text, uint64_t hash) const noexcept {
    const HeapRef ref = table_.Find(text, hash);
    return ref ? At(ref) : nullptr;
  }
  [[gnu::always_inline]] Quota& QuotaOf(const Entry& entry) const noexcept { return parts_.quotas.Of(entry); }
  // The owner of a new key, whose share is made if it needs one.
  uint8_t OwnerOfNew(std::string_view key);
  uint8_t OwnerByPrefix(std::string_view key);
  Quota& AddShare(Namespace& space);
  void LeaveShares() noexcept;
  // Null if the entry is of no namespace.
  const Quota* ShareOf(const Entry& entry) const noexcept;
  bool Doomed(const Entry& entry) const noexcept;
  bool InDoomedShare(const Entry& entry) const noexcept;
  void RemoveDoomed(const Key& key, Entry& entry) noexcept;
  void FreeDoomedStale(size_t* budget) noexcept;
  bool ValidateShares() const;
  // Adds to the bytes of the entry's owner. A difference may be below zero: it wraps.
  void Grow(const Entry& entry, uint64_t bytes) noexcept;
  bool AnyMarked() const noexcept;  // reads every entry
  // A quota of `pool` with entries in `list`, or null.
  Quota* QuotaWith(List list, const EvictionPool& pool = {}) const noexcept;

  void Unmark(Entry& entry) noexcept {
    entry.set_flags(entry.flags() ^ static_cast<uint8_t>(EntryFlag::kPhase));
  }
  void CountHit(Entry& entry, Now now) noexcept;
  // Touches an entry that Find has returned, without counting the access twice.
  void TouchFound(Entry& entry, Now now) noexcept;
  static Entry::Shape ShapeFor(const Key& key, size_t value_bytes, Expiry expiry) noexcept;
  // As Put, but without reporting the change; likewise those up to OverwriteAs.
  Entry* Place(const Key& key, Entry* existing, StringValue&& value, Expiry expiry, EntryTerms terms,
               TagHold tags, Now now);
  Entry* Create(const Key& key, StringValue&& value, Expiry expiry, Now now);
  Entry* Create(const Key& key, const Entry::Shape& shape, StringValue&& value, Expiry expiry, Now now);
  Entry* PlaceRich(const Key& key, Entry* existing, RichValue* value, Expiry expiry, EntryTerms terms,
                   TagHold tags, Now now);
  Entry* Overwrite(const Key& key, Entry& existing, StringValue&& value, Expiry expiry, Now now);
  Entry* OverwriteAs(const Key& key, Entry& existing, const Entry::Shape& shape, StringValue&& value,
                     Expiry expiry, Now now);
  // As PutText, for a new key, an `existing` that does not take the text in place, or where there are TTL rules. Who
  // seldom calls it need not keep the key in memory: it comes by value, as in RemoveAbsent.
  Entry* PutTextAnew(Key key, Entry* existing, std::string_view text, Expiry expiry, Now now,
                     const Event& event);
  // For an `existing` that cannot take `shape` in place, or whose change a listener wants to see before.
  Entry* PutAnew(const Key& key, Entry& existing, const Entry::Shape& shape, StringValue&& value,
                 Expiry expiry, Now now);
  Entry* Allocate(const Key& key, const Entry::Shape& shape, Expiry expiry);
  // For PutAll: makes an entry that is in no table, list or wheel yet, with room for terms and tags of `kept`, which
  // may be null; puts it in its place; or frees it.
  Entry* Make(KeyPut& put, const Entry* kept);
  void Install(KeyPut& put, Now now, const Event& event);
  void Discard(KeyPut& put) noexcept;
  Expiry ObeyingRules(std::string_view key, Expiry wanted, Now now) const;
  Entry* GiveDeadline(const Key& key, Entry& existing, Now now);
  // Gives the entry another expiry and other terms. Returns it; it may have been relocated.
  Entry* Redate(const Key& key, Entry& existing, Expiry expiry, EntryTerms terms, Now now);
  // Keeps what slides within the rules and its own maximum. The rules have made `expiry` of what was `wanted`.
  void FitSlide(std::string_view key, EntryTerms& terms, Expiry wanted, Expiry& expiry,
                Now now) const noexcept;
  void Slide(Entry& entry, Now now) noexcept;
  // Replaces `old` by `fresh` in all containers and frees the memory of `old`, but not what its value points
  // to.
  void Replace(const Key& key, Entry& old, Entry& fresh, Now now);
  // Takes the entry out of all containers.
  void TakeOut(const Key& key, Entry& entry) noexcept;
  void File(Entry& entry, Now now);
  void Unfile(Entry& entry) noexcept;
  void Free(Entry& entry) noexcept;
  // Frees the entry's own memory, but not what its value points to.
  void FreeMemory(Entry& entry) noexcept;
  // Releases what the value holds outside the entry.
  void DropValue(Entry& entry) noexcept;
  void DropOutside(Entry& entry) noexcept;
  // Counts the value that the entry is about to get, and releases the one that it has.
  void ExchangeOutside(Entry& entry, Encoding encoding, size_t outside_bytes) noexcept;
  static size_t OutsideBytes(const Entry& entry) noexcept;
  static uint64_t MemoryOutside(Encoding encoding, size_t bytes) noexcept;  // as the allocator rounds it
  // For EditRich: the value has other bytes now; it has changed.
  void CountEdit(const Entry& entry, uint64_t before, uint64_t after) noexcept;
  // Reports to BigKeys that the value outside the entry has another size.
  void NoteSize(const Entry& entry, uint64_t before, uint64_t after) noexcept;
  void NoteStored(const Entry& entry) noexcept {
    if (entry.encoding() >= Encoding::kBlock) [[unlikely]]
      NoteSize(entry, 0, OutsideBytes(entry));
  }
  Entry* FinishEdit(const Key& key, Entry& entry, bool emptied, Now now, const Event& event);
  // Removes a key whose value `event` has emptied.
  void RemoveEmptied(const Key& key, Entry& entry, const Event& event);
  // What MemoryOf answers, by a shorter way for most entries.
  static size_t BytesOf(const Entry& entry) noexcept;
  char* OwnBlock(Entry& entry, size_t size);
  // Removes what a lookup has found absent. REQUIRES: Absent(entry, now).
  void RemoveAbsent(Key key, Entry& entry, Now now);
  void RemoveInvalidated(Entry& entry);
  void FreeExtra(Entry& entry) noexcept;
  // REQUIRES: Expired(entry, now).
  void Expire(const Key& key, Entry& entry, Now now);
  // Removes an expired key that has a window, and keeps its value as stale until that ends.
  void Retire(const Key& key, Entry& entry, Now now);
  // False if the window has passed or there is no memory.
  bool KeepStale(uint64_t hash, Entry& entry, Now now) noexcept;
  void DropStaleOf(const Key& key) noexcept;
  void FreeStale(uint64_t hash, Entry& entry) noexcept;
  // Frees an entry that is in no container and in no count of bytes.
  void FreeTaken(Entry& entry) noexcept;
  bool AdvanceStale(Now now, size_t* budget);
  bool FreeSomeStale(size_t budget) noexcept;
  // Adds to `*links` how many tags the stale values have.
  bool ValidateStale(size_t* links) const;
  // The own time that the entry should have.
  static Expiry OwnTimeOf(const Entry& entry) noexcept;
  static bool AllMembersDue(const Entry& entry, Now now) noexcept;
  // Replaces the entry by one of that shape with the same value.
  Entry* Relocate(const Key& key, Entry& existing, const Entry::Shape& shape, Expiry deadline, Expiry own,
                  Now now);
  // Does what is to be done with entries that Deadlines has handed back.
  void OnDue(std::span<const HeapRef> due, Now now, size_t* budget);
  void OnOwnTime(const Key& key, Entry& entry, Now now, size_t* budget);
  // As DropDueMembers; subtracts from `*budget` how many were dropped.
  Entry* DropMembers(const Key& key, Entry& entry, Now now, size_t* budget);
  void CountExpired(const Entry& entry, Now now) noexcept;
  // `first` is the deadline of one of them that no other precedes.
  void CountExpiredMembers(size_t members, Expiry first, Now now) noexcept;
  [[gnu::always_inline]] void Tell(ChangeReason reason, const Event& event, std::string_view key,
                                   Entry* entry) {
    if (parts_.changes.Wants(reason) && (entry == nullptr || entry->Has(EntryFlag::kObserved) ||
                                         parts_.changes.WantsUnobserved(reason))) [[unlikely]]
      Report(reason, event, key, entry);
  }
  // Removes EntryFlag::kObserved. REQUIRES: it is set, there is no entry, or somebody wants all entries.
  void Report(ChangeReason reason, const Event& event, std::string_view key, Entry* entry);
  // Must precede every change of an entry's value or expiry, and its removal.
  [[gnu::always_inline]] void TellBefore(Entry& entry) noexcept {
    if (Marked(entry)) [[unlikely]]
      ReportBefore(entry);
  }
  void ReportBefore(Entry& entry) noexcept;

  bool ValidateQuota(const Quota& quota) const;

  KeyspaceParts& parts_;
  HeapBase base_;
  uint8_t id_;
  uint8_t phase_;  // EntryFlag::kPhase or 0
  bool enlisted_ = false;
  unsigned database_;
  unsigned holds_ = 0;
  Table table_;
  size_t doomed_keys_ = 0;  // in table_, but not of this keyspace any more
  Quota own_;
  std::vector<std::unique_ptr<Quota>> others_;  // shares of namespaces, doomed ones too
  Deadlines deadlines_;
  Tags tags_;
  std::unique_ptr<StaleValues> stale_;  // null until there is one
  bool stale_first_ = false;            // whether Advance looks at them first; changes with each call
  uint64_t stale_cursor_ = 0;           // of FreeDoomedStale
};

}  // namespace mayfly

#include "cache/keyspace/keyspace_access.h"
#include "cache/keyspace/keyspace_edit.h"
#include "cache/keyspace/keyspace_look_ahead.h"
#include "cache/keyspace/keyspace_put.h"
#include "cache/keyspace/keyspace_scan.h"
