// The tags of one keyspace: names of groups of keys, to drop all keys of a group together (INVALIDATE). A key may have
// any name.
//
//   name --> HashTable --> Tag --first--> entry <--> entry <--> entry     those that have the tag, the last one first
//                           ^               |
//                           '--- TagLink ---'   in the entry's extra, one for each of its tags (cache/entry/entry_extra.h)
//
// To *doom* a tag takes one step, however many have it: it leaves the table, so that its name can be given anew, and
// from then on whoever has it is absent (Keyspace::Absent). They are freed in slices. A tag goes with the last entry
// that has it, so there is nothing to clean up.
//
// An entry with a tag costs 12 bytes for it, and 16 for having any. A tag costs 32 bytes, its name, and about 6 in the
// table. A stale value (cache/gone/stale_values.h) has the tags of its key, and goes with them.
//
// Invariants (Validate): each list and its counts agree with the links of its entries; a tag that nobody has and
// nobody holds is not there. Owns the tags, not the entries. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
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

struct Tag {
  uint64_t doomed = 0;  // when: the number of the doom, see Tags::Doom; 0: it is not
  HeapRef first = {};   // the entry that has it since last
  HeapRef next_doomed = {};
  uint32_t keys = 0;        // that have it
  uint32_t stale = 0;       // stale values that have it
  uint32_t holds = 0;       // of TagHold
  uint32_t name_bytes = 0;  // the name follows

  std::string_view name() const noexcept { return {reinterpret_cast<const char*>(this + 1), name_bytes}; }
  size_t allocated_bytes() const noexcept { return sizeof(Tag) + name_bytes; }
  // With what its entries hold of it.
  uint64_t memory() const noexcept {
    return Heap::SizeClass(allocated_bytes()) + (uint64_t{keys} + stale) * sizeof(TagLink);
  }
  bool unused() const noexcept { return keys == 0 && stale == 0 && holds == 0; }
};

class Tags;

// Tags that an entry is about to get, each once. While it exists they do too, even if nobody has them.
class TagHold {
 public:
  TagHold() noexcept = default;
  TagHold(TagHold&& other) noexcept
      : tags_(std::exchange(other.tags_, nullptr)), refs_(std::move(other.refs_)) {
    other.refs_.clear();
  }
  TagHold& operator=(TagHold&& other) noexcept {
    std::swap(tags_, other.tags_);
    refs_.swap(other.refs_);
    return *this;
  }
  ~TagHold() { LetGo(); }

  bool empty() const noexcept { return refs_.empty(); }
  // REQUIRES: Tags::Hold has made it, so that there are at most EntryExtra::kMostTags.
  uint8_t size() const noexcept { return static_cast<uint8_t>(refs_.size()); }

 private:
  friend class Tags;
  void LetGo() noexcept;

  Tags* tags_ = nullptr;
  std::vector<HeapRef> refs_;
};

class Tags {
 public:
  // Counts in `all_doomed` as doomed() does, for all who share it. Borrows heap, hasher and all_doomed.
  Tags(Heap& heap, const Hasher& hasher, uint32_t table_order, size_t& all_doomed) noexcept;
  // REQUIRES: nobody has a tag.
  ~Tags();
  Tags(const Tags&) = delete;
  Tags& operator=(const Tags&) = delete;

  // The tag with this name, or null if no key has it.
  const Tag* Find(std::string_view name) const noexcept;
  // Bytes of the tags and of their table, without what is in the entries.
  uint64_t bytes() const noexcept { return bytes_ + table_.memory(); }

  // ---- the tags of an entry
  //
  // Holds tags with these names, beside those of `hold`. They are made if there are none. Throws std::bad_alloc.
  // REQUIRES: no more than EntryExtra::kMostTags different names.
  TagHold Hold(std::span<const std::string_view> names, TagHold hold = {});
  // Holds tags with the names of those that the entry has, perhaps in another keyspace. Throws std::bad_alloc.
  TagHold HoldThoseOf(const Entry& entry);
  std::vector<std::string_view> NamesOf(const Entry& entry) const;
  // Gives the entry the tags that are held.
  // REQUIRES: it has room for just as many, and none yet.
  void Link(Entry& entry, TagHold&& hold) noexcept;
  // Takes all tags from the entry.
  void Unlink(Entry& entry) noexcept;
  // `to` has the tags of `from` from now on, which has none then. REQUIRES: it has room for just as many.
  void Hand(Entry& from, Entry& to) noexcept;
  // The entry was copied to this place, with its extra.
  void FollowMove(Entry& entry) noexcept;
  // The entry's key is gone; its value is stale from now on.
  void Retire(Entry& entry) noexcept;

  // ---- dooms. They are numbered by who calls, so that it can be said what was doomed before what.
  //
  // Dooms the tag with this name. Returns it, or null if no key has it.
  const Tag* Doom(std::string_view name, uint64_t number) noexcept;
  // Number of tags that are doomed and still there.
  size_t doomed() const noexcept { return doomed_; }
  // How many of the entry's tags were doomed by that doom or a later one; and whether one was by an earlier one.
  unsigned DoomedSince(const Entry& entry, uint64_t number) const noexcept;
  bool DoomedBefore(const Entry& entry, uint64_t number) const noexcept {
    return DoomedSince(entry, 1) != DoomedSince(entry, number);
  }
  bool IsDoomed(const Entry& entry) const noexcept { return DoomedSince(entry, 1) != 0; }
  // An entry with a doomed tag; null if there is none, and then no tag is doomed any more.
  Entry* FirstDoomed() noexcept;

  // `links`: how many tags all entries together have.
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
    void* Allocate(size_t bytes) const noexcept { return heap_->Allocate(bytes); }
    void Free(void* memory, size_t bytes) const noexcept { heap_->Free(memory, bytes); }

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
  void LetGo(HeapRef ref) noexcept;
  // Frees a tag that nobody has and nobody holds; a doomed one is freed by FirstDoomed.
  void FreeIfUnused(Tag& tag) noexcept;
  void Free(Tag& tag) noexcept;
  // Sets what points to the owner of this link: `before` from before it in the list, `behind` from behind it.
  void SetNeighbours(const TagLink& link, HeapRef before, HeapRef behind) noexcept;
  bool ValidateTag(const Tag& tag, size_t* links) const noexcept;

  Heap& heap_;
  const Hasher& hasher_;
  HashTable<TablePolicy> table_;  // of those that are not doomed
  HeapRef first_doomed_{};
  size_t doomed_ = 0;
  size_t& all_doomed_;
  uint64_t bytes_ = 0;
};

}  // namespace mayfly
