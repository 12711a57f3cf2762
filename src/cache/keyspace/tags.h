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
// Invariants (Validate): each list and its counts agree with the links of its entries; there is no tag without entries and
// without a hold. Owns the tags, not the entries. Loop thread only.
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
  uint64_t doomed = 0;  // the number of the doom, see Tags::Doom; 0: not doomed
  HeapRef first = {};   // the entry that got the tag last
  HeapRef next_doomed = {};
  uint32_t keys = 0;        // keys with the tag
  uint32_t stale = 0;       // stale values with the tag
  uint32_t holds = 0;       // number of TagHolds with the tag
  uint32_t name_bytes = 0;  // the name follows

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
  // REQUIRES: Tags::Hold has made this object, so that there are at most EntryExtra::kMostTags.
  uint8_t size() const noexcept { return static_cast<uint8_t>(refs_.size()); }

 private:
  friend class Tags;
  void LetGo() noexcept;

  Tags* tags_ = nullptr;
  std::vector<HeapRef> refs_;
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
  // Bytes of the tags and of their table, without the links in the entries.
  uint64_t bytes() const noexcept { return bytes_ + table_.memory(); }

  // ---- the tags of an entry
  //
  // Holds tags with these names, beside the tags of `hold`. Makes missing tags. Throws std::bad_alloc.
  // REQUIRES: no more than EntryExtra::kMostTags different names.
  TagHold Hold(std::span<const std::string_view> names, TagHold hold = {});
  // Holds tags with the names of the entry's tags; the entry may be in another keyspace. Throws std::bad_alloc.
  TagHold HoldThoseOf(const Entry& entry);
  std::vector<std::string_view> NamesOf(const Entry& entry) const;
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

  // ---- dooms. The caller numbers the dooms in rising order, to compare the times of two dooms.
  //
  // Dooms the tag with this name. Returns the tag, or null if there is no such tag.
  const Tag* Doom(std::string_view name, uint64_t number) noexcept;
  // Number of doomed tags that are not freed yet.
  size_t doomed() const noexcept { return doomed_; }
  // DoomedSince: how many of the entry's tags the doom `number` or a later doom doomed. DoomedBefore: true if an earlier
  // doom doomed a tag of the entry.
  unsigned DoomedSince(const Entry& entry, uint64_t number) const noexcept;
  bool DoomedBefore(const Entry& entry, uint64_t number) const noexcept {
    return DoomedSince(entry, 1) != DoomedSince(entry, number);
  }
  bool IsDoomed(const Entry& entry) const noexcept { return DoomedSince(entry, 1) != 0; }
  // An entry with a doomed tag. Null if there is no such entry; then no tag is doomed any more.
  Entry* FirstDoomed() noexcept;

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
  // Frees a tag without entries and holds; FirstDoomed frees doomed tags.
  void FreeIfUnused(Tag& tag) noexcept;
  void Free(Tag& tag) noexcept;
  // Sets the two references to the owner of this link: `before` becomes the reference of the element before the owner in the
  // list, `behind` the reference of the element behind.
  void SetNeighbours(const TagLink& link, HeapRef before, HeapRef behind) noexcept;
  bool ValidateTag(const Tag& tag, size_t* links) const noexcept;

  Heap& heap_;
  const Hasher& hasher_;
  HashTable<TablePolicy> table_;  // of tags that are not doomed
  HeapRef first_doomed_{};
  size_t doomed_ = 0;
  size_t& all_doomed_;
  uint64_t bytes_ = 0;
};

}  // namespace mayfly
