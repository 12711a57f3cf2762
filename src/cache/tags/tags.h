// The tags of one keyspace: names of groups of keys, to drop all keys of a group together (INVALIDATE). A key may have any
// name.
//
//   name --> HashTable --> Tag --first--> entry <--> entry <--> entry     the entries with the tag, the latest first
//                           ^               |
//                           '--- TagLink ---'   in the entry's extra, one for each of its tags (cache/entry/entry_extra.h)
//
// To *doom* a tag takes one step, however many entries have the tag: the tag leaves the table, so that its name is free
// again, and from then on its entries are absent (Keyspace::Absent). The entries are freed in slices. A tag goes with its
// last entry, so there is nothing to clean up.
//
// A tag of an entry costs 12 bytes, and the first tag 16 bytes more. A tag itself costs 32 bytes, its name, and about 6
// bytes in the table. A stale value (cache/gone/stale_values.h) has the tags of its key, and is dropped with them.
//
// The tag of a task says into which stream its entries go (cache/tags/task_name.h). Tags also finds the tags of a stream's
// tasks. To *drain* such a tag takes it out of the table, as a doom does. Its entries stay tasks: NextToDrain gives each a new tag of
// the same name, a few at a time, and its caller makes the task ready.
//
// Invariants (Validate): each list and its counts agree with the links of its entries; a tag in the table has an entry or a
// hold. Owns the tags, not the entries. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bits/hash.h"
#include "base/memory/heap.h"
#include "base/prefetch.h"
#include "base/text/short_bytes.h"
#include "cache/entry/entry.h"
#include "cache/table/hash_table.h"

namespace mayfly {

struct TaskTarget;

struct Tag {
  uint64_t doomed = 0;           // the number of the doom, see Tags::Doom; 0: not doomed
  HeapRef first = {};            // the entry that got the tag last
  HeapRef next_doomed = {};      // or the next drained tag
  uint32_t keys = 0;             // keys with the tag
  uint32_t stale = 0;            // stale values with the tag
  uint32_t holds = 0;            // number of TagHolds with the tag
  uint32_t drained : 1 = 0;      // see Tags::Drain
  uint32_t name_bytes : 31 = 0;  // the name follows

  std::string_view name() const noexcept { return {reinterpret_cast<const char*>(this + 1), name_bytes}; }
  size_t allocated_bytes() const noexcept { return sizeof(Tag) + name_bytes; }
  // The tag with its name, and its links in entries.
  uint64_t memory() const noexcept {
    return Heap::SizeClass(allocated_bytes()) + (uint64_t{keys} + stale) * sizeof(TagLink);
  }
  bool unused() const noexcept { return keys == 0 && stale == 0 && holds == 0; }
};

class Tags;

// Tags that an entry is about to get, each once. While the TagHold exists its tags exist too, even without entries.
class TagHold {
 public:
  TagHold() noexcept = default;
  TagHold(TagHold&& other) noexcept
      : tags_(std::exchange(other.tags_, nullptr)),
        refs_(std::move(other.refs_)),
        task_(std::exchange(other.task_, {})) {
    other.refs_.clear();
  }
  TagHold& operator=(TagHold&& other) noexcept {
    std::swap(tags_, other.tags_);
    refs_.swap(other.refs_);
    std::swap(task_, other.task_);
    return *this;
  }
  ~TagHold() { LetGo(); }

  bool empty() const noexcept { return refs_.empty(); }
  // Returns true if one of the tags is a task's.
  bool task() const noexcept { return static_cast<bool>(task_); }
  // REQUIRES: Tags::Hold has made this object, so that there are at most EntryExtra::kMostTags.
  uint8_t size() const noexcept { return static_cast<uint8_t>(refs_.size()); }

 private:
  friend class Tags;
  void LetGo() noexcept;

  Tags* tags_ = nullptr;
  std::vector<HeapRef> refs_;
  HeapRef task_ = {};  // the one of refs_ that is a task's tag, or null
};

class Tags {
 public:
  // Counts doomed tags in `all_doomed` too, for all Tags that share the counter. Borrows heap, hasher and all_doomed.
  Tags(Heap& heap, const Hasher& hasher, uint32_t table_order, size_t& all_doomed) noexcept;
  // REQUIRES: no entry has a tag.
  ~Tags();
  Tags(const Tags&) = delete;
  Tags& operator=(const Tags&) = delete;

  // The tag with this name, or null if no key and no stale value has the tag.
  const Tag* Find(std::string_view name) const noexcept;
  // Bytes of the tags and of their tables, without the links in the entries.
  uint64_t bytes() const noexcept {
    constexpr uint64_t kNodeBytes = 64;  // of a std::multimap, about
    return bytes_ + table_.memory() + tasks_.size() * kNodeBytes;
  }

  // ---- the tags of an entry
  //
  // Holds tags with these names, beside the tags of `hold`. Makes missing tags. The tag of a task replaces another one. Throws
  // std::bad_alloc.
  // REQUIRES: no more than EntryExtra::kMostTags different names.
  TagHold Hold(std::span<const std::string_view> names, TagHold hold = {});
  // Holds tags with the names of the entry's tags; the entry may be in another keyspace. Throws std::bad_alloc.
  TagHold HoldThoseOf(const Entry& entry);
  // All names, the task's among them.
  std::vector<std::string_view> NamesOf(const Entry& entry) const;
  // The names that clients see.
  std::vector<std::string_view> ShownNamesOf(const Entry& entry) const;
  // Returns true if the entry has exactly the held tags.
  bool HasThese(const Entry& entry, const TagHold& hold) const noexcept;
  // Lets go of the task's tag.
  void ForgetTask(TagHold& hold) noexcept;
  // Gives the entry the held tags.
  // REQUIRES: the entry has room for exactly this number of tags, and no tags yet.
  void Link(Entry& entry, TagHold&& hold) noexcept;
  // Takes all tags from the entry.
  void Unlink(Entry& entry) noexcept;
  // Moves all tags of `from` to `to`. REQUIRES: `to` has room for exactly this number of tags.
  void Hand(Entry& from, Entry& to) noexcept;
  // The entry was copied to this address, with its extra.
  void FollowMove(Entry& entry) noexcept;
  // The entry's key is gone; its value is stale from now on.
  void Retire(Entry& entry) noexcept;

  // ---- tasks
  //
  // Where the task goes; a view into its tag's name. REQUIRES: entry.task().
  TaskTarget TargetOf(const Entry& entry) const noexcept;
  // The task's tag. REQUIRES: entry.task().
  HeapRef TaskTagOf(const Entry& entry) const noexcept;
  // Returns true if the held tag of a task names this stream.
  bool GoesInto(const TagHold& hold, std::string_view stream) const noexcept;
  // Returns true if a key will go into the stream, a key with a drained tag too.
  bool HasTaskFor(std::string_view stream) const noexcept;
  // Number of keys that will go into the stream, without those of drained tags.
  size_t CountTasks(std::string_view stream) const noexcept;
  // Calls fn(Entry&) for each of these keys, in no order, also for absent ones.
  // REQUIRES: fn does not change tags.
  template <typename Fn>
  void ForEachTask(std::string_view stream, Fn&& fn) const {
    for (auto [at, end] = tasks_.equal_range(stream); at != end; ++at) {
      const HeapRef tag = at->second;
      for (HeapRef entry = At(tag)->first; entry; entry = EntryAt(entry)->extra()->LinkOf(tag).next)
        fn(*EntryAt(entry));
    }
  }
  // Drains all tags of the stream's tasks: later tasks of the stream have other tags.
  void Drain(std::string_view stream) noexcept;
  // Gives an entry of a drained tag the tag of the same name anew, and returns the entry; null if no tag is drained any more.
  // Throws std::bad_alloc.
  Entry* NextToDrain();
  bool draining() const noexcept { return static_cast<bool>(first_drained_); }
  // True for a task whose tag is drained. REQUIRES: entry.task().
  bool IsDrained(const Entry& entry) const noexcept {
    return draining() && At(TaskTagOf(entry))->drained != 0;
  }

  // ---- dooms. The caller numbers the dooms in rising order, to compare the times of two dooms.
  //
  // Dooms the tag with this name. Returns the tag, or null if there is no such tag.
  const Tag* Doom(std::string_view name, uint64_t number) noexcept;
  // Number of doomed tags that are not freed yet, and the lowest number of their dooms. REQUIRES: oldest_doom: there are some.
  size_t doomed() const noexcept { return doomed_; }
  uint64_t oldest_doom() const noexcept { return At(first_doomed_)->doomed; }
  // DoomedSince: the number of the entry's tags that the doom `number` or a later one has hit. DoomedBefore: true if an earlier
  // doom has hit one.
  unsigned DoomedSince(const Entry& entry, uint64_t number) const noexcept;
  bool DoomedBefore(const Entry& entry, uint64_t number) const noexcept {
    return DoomedSince(entry, 1) != DoomedSince(entry, number);
  }
  bool IsDoomed(const Entry& entry) const noexcept { return DoomedSince(entry, 1) != 0; }
  // An entry of the oldest doom. Null if there is no such entry; then no tag is doomed any more.
  Entry* FirstDoomed() noexcept;
  // An entry with the tag, or null.
  Entry* FirstOf(const Tag& tag) const noexcept { return tag.first ? EntryAt(tag.first) : nullptr; }
  // The tag of the next doom, or null. REQUIRES: `tag` is doomed.
  const Tag* NextDoomed(const Tag& tag) const noexcept {
    return tag.next_doomed ? At(tag.next_doomed) : nullptr;
  }

  // `links`: the number of tags of all entries together.
  bool Validate(size_t links) const noexcept;

 private:
  friend class TagHold;
  class TablePolicy {
   public:
    using Ref = HeapRef;
    static constexpr Ref kNull{};
    using Key = std::string_view;
    TablePolicy(Heap& heap, const Hasher& hasher) noexcept
        : base_(heap.base()), heap_(&heap), hasher_(&hasher) {}
    uint64_t HashOf(Ref ref) const noexcept { return (*hasher_)(base_.Resolve<Tag>(ref)->name()); }
    bool Equals(Ref ref, Key name) const noexcept { return SameBytes(base_.Resolve<Tag>(ref)->name(), name); }
    void Prefetch(Ref ref) const noexcept { PrefetchToRead(base_.Resolve<Tag>(ref)); }
    void* Allocate(size_t bytes) const noexcept { return heap_->AllocateLines(bytes); }
    void Free(void* memory, size_t bytes) const noexcept { heap_->FreeLines(memory, bytes); }

   private:
    HeapBase base_;
    Heap* heap_;
    const Hasher* hasher_;
  };

  Tag* At(HeapRef ref) const noexcept { return heap_.base().Resolve<Tag>(ref); }
  Entry* EntryAt(HeapRef ref) const noexcept { return heap_.base().Resolve<Entry>(ref); }
  // Calls fn(const Tag&) for each tag of the entry.
  template <typename Fn>
  void ForEachOf(const Entry& entry, Fn&& fn) const {
    if (entry.tags() == 0) return;
    for (const TagLink& link : entry.extra()->tags()) {
      if (link.tag) fn(static_cast<const Tag&>(*At(link.tag)));
    }
  }
  HeapRef HoldOne(std::string_view name);
  HeapRef NewTag(std::string_view name, uint64_t hash);
  // Adds the held tag, or lets go of it if `hold` has it.
  void AddTo(TagHold& hold, HeapRef tag);
  void PushFront(Entry& entry, TagLink& link, HeapRef tag) noexcept;
  void LetGo(HeapRef ref) noexcept;
  // Frees a tag without entries and holds; FirstDoomed frees doomed tags.
  void FreeIfUnused(Tag& tag) noexcept;
  // Takes the tag out of the table, and out of tasks_.
  void LeaveTables(const Tag& tag) noexcept;
  void Free(Tag& tag) noexcept;
  // Sets the two references to the owner of this link: `before` becomes the reference of the element before the owner in the
  // list, `behind` the reference of the element behind.
  void SetNeighbours(const TagLink& link, HeapRef before, HeapRef behind) noexcept;
  bool ValidateTag(const Tag& tag, size_t* links) const noexcept;

  Heap& heap_;
  const Hasher& hasher_;
  HashTable<TablePolicy> table_;  // of tags that are not doomed and not drained
  // The tags in the table that are tasks', by their streams. The names lie in the tags.
  std::multimap<std::string_view, HeapRef, std::less<>> tasks_;
  HeapRef first_doomed_{};  // the lowest number: the reaper frees the entries of earlier dooms first
  HeapRef last_doomed_{};
  HeapRef first_drained_{};
  size_t doomed_ = 0;
  size_t& all_doomed_;
  uint64_t bytes_ = 0;
};

}  // namespace mayfly
