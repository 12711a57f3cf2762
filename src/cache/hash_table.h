// Mayfly's hash table: finds the handle of an entry by its key. One template serves keys, hash fields, set
// members and tags.
//
// Shape (extendible hashing): the top bits of a 64-bit hash index a directory of words; a word leads to a
// segment of 1 to 127 groups, the following bits choose the group, and a group is one cache line with 12 tags
// and 12 handles:
//
//   directory            segment (2 to 128 cache lines)
//   +--------+          +--------+---------+---------+---------+
//   | word 0 |--------->| header | group 0 | group 1 |   ...   |
//   | word 1 |--> ...   +--------+---------+---------+---------+
//   | word 2 |--+
//   | word 3 |--+---> a segment that is less deep than the directory fills several words
//   +--------+
//
// Cost: a hit reads the word, mostly one group line, and the entry; a miss mostly one group line. About 6.3
// bytes a key with handles of 4 bytes. No operation touches more than two segments (~1,500 entries each),
// apart from the directory's doubling and halving, which copies 8 bytes per segment or so: there is no pause
// and no second table. A segment grows in steps of 14 to 25 % and splits when it is largest; it shrinks in
// the same steps and merges with its buddy. Keys of one hash (a hostile or broken hash) go to the segment's
// stash, so that others do not pay for them.
//
// Scan order is hash order, whatever the layout; a cursor is a position in it. See table_layout.h.
//
// Policy, a small copyable object (every function noexcept):
//   - Ref, kNull: a trivially copyable handle of an entry, and the one that is none. Key: what Equals
//   compares with.
//   - HashOf(Ref): well mixed in all bits, constant while the entry is in the table.
//   - Equals(Ref, Key), Prefetch(Ref).
//   - Allocate(bytes): multiples of 64, aligned to 64, addresses below 2^48; null when there is no memory.
//   - Free(block, bytes).
//
// Owns the directory and the segments, never the entries. An empty table holds no memory. Loop thread only.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/prefetch.h"
#include "cache/table_inspect.h"
#include "cache/table_layout.h"
#include "cache/table_memory.h"
#include "cache/table_relay.h"
#include "cache/table_segment.h"

namespace mayfly {

template <typename Policy>
class HashTable {
 public:
  using Ref = typename Policy::Ref;
  using Key = typename Policy::Key;
  static constexpr Ref kNull = Policy::kNull;
  // Scan cursors are below this.
  static constexpr uint64_t kScanEnd = uint64_t{1} << kPositionBits;

  explicit HashTable(Policy policy = Policy()) noexcept : memory_(std::move(policy)) {}
  HashTable(const HashTable&) = delete;
  HashTable& operator=(const HashTable&) = delete;
  ~HashTable() { Clear(); }

  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  // Bytes held beside this object: segments, stashes and directory.
  size_t memory() const noexcept { return memory_.bytes(); }
  const Policy& policy() const noexcept { return memory_.policy(); }

  // In all of these `hash` is the key's hash.
  // kNull when the key is absent.
  Ref Find(const Key& key, uint64_t hash) const noexcept {
    const Spot spot = LocateKey(key, hash);
    return spot ? spot.ref() : kNull;
  }
  // Where the table keeps the handle, so that it can be exchanged for one of an equal key; null when absent.
  // Valid until the next Insert, Erase or drain.
  Ref* FindSlot(const Key& key, uint64_t hash) noexcept {
    const Spot spot = LocateKey(key, hash);
    return spot ? &spot.ref() : nullptr;
  }
  // False when there is no memory; the table is unchanged then. REQUIRES: the key is absent; ref != kNull.
  [[nodiscard]] bool Insert(Ref ref, uint64_t hash) noexcept {
    Segment segment = SegmentOf(hash);
    if (segment.full()) [[unlikely]]
      segment = MakeRoom(hash);
    if (segment.is_empty_constant() || !segment.Place(memory_, ref, hash)) [[unlikely]]
      return false;
    ++size_;
    return true;
  }
  // Takes the entry out and returns it; kNull when the key is absent.
  Ref Erase(const Key& key, uint64_t hash) noexcept {
    const Spot spot = LocateKey(key, hash);
    if (!spot) return kNull;
    const Ref ref = spot.ref();
    RemoveAt(spot, hash);
    return ref;
  }
  // Takes out exactly this entry, without reading it; false when it is not in the table.
  bool EraseRef(Ref ref, uint64_t hash) noexcept {
    const Spot spot = LocateRef(ref, hash);
    if (spot) RemoveAt(spot, hash);
    return static_cast<bool>(spot);
  }
  // The entry has moved: `now` takes the place of `old`, which is not read. False when `old` is not in the
  // table.
  bool Replace(Ref old, Ref now, uint64_t hash) noexcept {
    const Spot spot = LocateRef(old, hash);
    if (spot) spot.ref() = now;
    return static_cast<bool>(spot);
  }

  // Where to go on looking for a key; dies with the next change of the table.
  struct Trail {
    const TableGroup<Ref>* home;
    uint8_t tag;
  };
  // Look-ahead, first stage: fetches the group's line.
  Trail PrefetchGroup(uint64_t hash) const noexcept {
    const Segment segment = SegmentOf(hash);
    const uint32_t offset = OffsetOf(hash, segment.depth());
    const Group* home = segment.groups() + GroupOf(offset, segment.group_count());
    PrefetchToRead(home);
    return {home, TagOf(offset)};
  }
  // Second stage, when the line has arrived: fetches what Find would read next. Returns the entry that Find
  // is likely to return, unread; kNull where none is.
  Ref PrefetchCandidates(const Trail& trail) const noexcept {
    const Group* home = trail.home;
    uint32_t mask = home->Match(trail.tag);
    // A stray lies mostly in the next group. (Behind a segment's last group this asks for nothing of use.)
    if (mask == 0 && home->MayHaveStray(trail.tag)) PrefetchToRead(home + 1);
    Ref likely = kNull;
    for (; mask != 0; mask &= mask - 1) {
      likely = home->refs[std::countr_zero(mask)];
      memory_.policy().Prefetch(likely);
    }
    return likely;
  }

  // Third stage, where the second returned kNull: the same for the next group.
  Ref PrefetchStray(const Trail& trail, uint64_t hash) const noexcept {
    if (!trail.home->MayHaveStray(trail.tag)) return kNull;
    const Segment segment = SegmentOf(hash);
    const auto index = static_cast<uint32_t>(trail.home - segment.groups());
    const Group& next = segment.groups()[segment.Wrap(index + 1)];
    const uint32_t mask = next.Match(trail.tag) & next.displaced;
    if (mask == 0) return kNull;
    const Ref likely = next.refs[std::countr_zero(mask)];
    memory_.policy().Prefetch(likely);
    return likely;
  }

  // Calls fn(ref) for a page of entries from position `cursor` on and returns the cursor of the next page; 0
  // starts and 0 ends. A key that is in the table from the first call to the last is told once, whatever
  // happens between the calls; keys of one position come in one page. Any cursor is safe. fn must not touch
  // the table.
  template <typename Fn>
  uint64_t Scan(uint64_t cursor, Fn&& fn) const {
    if (cursor >= kScanEnd) return 0;
    const uint64_t hash = cursor << (64 - kPositionBits);
    const Segment segment = SegmentOf(hash);
    const uint32_t depth = segment.depth();
    const uint32_t offset = OffsetOf(hash, depth);
    const uint32_t home = GroupOf(offset, segment.group_count());
    const bool from_start = offset == FirstOffsetOf(home, segment.group_count()) &&
                            (cursor & ((uint64_t{1} << (kMaxTableDepth - depth)) - 1)) == 0;
    segment.ForEachAtHome(memory_.policy(), home, [&](Ref ref) {
      if (from_start || memory_.policy().HashOf(ref) >> (64 - kPositionBits) >= cursor) fn(ref);
    });
    const uint64_t start = TopBits(hash, depth) << (kPositionBits - depth);
    const uint64_t end = FirstOffsetOf(home + 1, segment.group_count());
    const uint64_t next = start + (end << (kMaxTableDepth - depth));
    return next == kScanEnd ? 0 : next;
  }

  // One entry, all about equally likely; kNull when empty. rng() gives 64 random bits.
  template <typename Rng>
  Ref Random(Rng& rng) const;

  // Calls fn(ref) for every entry; fn must not touch the table (but may free the entry if Clear() follows).
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    for (size_t i = 0; i < directory_words(); i += size_t{1} << (depth_ - Segment(directory_[i]).depth())) {
      Segment(directory_[i]).ForEach(fn);
    }
  }
  // Takes entries out, a segment at a time, and hands them to fn(ref), until about `budget` are gone (at most
  // one segment more). True when the table is empty. fn must not touch the table.
  template <typename Fn>
  [[nodiscard]] bool DrainSome(size_t budget, Fn&& fn);
  // Forgets all entries and gives the memory back.
  void Clear() noexcept;

  // Figures about the layout; reads every group and the displaced entries.
  TableStats Stats() const noexcept {
    return TableInspector<Policy>(directory_, depth_, memory_.policy()).Stats();
  }
  // True when every invariant holds: reads everything, for tests.
  bool Validate() const noexcept {
    const TableInspector<Policy> inspector(directory_, depth_, memory_.policy());
    const size_t own = directory_ == &single_ ? 0 : DirectoryBytes(depth_);
    return inspector.Validate(size_, deepest_, memory_.bytes() - own);
  }

 private:
  using Segment = TableSegment<Policy>;
  using Group = typename Segment::Group;
  using Header = typename Segment::Header;
  using Spot = typename Segment::Spot;

  size_t directory_words() const noexcept { return size_t{1} << depth_; }
  static size_t DirectoryBytes(uint32_t depth) noexcept {
    const size_t bytes = sizeof(uint64_t) << depth;
    return bytes < kCacheLine ? kCacheLine : bytes;
  }
  Segment SegmentOf(uint64_t hash) const noexcept { return Segment(directory_[TopBits(hash, depth_)]); }
  Spot LocateKey(const Key& key, uint64_t hash) const noexcept {
    return SegmentOf(hash).Locate(hash, [&](Ref ref) { return memory_.policy().Equals(ref, key); });
  }
  Spot LocateRef(Ref wanted, uint64_t hash) const noexcept {
    return SegmentOf(hash).Locate(hash, [&](Ref ref) { return ref == wanted; });
  }
  void RemoveAt(const Spot& spot, uint64_t hash) noexcept {
    const Segment segment = SegmentOf(hash);
    segment.Remove(memory_, spot);
    --size_;
    if (segment.total() < segment.header().low) [[unlikely]]
      Shrink(hash);
  }

  Segment MakeRoom(uint64_t hash) noexcept;
  void Shrink(uint64_t hash) noexcept;
  bool Resize(uint64_t hash, uint32_t size) noexcept;
  bool Split(uint64_t hash) noexcept;
  bool Merge(uint64_t hash) noexcept;
  bool Create(uint32_t size, uint32_t depth, Segment* made) noexcept;
  void Install(uint64_t hash, Segment segment) noexcept;
  bool SetDirectoryDepth(uint32_t depth) noexcept;

  TableMemory<Policy> memory_;
  uint64_t single_ = Segment::Empty(0).word();  // The directory while one word is enough.
  uint64_t* directory_ = &single_;
  size_t size_ = 0;
  uint32_t depth_ = 0;
  uint32_t deepest_ = 1;     // Segments as deep as the directory: at 0 it can be halved.
  uint32_t drain_next_ = 0;  // The directory word at which DrainSome goes on.
};

}  // namespace mayfly

#include "cache/hash_table_resize.h"
