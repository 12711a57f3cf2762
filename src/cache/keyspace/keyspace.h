// A Keyspace holds the keys of one database, and is the front of what belongs to them. It finds keys, puts and edits their
// values, and removes them; and it keeps these parts consistent, each of which knows one thing:
//
//   Key -> HashTable -> Entry <- Owners        whose it is: an LruList of those with a TTL, and one of those without
//                             <- Lifetimes     until when: deadlines on timing wheels, rules, sliding
//                             <- Tags          which groups it is in
//                             <- EntryMemory   what it takes, and what lies outside it
//   StaleKeys    values of keys that have expired
//   Departures   what is remembered of keys that went; one for all keyspaces
//
// From its deadline on, or when a tag of it was invalidated, a key is absent for every method, even if it is not
// freed yet. Every creation, change and removal is reported to the ChangeHub once, when all parts are consistent.
//
// Invariants (Validate): each entry is in the table once; in its owner's list for entries with or without a
// TTL; and, with a TTL, in the deadlines. The bytes of a quota are the sum over its entries.
//
// It is the only owner of the entries. Entry pointers are valid until the next call that changes this keyspace. If memory
// runs out, a method throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string_view>
#include <utility>

#include "base/memory/heap.h"
#include "base/time/clock.h"
#include "cache/entry/entry.h"
#include "cache/entry/entry_hooks.h"
#include "cache/entry/expiry.h"
#include "cache/entry/key.h"
#include "cache/entry/rich_value.h"
#include "cache/entry/value.h"
#include "cache/keyspace/change.h"
#include "cache/keyspace/entry_memory.h"
#include "cache/keyspace/keyspace_parts.h"
#include "cache/keyspace/lifetimes.h"
#include "cache/keyspace/marks.h"
#include "cache/keyspace/owners.h"
#include "cache/keyspace/stale_keys.h"
#include "cache/keyspace/tags.h"
#include "cache/table/hash_table.h"
#include "cache/time/lifetime.h"
#include "cache/types/member_home.h"

namespace mayfly {

class Keyspace {
 public:
  using Table = HashTable<EntryTablePolicy>;
  using List = Quota::List;
  static constexpr List kLasting = Quota::kLasting;
  static constexpr List kExpiring = Quota::kExpiring;

  Keyspace(KeyspaceParts& parts, uint8_t id, unsigned database, Now now);
  ~Keyspace();
  Keyspace(const Keyspace&) = delete;
  Keyspace& operator=(const Keyspace&) = delete;

  // Its quotas take part in eviction and its keys are counted, from Enlist until Delist. In between no other
  // keyspace with the same id may be enlisted.
  // REQUIRES: it is enlisted while it has keys, except for FreeSome.
  void Enlist() noexcept;
  void Delist() noexcept;

  // ---- its parts, for who asks them
  Owners& owners() noexcept { return owners_; }
  const Owners& owners() const noexcept { return owners_; }
  const Lifetimes& lifetimes() const noexcept { return lifetimes_; }
  Tags& tags() noexcept { return tags_; }
  const Tags& tags() const noexcept { return tags_; }
  StaleKeys& stale() noexcept { return stale_; }
  const StaleKeys& stale() const noexcept { return stale_; }
  const Marks& marks() const noexcept { return marks_; }
  const Table& table() const noexcept { return table_; }
  const KeyspaceParts& parts() const noexcept { return parts_; }
  // For the large values that it gets. Each call draws another order for their tables.
  MemberHome home() const noexcept { return {parts_.heap, parts_.hasher, parts_.DrawTableOrder()}; }
  uint8_t id() const noexcept { return id_; }
  // The index of the database whose keys these are now, or were until it was flushed.
  unsigned database() const noexcept { return database_; }
  void set_database(unsigned index) noexcept { database_ = index; }
  Entry* At(HeapRef ref) const noexcept { return base_.Resolve<Entry>(ref); }

  // ---- lookup
  uint64_t HashOf(std::string_view text) const noexcept { return parts_.hasher(text); }
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

  // Number of keys, including expired ones that are not freed yet.
  size_t size() const noexcept { return table_.size() - owners_.doomed_keys(); }
  // Of these, the keys with a TTL.
  size_t expiring() const noexcept { return owners_.CountOf(kExpiring); }
  // Bytes of all entries, of the values outside them, of the table, and of stale values.
  uint64_t bytes() const noexcept {
    return owners_.bytes() + table_.memory() + stale_.bytes() + tags_.bytes();
  }

  // ---- put. `existing` is the result of Peek or Find for the same key, without a change in between. `event` is the
  // change's name for listeners. Methods that create a key throw OwnersExhausted, a std::bad_alloc, if its namespace can
  // have no share; an entry that is overwritten keeps its owner. All that put a value or set an expiry throw TtlRequired,
  // and have changed nothing, if the key would have no TTL but must have one (cache/time/ttl_rules.h).
  //
  // Creates the key or overwrites its value, and sets the expiry. Counts as an access. Returns the entry. A value that is
  // put without tags takes those of its key away.
  Entry* Put(const Key& key, Entry* existing, StringValue&& value, Expiry expiry, Now now,
             const Event& event = events::kSet);
  // As Put, for a plain text (StringValue::IsPlain): the shortest way.
  Entry* PutText(const Key& key, Entry* existing, std::string_view text, Expiry expiry, Now now,
                 const Event& event);
  // As Put, with what is agreed beside the deadline, which needs one, and tags. A deadline that slides is relative.
  Entry* PutOnTerms(const Key& key, Entry* existing, StringValue&& value, Expiry expiry, EntryTerms terms,
                    Now now, const Event& event, TagHold tags = {});
  // As Put for each, in their order: with this expiry or, if `keep_expiry`, with the one that a key has.
  // Throws std::bad_alloc, and changes none of them then.
  void PutAll(std::span<KeyPut> puts, bool keep_expiry, Expiry expiry, Now now,
              const Event& event = events::kSet);
  // Overwrites the value and keeps the expiry. Returns the entry. Does not count as an LFU access; the
  // caller's Find already did.
  Entry* PutValue(const Key& key, Entry& existing, StringValue&& value, Now now, const Event& event);
  // As Put, for a value that is not a string. Throws std::bad_alloc, and frees the value then.
  Entry* PutRich(const Key& key, Entry* existing, std::unique_ptr<RichValue> value, Expiry expiry, Now now,
                 const Event& event, EntryTerms terms = {}, TagHold tags = {});
  // Gives the key a copy of the value and expiry of `source`, an entry of another name or keyspace. Returns the
  // entry, whose access history begins now.
  Entry* PutCopy(const Key& key, Entry* existing, const Entry& source, Now now);
  // Moves `entry` to the keyspace `to` under `new_key`, where it replaces `existing`. Keeps value, expiry and
  // access history. What the value holds outside the entry is not copied.
  // REQUIRES: `new_key` is another key, or `to` is another keyspace.
  void Move(const Key& key, Entry& entry, Keyspace& to, const Key& new_key, Entry* existing, Now now);

  // ---- edit. None of these counts as an LFU access; the caller's Find already did. A method that returns an entry may have
  // relocated it.
  //
  // Changes the text of a big string in place and keeps the expiry. If `size` exceeds its length, the text
  // first grows to `size` by zero bytes. Calls write(char*) with the first byte of the text; it returns whether
  // it has changed any. A block that is shared with a reply is copied first.
  // REQUIRES: existing.encoding() == Encoding::kBlock.
  template <typename Write>
  void EditBlock(Entry& existing, size_t size, const Event& event, Write&& write);
  // Changes bytes of a text that lies in its entry, and keeps its size and the expiry. Calls write(char*) with the
  // first byte; it returns whether it has changed any.
  // REQUIRES: existing.encoding() == Encoding::kEdited.
  template <typename Write>
  void EditText(Entry& existing, const Event& event, Write&& write);
  // Lets edit(T&) change the value, which returns whether it has changed anything, and reports that. A key whose
  // value has no members left is removed. If `edit` throws, nothing is reported. Returns the entry, or null if the key
  // was removed.
  // REQUIRES: the value's type is T; RoomForOwnTime was called before if `edit` may give a member a deadline.
  template <typename T, typename Edit>
  Entry* EditRich(const Key& key, Entry& existing, Now now, const Event& event, Edit&& edit);
  // Before an edit, a key without a TTL gets the one that the rules give it.
  Entry* WithDeadline(const Key& key, Entry& entry, Now now);
  // Gives the entry room for an own time, at which members of its value are due (cache/entry/entry.h).
  Entry* RoomForOwnTime(const Key& key, Entry& entry, Now now);
  // Does at once, for a command that looks at the members of a rich value, what the own time would: drops those
  // that are due, but at most `budget`. Returns the entry, or null if the key was removed with its last member.
  Entry* DropDueMembers(const Key& key, Entry& entry, Now now, size_t budget);
  // Sets, changes or removes (Never) the expiry, lets it slide if `slide` says so, and keeps the window of a stale
  // value.
  Entry* SetExpiry(const Key& key, Entry& entry, Expiry expiry, Now now, EntryTerms slide = {});
  // Gives the entry tags beside those that it has.
  // REQUIRES: no more than EntryExtra::kMostTags different ones then.
  Entry* AddTags(const Key& key, Entry& entry, std::span<const std::string_view> names, Now now);

  // ---- remove
  //
  // Removes and frees the entry, and reports the change with `reason`.
  void Remove(const Key& key, Entry& entry, ChangeReason reason);
  // Removes the key if it exists; returns whether it did. Reports kDeleted for an absent key too.
  bool Delete(const Key& key, Now now);
  // Removes the entry, counts it as evicted and reports the change.
  void Evict(Entry& entry, Now now);
  // Makes all keys absent that have one of the tags, drops their stale values, and returns the number of the keys.
  // Frees at most `budget` of them at once, and Advance the others.
  size_t Invalidate(std::span<const std::string_view> names, Now now, size_t budget);

  // ---- iteration. Absent entries are skipped.
  //
  // Calls fn(entry) for one page of SCAN from `cursor` and returns the next cursor, which is below 2^53. 0
  // starts and 0 ends. Keys that are present throughout an iteration are reported, whatever grows or shrinks
  // meanwhile.
  template <typename Fn>
  uint64_t Scan(uint64_t cursor, Now now, Fn&& fn) const {
    return table_.Scan(cursor, [&](HeapRef ref) {
      const Entry& entry = *At(ref);
      if (!Absent(entry, now)) fn(entry);
    });
  }
  // Calls fn(entry) for every live key.
  // REQUIRES: fn does not change this keyspace.
  template <typename Fn>
  void ForEach(Now now, Fn&& fn) const {
    table_.ForEach([&](HeapRef ref) {
      const Entry& entry = *At(ref);
      if (!Absent(entry, now)) fn(entry);
    });
  }
  // A random live entry, or null if none was found.
  Entry* Random(std::mt19937_64& random, Now now);
  // Marks all entries (cache/keyspace/marks.h). REQUIRES: none is marked.
  void MarkAll() noexcept;
  // As Scan, but calls fn for the marked entries of the page, expired or not, and removes their marks.
  template <typename Fn>
  uint64_t ScanMarked(uint64_t cursor, Fn&& fn) {
    return table_.Scan(cursor, [&](HeapRef ref) {
      Entry& entry = *At(ref);
      if (!marks_.Has(entry)) return;
      fn(static_cast<const Entry&>(entry));
      Marks::Remove(entry);
    });
  }

  // ---- time
  //
  // Frees expired entries. Subtracts from `*budget` those that it touched. Returns true if work is left at `now`.
  bool Advance(Now now, size_t* budget);
  // Milliseconds from `now` until Advance has work; UINT64_MAX if no key will expire.
  uint64_t NextWakeMs(Now now) const noexcept;
  // The wall clock was set, perhaps back.
  void FollowWallStep(Now now) noexcept;

  // ---- what is freed in slices. Each subtracts what it did from `*budget`, and returns true if more is left.
  //
  // Keys that are gone by their tags (Invalidate); each is reported.
  bool FreeInvalidated(size_t* budget);
  // Entries and stale values of doomed shares, without a report.
  bool FreeDoomed(size_t* budget) noexcept;
  // About `budget` entries, at most a table segment more, without a report. Returns true if the keyspace is empty.
  // REQUIRES: nobody uses the keyspace for anything else from now on.
  bool FreeSome(size_t budget) noexcept;
  // While it is held, a flushed keyspace is not freed. Holds are counted.
  void Hold() noexcept { ++holds_; }
  // REQUIRES: held().
  void Release() noexcept {
    assert(held());
    --holds_;
  }
  bool held() const noexcept { return holds_ != 0; }

  bool Validate() const;

 private:
  friend class Compactor;

  HeapRef RefOf(const Entry& entry) const noexcept { return base_.RefOf(&entry); }
  // Takes its arguments in registers, so that a Key need not be stored in memory.
  [[gnu::noinline]] Entry* LookUp(std::string_view text, uint64_t hash) const noexcept {
    const HeapRef ref = table_.Find(text, hash);
    return ref ? At(ref) : nullptr;
  }
  // Whether one of its tags was invalidated.
  bool Invalidated(const Entry& entry) const noexcept { return parts_.doomed != 0 && tags_.IsDoomed(entry); }
  void CountHit(Entry& entry, Now now) noexcept;
  // Touches an entry that Find has returned, without counting the access twice.
  void TouchFound(Entry& entry, Now now) noexcept;
  void Slide(Entry& entry, Now now) noexcept;

  // ---- put. As the public ones, but without reporting the change.
  static Entry::Shape ShapeFor(const Key& key, size_t value_bytes, Expiry expiry) noexcept;
  Entry* Place(const Key& key, Entry* existing, StringValue&& value, Expiry expiry, EntryTerms terms,
               TagHold tags, Now now);
  Entry* PlaceRich(const Key& key, Entry* existing, RichValue* value, Expiry expiry, EntryTerms terms,
                   TagHold tags, Now now);
  Entry* Create(const Key& key, const Entry::Shape& shape, StringValue&& value, Expiry expiry, Now now);
  Entry* OverwriteAs(const Key& key, Entry& existing, const Entry::Shape& shape, StringValue&& value,
                     Expiry expiry, Now now);
  // As PutText, for a new key, an `existing` that does not take the text in place, or where there are TTL rules. Who
  // seldom calls it need not keep the key in memory: it comes by value, as in RemoveAbsent.
  Entry* PutTextAnew(Key key, Entry* existing, std::string_view text, Expiry expiry, Now now,
                     const Event& event);
  // For an `existing` that cannot take `shape` in place, or whose change a listener wants to see before.
  Entry* PutAnew(const Key& key, Entry& existing, const Entry::Shape& shape, StringValue&& value,
                 Expiry expiry, Now now);
  // For PutAll: makes an entry that is in no table, list or wheel yet, with room for terms and tags of `kept`, which
  // may be null; puts it in its place; or frees it.
  Entry* Make(KeyPut& put, const Entry* kept);
  void Install(KeyPut& put, Now now, const Event& event);
  void Discard(KeyPut& put) noexcept;

  // ---- edit
  Entry* GiveDeadline(const Key& key, Entry& existing, Now now);
  // Gives the entry another expiry and other terms. Returns it; it may have been relocated.
  Entry* Redate(const Key& key, Entry& existing, Expiry expiry, EntryTerms terms, Now now);
  // Replaces the entry by one of that shape with the same value.
  Entry* Relocate(const Key& key, Entry& existing, const Entry::Shape& shape, Expiry deadline, Expiry own,
                  Now now);
  // Makes the block of a big text the entry's own, at least `size` bytes long. Returns the first byte.
  char* OwnBlock(Entry& entry, size_t size);
  // For EditRich: the value has other bytes now; it has changed.
  void CountEdit(const Entry& entry, uint64_t before, uint64_t after) noexcept;
  Entry* FinishEdit(const Key& key, Entry& entry, bool emptied, Now now, const Event& event);
  // Files the entry by the nearest deadline of its value's members.
  void FileMembers(Entry& entry, Now now) noexcept;

  // ---- containers
  Entry* NewEntry(const Key& key, const Entry::Shape& shape, Expiry expiry);
  // Puts a new entry that is in the table into all other containers.
  void Settle(Entry& entry, uint64_t hash, Now now) noexcept;
  // Replaces `old` by `fresh` in all containers and frees the memory of `old`, but not what its value points
  // to.
  void Replace(const Key& key, Entry& old, Entry& fresh, Now now);
  // Takes the entry out of all containers.
  void TakeOut(const Key& key, Entry& entry) noexcept;
  void File(Entry& entry, Now now) noexcept;
  void Unfile(Entry& entry) noexcept;
  void Free(Entry& entry) noexcept;

  // ---- remove
  //
  // Removes what a lookup has found absent. REQUIRES: Absent(entry, now).
  void RemoveAbsent(Key key, Entry& entry, Now now);
  // REQUIRES: HasExpired(entry, now).
  void Expire(const Key& key, Entry& entry, Now now);
  // Removes an expired key that has a window, and keeps its value as stale until that ends.
  void Retire(const Key& key, Entry& entry, Now now);
  void RemoveInvalidated(Entry& entry);
  void RemoveDoomed(const Key& key, Entry& entry) noexcept;
  // Removes a key whose value `event` has emptied.
  void RemoveEmptied(const Key& key, Entry& entry, const Event& event);
  // Does what is to be done with entries that Deadlines has handed back.
  void OnDue(std::span<const HeapRef> due, Now now, size_t* budget);
  void OnOwnTime(const Key& key, Entry& entry, Now now, size_t* budget);
  // As DropDueMembers; subtracts from `*budget` how many were dropped.
  Entry* DropMembers(const Key& key, Entry& entry, Now now, size_t* budget);

  // ---- reports
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
    if (marks_.Has(entry)) [[unlikely]]
      ReportBefore(entry);
  }
  void ReportBefore(Entry& entry) noexcept;

  bool ValidateQuota(const Quota& quota) const;
  bool ValidateStale(size_t* links) const;

  KeyspaceParts& parts_;
  HeapBase base_;
  uint8_t id_;
  Marks marks_;
  bool enlisted_ = false;
  bool stale_first_ = false;  // whether Advance looks at stale values first; changes with each call
  unsigned database_;
  unsigned holds_ = 0;
  Table table_;
  Tags tags_;
  Owners owners_;
  EntryMemory memory_;
  Lifetimes lifetimes_;
  StaleKeys stale_;
};

}  // namespace mayfly

#include "cache/keyspace/keyspace_access.h"
#include "cache/keyspace/keyspace_edit.h"
#include "cache/keyspace/keyspace_put.h"
