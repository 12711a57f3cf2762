// A Keyspace holds the keys of one database, and is the front of all parts that handle these keys. A Keyspace finds keys,
// puts and edits values, and removes keys; and it keeps its parts consistent. Each part knows one thing:
//
//   Key -> HashTable -> Entry <- Owners        the owner: LruLists of entries with a TTL, without one, and without victims
//                             <- Lifetimes     the end: deadlines on timing wheels, rules, sliding
//                             <- Tags          the groups of keys
//                             <- EntryMemory   bytes of entries, and values outside entries
//   StaleKeys    values of keys that have expired
//   Tasks        keys that go into a stream at their deadline
//   SparedStreams  streams that no policy evicts
//   Reaper       frees absent keys that no command has met
//   Departures   memories of keys that are gone; one object for all keyspaces
//
// From its deadline on, or after one of its tags was invalidated, a key is absent for every method, even if the key is not
// freed yet. But a task is there until its stream has it, and a replica shows expired keys to its master's commands (ExpiredKeys).
// Every creation, change and removal is reported to the ChangeHub once, when all parts are consistent.
//
// Invariants (Validate): each entry is in the table once; in one of its owner's lists (Quota::List); and in the deadlines if it has
// a deadline or an own time and is no ready task. The bytes of a quota are the sum over its entries.
//
// The Keyspace is the only owner of the entries, but for stale values (StaleKeys). Entry pointers are valid until the next call that
// changes this keyspace. If memory runs out, a method throws std::bad_alloc and has changed nothing. Loop thread only.
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
#include "cache/changes/change.h"
#include "cache/entry/entry.h"
#include "cache/entry/entry_hooks.h"
#include "cache/entry/expiry.h"
#include "cache/entry/key.h"
#include "cache/entry/rich_value.h"
#include "cache/entry/value.h"
#include "cache/keyspace/entry_memory.h"
#include "cache/keyspace/keyspace_parts.h"
#include "cache/keyspace/lifetimes.h"
#include "cache/keyspace/marks.h"
#include "cache/keyspace/owners.h"
#include "cache/keyspace/stale_keys.h"
#include "cache/table/hash_table.h"
#include "cache/tags/tags.h"
#include "cache/time/lifetime.h"
#include "cache/types/member_home.h"

namespace mayfly {

class Reaper;
class Tasks;

class Keyspace {
 public:
  using Table = HashTable<EntryTablePolicy>;
  using List = Quota::List;
  static constexpr List kLasting = Quota::kLasting;
  static constexpr List kExpiring = Quota::kExpiring;
  static constexpr List kTasks = Quota::kTasks;
  static constexpr List kReady = Quota::kReady;

  Keyspace(KeyspaceParts& parts, uint8_t id, unsigned database, Now now);
  ~Keyspace();
  Keyspace(const Keyspace&) = delete;
  Keyspace& operator=(const Keyspace&) = delete;

  // From Enlist until Delist the keyspace's quotas take part in eviction and its keys are counted. In between no other
  // keyspace with the same id may be enlisted.
  // REQUIRES: the keyspace is enlisted while it has keys, except for FreeSome.
  void Enlist() noexcept;
  void Delist() noexcept;

  // ---- the parts
  Owners& owners() noexcept { return owners_; }
  const Owners& owners() const noexcept { return owners_; }
  const Lifetimes& lifetimes() const noexcept { return lifetimes_; }
  Tags& tags() noexcept { return tags_; }
  const Tags& tags() const noexcept { return tags_; }
  StaleKeys& stale() noexcept { return stale_; }
  const StaleKeys& stale() const noexcept { return stale_; }
  Tasks& tasks() noexcept { return *tasks_; }
  const Tasks& tasks() const noexcept { return *tasks_; }
  Reaper& reaper() noexcept { return *reaper_; }
  const Marks& marks() const noexcept { return marks_; }
  const Table& table() const noexcept { return table_; }
  const KeyspaceParts& parts() const noexcept { return parts_; }
  // The home of the keyspace's large values. Each call draws another order for their tables.
  MemberHome home() const noexcept { return {parts_.heap, parts_.hasher, parts_.DrawTableOrder()}; }
  uint8_t id() const noexcept { return id_; }
  // The index of the keys' database, now or before the flush.
  unsigned database() const noexcept { return database_; }
  void set_database(unsigned index) noexcept { database_ = index; }
  Entry* At(HeapRef ref) const noexcept { return base_.Resolve<Entry>(ref); }
  // For a prefetch: `ref` may be null.
  const void* AddressOf(HeapRef ref) const noexcept { return base_.AddressOf(ref); }

  // ---- lookup
  uint64_t HashOf(std::string_view text) const noexcept { return parts_.hasher(text); }
  Key KeyOf(std::string_view text) const noexcept { return {text, HashOf(text)}; }
  // The live entry, or null. Removes an absent entry. Does not count as an access.
  Entry* Peek(const Key& key, Now now);
  // As Peek, but changes nothing.
  const Entry* LookAt(std::string_view text, Now now) const noexcept { return LookAt(KeyOf(text), now); }
  const Entry* LookAt(const Key& key, Now now) const noexcept;
  // Returns true if the key exists. Changes nothing.
  bool Holds(std::string_view text, Now now) const noexcept { return LookAt(text, now) != nullptr; }
  // As Peek, but records the access (AccessEffect).
  Entry* Find(const Key& key, Now now);
  // Records an access of the entry (AccessEffect), and moves a sliding deadline (SLIDE).
  void Touch(Entry& entry, Now now) noexcept;
  // A walk sees the entry now, if it has not yet, as before a change.
  void ShowToWalk(Entry& entry) noexcept { TellBefore(entry); }
  // Returns true if the entry's key is absent, although the entry is not freed yet. Every lookup tests this.
  bool Absent(const Entry& entry, Now now) const noexcept;

  // Number of keys, including expired keys that are not freed yet.
  size_t size() const noexcept { return table_.size() - owners_.doomed_keys(); }
  // The number of keys with a TTL.
  size_t expiring() const noexcept {
    return owners_.CountOf(kExpiring) + owners_.CountOf(kTasks) + owners_.CountOf(kReady) +
           owners_.CountOf(Quota::kSparedExpiring);
  }
  // Bytes of all entries, of the values outside them, of the table, of stale values and of tags.
  uint64_t bytes() const noexcept {
    return owners_.bytes() + table_.memory() + stale_.bytes() + tags_.bytes();
  }

  // ---- put. `existing` is the result of Peek or Find for the same key, without a change in between. `event` is the
  // change's name for listeners. Methods that create a key throw OwnersExhausted, a std::bad_alloc, if its namespace can
  // have no share; an overwritten entry keeps its owner. All methods that put a value or set an expiry throw TtlRequired,
  // and have changed nothing, if the key would have no TTL but must have one (cache/time/ttl_rules.h).
  //
  // Creates the key or overwrites its value, and sets the expiry. Counts as an access. Returns the entry. A put without tags
  // takes the key's tags away.
  Entry* Put(const Key& key, Entry* existing, StringValue&& value, Expiry expiry, Now now,
             const Event& event = events::kSet);
  // As Put, for a plain text (StringValue::IsPlain): the shortest way.
  Entry* PutText(const Key& key, Entry* existing, std::string_view text, Expiry expiry, Now now,
                 const Event& event);
  // As Put, with terms beside the deadline, and with tags. Terms need a deadline, and a sliding deadline is relative.
  Entry* PutOnTerms(const Key& key, Entry* existing, StringValue&& value, Expiry expiry, EntryTerms terms,
                    Now now, const Event& event, TagHold tags = {});
  // As Put for each key, in order: with this expiry or, if `keep_expiry`, with the key's present expiry. Throws
  // std::bad_alloc, and changes no key then.
  void PutAll(std::span<KeyPut> puts, bool keep_expiry, Expiry expiry, Now now,
              const Event& event = events::kSet);
  // Overwrites the value and keeps the expiry. Returns the entry. Does not count as an LFU access; the
  // caller's Find already did.
  Entry* PutValue(const Key& key, Entry& existing, StringValue&& value, Now now, const Event& event);
  // As Put, for a rich value. Throws std::bad_alloc, and frees the value then.
  Entry* PutRich(const Key& key, Entry* existing, std::unique_ptr<RichValue> value, Expiry expiry, Now now,
                 const Event& event, EntryTerms terms = {}, TagHold tags = {});
  // Gives the key a copy of the value and expiry of `source`, an entry of another name or keyspace. Returns the key's entry;
  // its access history begins now.
  Entry* PutCopy(const Key& key, Entry* existing, const Entry& source, Now now);
  // Moves `entry` to the keyspace `to` under `new_key`, in the place of `existing`. Keeps value, expiry and access history.
  // The value's memory outside the entry is not copied.
  // REQUIRES: `new_key` is another key, or `to` is another keyspace.
  void Move(const Key& key, Entry& entry, Keyspace& to, const Key& new_key, Entry* existing, Now now);

  // ---- edit. No method counts as an LFU access; the caller's Find already did. A method that returns an entry may have
  // relocated the entry.
  //
  // Changes the text of a big string in place and keeps the expiry. If `size` exceeds its length, the text first grows to
  // `size` by zero bytes. Calls write(char*) with the first byte of the text; write returns true if it has changed a byte. A
  // block shared with a reply is copied first.
  // REQUIRES: existing.encoding() == Encoding::kBlock.
  template <typename Write>
  void EditBlock(Entry& existing, size_t size, const Event& event, Write&& write);
  // Changes bytes of a text in its entry, and keeps its size and the expiry. Calls write(char*) with the first byte; write
  // returns true if it has changed a byte.
  // REQUIRES: existing.encoding() == Encoding::kEdited.
  template <typename Write>
  void EditText(Entry& existing, const Event& event, Write&& write);
  // Calls edit(T&) to change the value; edit returns true if it has changed anything, and EditRich reports the change.
  // Removes a key whose value has no members left. If `edit` throws, nothing is reported. Returns the entry, or null if the
  // key was removed.
  // REQUIRES: the value's type is T; RoomForOwnTime was called before if `edit` may give a member a deadline.
  template <typename T, typename Edit>
  Entry* EditRich(const Key& key, Entry& existing, Now now, const Event& event, Edit&& edit);
  // Before an edit, gives a key without a TTL the TTL of the rules.
  Entry* WithDeadline(const Key& key, Entry& entry, Now now);
  // Gives the entry room for an own time, the nearest deadline of its value's members (cache/entry/entry.h).
  Entry* RoomForOwnTime(const Key& key, Entry& entry, Now now);
  // For a command that looks at the members of a rich value: drops the due members at once, like the own time, but at most
  // `budget` members. Returns the entry, or null if the key was removed with its last member.
  Entry* DropDueMembers(const Key& key, Entry& entry, Now now, size_t budget);
  // Sets, changes or removes (Never) the expiry, and lets the expiry slide if `terms` say so. The window of a stale value
  // stays, unless `terms` have another one. If `task` is not empty, it is the tag that makes the key a task
  // (cache/tags/task_name.h); otherwise a task stays one as long as it has a deadline.
  // REQUIRES: only a string gets a window.
  Entry* SetExpiry(const Key& key, Entry& entry, Expiry expiry, Now now, EntryTerms terms = {},
                   std::string_view task = {});
  // Gives the entry further tags.
  // REQUIRES: the entry then has no more than EntryExtra::kMostTags different tags. No name is a task's tag.
  Entry* AddTags(const Key& key, Entry& entry, std::span<const std::string_view> names, Now now);

  // ---- remove
  //
  // Removes and frees the entry, and reports the change with `reason`.
  void Remove(const Key& key, Entry& entry, ChangeReason reason);
  // Removes the key if it exists; returns true if it did. Reports kDeleted for an absent key too.
  bool Delete(const Key& key, Now now);
  // Removes the entry, counts it as evicted and reports the change. A stream that must not be evicted is spared instead
  // (cache/keyspace/spared_streams.h).
  void Evict(Entry& entry, Now now);
  // Makes all keys with one of the tags absent, drops their stale values, and returns the number of the keys, an estimate beyond
  // `budget`. Frees at most `budget` of these keys at once; the reaper frees the rest.
  size_t Invalidate(std::span<const std::string_view> names, Now now, size_t budget);

  // ---- iteration. Absent entries are skipped.
  //
  // Calls fn(entry) for one page of SCAN from `cursor` and returns the next cursor; a cursor is below 2^53. 0 starts and 0
  // ends. The scan reports all keys that exist throughout the iteration, even if the table grows or shrinks meanwhile.
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
  // A random live entry, or null if the search found none.
  Entry* Random(std::mt19937_64& random, Now now);
  // Marks all entries (cache/keyspace/marks.h). REQUIRES: no entry is marked.
  void MarkAll() noexcept;

  // ---- end
  //
  // Frees about `budget` entries, at most a table segment more, without a report. Returns true if the keyspace is empty.
  // REQUIRES: from now on the keyspace is used only for FreeSome.
  bool FreeSome(size_t budget) noexcept;
  // A flushed keyspace is not freed while held. Holds are counted.
  void Hold() noexcept { ++holds_; }
  // REQUIRES: held().
  void Release() noexcept {
    assert(held());
    --holds_;
  }
  bool held() const noexcept { return holds_ != 0; }

  // The wall clock was set, perhaps back.
  void FollowWallStep(Now now) noexcept;

  bool Validate() const;

 private:
  friend class Adopter;
  friend class Compactor;
  friend class Reaper;
  friend class SparedStreams;
  friend class Tasks;

  HeapRef RefOf(const Entry& entry) const noexcept { return base_.RefOf(&entry); }
  // Takes its arguments in registers, so that a Key need not be stored in memory.
  [[gnu::noinline]] Entry* LookUp(std::string_view text, uint64_t hash) const noexcept {
    const HeapRef ref = table_.Find(text, hash);
    return ref ? At(ref) : nullptr;
  }
  // Returns true if one of the entry's tags was invalidated.
  bool Invalidated(const Entry& entry) const noexcept { return parts_.doomed != 0 && tags_.IsDoomed(entry); }
  void CountHit(Entry& entry, Now now) noexcept;
  // Touch during a walk, and Touch of an entry with an extra.
  void TouchWalked(Entry& entry, Now now) noexcept;
  void TouchExtra(Entry& entry, Now now) noexcept;
  // The rest of Touch.
  void TouchPlain(Entry& entry, Now now) noexcept;
  // Touches an entry that Find has returned, without counting the access twice.
  void TouchFound(Entry& entry, Now now) noexcept;
  void Slide(Entry& entry, Now now) noexcept;

  // ---- put. As the public methods, but without reporting the change.
  static Entry::Shape ShapeFor(const Key& key, size_t value_bytes, Expiry expiry) noexcept;
  Entry* Place(const Key& key, Entry* existing, StringValue&& value, Expiry expiry, EntryTerms terms,
               TagHold tags, Now now);
  Entry* PlaceRich(const Key& key, Entry* existing, RichValue* value, Expiry expiry, EntryTerms terms,
                   TagHold tags, Now now);
  Entry* Create(const Key& key, const Entry::Shape& shape, StringValue&& value, Expiry expiry, Now now);
  Entry* OverwriteAs(const Key& key, Entry& existing, const Entry::Shape& shape, StringValue&& value,
                     Expiry expiry, Now now);
  // As PutText, for a new key, an `existing` without room for the text in place, or with TTL rules. The key comes by value: so
  // callers, which seldom make this call, need not keep the key in memory. RemoveAbsent likewise.
  Entry* PutTextAnew(Key key, Entry* existing, std::string_view text, Expiry expiry, Now now,
                     const Event& event);
  // For an `existing` that cannot take `shape` in place, or that a listener wants to see before the change.
  Entry* PutAnew(const Key& key, Entry& existing, const Entry::Shape& shape, StringValue&& value,
                 Expiry expiry, Now now);
  // For PutAll. Make: makes an entry in no table, list or wheel, with room for the terms and tags of `kept`; `kept` may be
  // null. Install: puts the entry in its place. Discard: frees the entry.
  Entry* Make(KeyPut& put, const Entry* kept);
  void Install(KeyPut& put, Now now, const Event& event);
  void Discard(KeyPut& put) noexcept;

  // ---- edit
  Entry* GiveDeadline(const Key& key, Entry& existing, Now now);
  // Gives the entry another expiry and other terms, and makes it a task if `task` is not empty. Returns the entry, perhaps
  // relocated.
  Entry* Redate(const Key& key, Entry& existing, Expiry expiry, EntryTerms terms, std::string_view task,
                Now now);
  // Replaces the entry by an entry of the given shape with the same value, and with these tags; null: its tags.
  Entry* Relocate(const Key& key, Entry& existing, const Entry::Shape& shape, Expiry deadline, Expiry own,
                  Now now, TagHold* tags = nullptr);
  // Makes the block of a big text the entry's own, at least `size` bytes long. Returns the first byte.
  char* OwnBlock(Entry& entry, size_t size);
  // For EditRich. CountEdit: the value has another size now. FinishEdit: the value has changed.
  void CountEdit(const Entry& entry, uint64_t before, uint64_t after) noexcept;
  Entry* FinishEdit(const Key& key, Entry& entry, bool emptied, Now now, const Event& event);
  // Files the entry anew, by its deadline and the nearest deadline of its value's members.
  void FileAnew(Entry& entry, Now now) noexcept;

  // ---- containers
  Entry* NewEntry(const Key& key, const Entry::Shape& shape, Expiry expiry);
  // Puts a new entry of the table into all other containers.
  void FileNew(Entry& entry, uint64_t hash, Now now) noexcept;
  // Replaces `old` by `fresh` in all containers and frees the memory of `old`, but not the value outside the entry.
  void Replace(const Key& key, Entry& old, Entry& fresh, Now now);
  // Takes the entry out of all containers.
  void TakeOut(const Key& key, Entry& entry) noexcept;
  void File(Entry& entry, Now now) noexcept;
  void Unfile(Entry& entry) noexcept;
  void Free(Entry& entry) noexcept;

  // ---- remove
  //
  // Removes an absent entry; a replica keeps an expired one. REQUIRES: Absent(entry, now).
  void RemoveAbsent(Key key, Entry& entry, Now now);
  // REQUIRES: HasExpired(entry, now).
  void Expire(const Key& key, Entry& entry, Now now);
  // Removes an expired key with a window, and keeps its value as stale until the end of the window.
  void Retire(const Key& key, Entry& entry, Now now);
  // Counts the end of a key at its deadline.
  void CountExpired(const Entry& entry, Now now) noexcept;
  void RemoveInvalidated(Entry& entry);
  void RemoveDoomed(const Key& key, Entry& entry) noexcept;
  // Removes a key whose value `event` has emptied.
  void RemoveEmptied(const Key& key, Entry& entry, const Event& event);
  // As DropDueMembers; subtracts the number of dropped members from `*budget`.
  Entry* DropMembers(const Key& key, Entry& entry, Now now, size_t* budget);

  // Fits the tags for a key that may be a task, or may become one by the rules: see Tasks::Fit.
  void FitTask(std::string_view key, bool asked, Expiry expiry, TagHold& tags);
  // The new entry of a task that was ready is ready, too: what DRAIN lets go is not taken back by an edit or a rename.
  void StayReady(Entry& entry, bool was_ready, Now now) noexcept;

  // ---- reports
  [[gnu::always_inline]] void Tell(ChangeReason reason, const Event& event, std::string_view key,
                                   Entry* entry) {
    if (event.by_client && entry != nullptr) parts_.changes.CountByClient();
    if (parts_.changes.Wants(reason) && (entry == nullptr || entry->Has(EntryFlag::kListened) ||
                                         parts_.changes.WantsUnlistened(reason))) [[unlikely]]
      Report(reason, event, key, entry);
  }
  // Removes EntryFlag::kListened. REQUIRES: the flag is set, there is no entry, or a listener wants all entries.
  void Report(ChangeReason reason, const Event& event, std::string_view key, Entry* entry);
  // The rest of Report: for a listened or an absent entry, and for an event without a name.
  void ReportListened(const Change& change, Entry* entry);
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
  unsigned database_;
  unsigned holds_ = 0;
  Table table_;
  Tags tags_;
  Owners owners_;
  EntryMemory memory_;
  Lifetimes lifetimes_;
  StaleKeys stale_;
  std::unique_ptr<Tasks> tasks_;    // never null
  std::unique_ptr<Reaper> reaper_;  // never null
};

}  // namespace mayfly

#include "cache/keyspace/keyspace_access.h"
#include "cache/keyspace/keyspace_edit.h"
#include "cache/keyspace/keyspace_put.h"
