// Mayfly's hash table: finds the handle of an entry by its key. Extendible hashing with SIMD groups. A template: the
// keyspace finds keys with the table, and a large hash, set or sorted set finds members (cache/types/members.h).
//
// Shape (extendible hashing): the top bits of a 64-bit hash index a directory of 64-bit words. A word refers
// to a segment of 1 to 127 groups, and the following bits of the hash choose the group. A group is one cache
// line with 12 tags of one byte and 12 handles:
//
//   directory            segment (2 to 128 cache lines)
//   +--------+          +--------+---------+---------+---------+
//   | word 0 |--------->| header | group 0 | group 1 |   ...   |
//   | word 1 |--> ...   +--------+---------+---------+---------+
//   | word 2 |--+
//   | word 3 |--+---> a segment of lower depth than the directory fills several words
//   +--------+
//
// Cost: a hit reads the word, nearly always one group line, and the entry. A miss reads nearly always one group line and no
// entry. The table takes about 6.3 bytes per key with handles of 4 bytes.
//
// There are no pauses, because there is no second table and no rehashing of everything. An operation touches at most two
// segments of about 1,400 entries each, stashes aside. The exception is doubling or halving the directory, which copies 8
// bytes per word. A segment grows in steps (of 14 to 25 % from 64 lines on). A full segment of the largest size splits into
// two. A segment shrinks in the same steps and merges with its buddy. Keys with equal hashes (from a hostile or broken hash
// function) go to their segment's stash, at no cost for other keys.
//
// Scan order is the order of the hashes (times the table's `order`, see table_memory.h), whatever the layout; a cursor is a
// position in this order. See table_layout.h.
//
// Policy is a small copyable object. All its functions are noexcept:
//   - Ref, kNull: a trivially copyable handle of an entry, and the null handle. Key: the second argument of Equals.
//   - HashOf(Ref): well mixed in all bits, constant while the entry is in the table.
//   - Equals(Ref, Key), Prefetch(Ref).
//   - Allocate(bytes): a multiple of 64 bytes, aligned to 64, at an address below 2^48; null if out of
//     memory.
//   - Free(block, bytes).
//
// The slow paths stand in hash_table_resize.h, and are compiled once for each policy.
//
// Ownership: the table owns the directory and the segments, never the entries. An empty table holds no memory, but for the
// directory of expected entries (Expect). Loop thread only.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/prefetch.h"
#include "cache/table/table_layout.h"
#include "cache/table/table_memory.h"
#include "cache/table/table_segment.h"

namespace mayfly {

struct TableStats;

template <typename Policy>
class HashTable {
 public:
  using Ref = typename Policy::Ref;
  using Key = typename Policy::Key;
  static constexpr Ref kNull = Policy::kNull;
  // Every scan cursor is less than this.
  static constexpr uint64_t kScanEnd = uint64_t{1} << kPositionBits;

  explicit HashTable(Policy policy = Policy(), uint32_t order = 1) noexcept
      : memory_(std::move(policy), order) {}
  HashTable(const HashTable&) = delete;
  HashTable& operator=(const HashTable&) = delete;
  ~HashTable() { Clear(); }

  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  // Bytes allocated by the table: segments, stashes and directory.
  size_t memory() const noexcept { return memory_.bytes(); }
  const Policy& policy() const noexcept { return memory_.policy(); }
  // Returns a suitable order for a table to be filled in this table's sequence (table_memory.h).
  uint32_t NextOrder() const noexcept { return memory_.NextOrder(); }

  // In all functions below, `hash` is the key's hash.
  //
  // The handle of the key's entry, or kNull if the key is absent.
  Ref Find(const Key& key, uint64_t hash) const noexcept {
    const Spot spot = LocateKey(key, hash);
    return spot ? spot.ref() : kNull;
  }
  // Returns false, and changes nothing, if out of memory.
  // REQUIRES: the key is absent; ref != kNull.
  [[nodiscard]] bool Insert(Ref ref, uint64_t hash) noexcept {
    assert(!(ref == kNull));
    hash = memory_.Ordered(hash);
    Segment segment = SegmentOf(hash);
    if (segment.full()) [[unlikely]]
      segment = MakeRoom(hash);
    if (segment.is_empty_constant() || !segment.Place(memory_, ref, hash)) [[unlikely]]
      return false;
    ++size_;
    return true;
  }
  // Removes the key's entry from the table and returns its handle; kNull if the key is absent.
  Ref Erase(const Key& key, uint64_t hash) noexcept {
    const Spot spot = LocateKey(key, hash);
    if (!spot) return kNull;
    const Ref ref = spot.ref();
    RemoveAt(spot, memory_.Ordered(hash));
    return ref;
  }
  // To be called before an empty table gets about `keys` entries: entries are then moved less often while it fills. The
  // directory has its full size from the start. A segment that has got a part of its entries leaps to the size that it will need, so
  // a wrong number costs little. Does nothing if memory runs out, or if the table has entries. 0: no more are expected.
  void Expect(size_t keys) noexcept;
  // Removes exactly the entry `ref`, without reading the entry. Returns false if `ref` is not in the table.
  bool EraseRef(Ref ref, uint64_t hash) noexcept {
    const Spot spot = LocateRef(ref, hash);
    if (spot) RemoveAt(spot, memory_.Ordered(hash));
    return static_cast<bool>(spot);
  }
  // Replaces the handle `old` by `now`, for an entry that has moved. Does not read either entry. Returns
  // false if `old` is not in the table.
  bool Replace(Ref old, Ref now, uint64_t hash) noexcept {
    const Spot spot = LocateRef(old, hash);
    if (spot) spot.ref() = now;
    return static_cast<bool>(spot);
  }

  // The state of a look-ahead between its stages. Invalidated by the next change of the table.
  struct Trail {
    const TableGroup<Ref>* home;
    uint8_t tag;
  };
  // Look-ahead, first stage: prefetches the cache line of the key's home group.
  Trail PrefetchGroup(uint64_t hash) const noexcept {
    hash = memory_.Ordered(hash);
    const Segment segment = SegmentOf(hash);
    const uint32_t offset = OffsetOf(hash, segment.depth());
    const Group* home = segment.groups() + GroupOf(offset, segment.group_count());
    PrefetchToRead(home);
    return {home, TagOf(offset)};
  }
  // For an Insert: prefetches what it writes to.
  void PrefetchRoom(uint64_t hash) const noexcept {
    hash = memory_.Ordered(hash);
    const Segment segment = SegmentOf(hash);
    PrefetchToWrite(&segment.header());
    PrefetchToWrite(segment.HomeOf(hash));
  }
  // Second stage, after the line of the first stage has arrived: prefetches the next reads of Find. Returns the likely
  // result of Find, a guess without reading the entry; kNull if there is no candidate.
  Ref PrefetchCandidates(const Trail& trail) const noexcept {
    const Group* home = trail.home;
    uint32_t mask = home->Match(trail.tag);
    // A stray is mostly in the next group. (After a segment's last group this prefetches a useless line.)
    if (mask == 0 && home->MayHaveStray(trail.tag)) PrefetchToRead(home + 1);
    Ref likely = kNull;
    for (; mask != 0; mask &= mask - 1) {
      likely = home->refs[std::countr_zero(mask)];
      memory_.policy().Prefetch(likely);
    }
    return likely;
  }

  // Third stage, if the second returned kNull: does the same for the next group.
  Ref PrefetchStray(const Trail& trail, uint64_t hash) const noexcept {
    if (!trail.home->MayHaveStray(trail.tag)) return kNull;
    const Segment segment = SegmentOf(memory_.Ordered(hash));
    const auto index = static_cast<uint32_t>(trail.home - segment.groups());
    const Group& next = segment.groups()[segment.Wrap(index + 1)];
    const uint32_t mask = next.Match(trail.tag) & next.displaced;
    if (mask == 0) return kNull;
    const Ref likely = next.refs[std::countr_zero(mask)];
    memory_.policy().Prefetch(likely);
    return likely;
  }

  // Calls fn(ref) for a page of entries, starting at position `cursor`, and returns the cursor of the next
  // page. 0 starts a scan, and a returned 0 ends it. A key that stays in the table from the first call to the
  // last is reported exactly once, whatever changes between the calls. Keys of one position are in one page.
  // Any value is a safe cursor.
  // REQUIRES: fn does not touch the table.
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
    segment.ForEachAtHome(memory_, home, [&](Ref ref) {
      if (from_start || memory_.OrderedHashOf(ref) >> (64 - kPositionBits) >= cursor) fn(ref);
    });
    const uint64_t start = TopBits(hash, depth) << (kPositionBits - depth);
    const uint64_t end = FirstOffsetOf(home + 1, segment.group_count());
    const uint64_t next = start + (end << (kMaxTableDepth - depth));
    return next == kScanEnd ? 0 : next;
  }

  // A random entry, all with about the same probability; kNull if the table is empty. rng() returns 64 random
  // bits.
  template <typename Rng>
  Ref Random(Rng& rng) const;

  // Calls fn(ref) for every entry. fn may free the entry if Clear() follows.
  // REQUIRES: fn does not touch the table.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    for (size_t i = 0; i < directory_words(); i += size_t{1} << (depth_ - Segment(directory_[i]).depth())) {
      Segment(directory_[i]).ForEach(fn);
    }
  }
  // Removes entries, one segment at a time, and calls fn(ref) for each, until at least `budget` entries have
  // been removed or the table is empty. Exceeds the budget by less than one segment. Returns true if the
  // table is empty.
  // REQUIRES: fn does not touch the table.
  template <typename Fn>
  [[nodiscard]] bool DrainSome(size_t budget, Fn&& fn);
  // Removes all entries and frees the table's memory.
  void Clear() noexcept;

  // Statistics of the layout (table_inspect.h). Reads every group and every displaced entry.
  TableStats Stats() const noexcept;
  // Checks all invariants. Reads every entry; for tests.
  bool Validate() const noexcept;

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
  // Below, `hash` is memory_.Ordered of the key's hash, except in LocateKey and LocateRef.
  Segment SegmentOf(uint64_t hash) const noexcept { return Segment(directory_[TopBits(hash, depth_)]); }
  Spot LocateKey(const Key& key, uint64_t hash) const noexcept {
    hash = memory_.Ordered(hash);
    return SegmentOf(hash).Locate(hash, [&](Ref ref) { return memory_.policy().Equals(ref, key); });
  }
  Spot LocateRef(Ref wanted, uint64_t hash) const noexcept {
    hash = memory_.Ordered(hash);
    return SegmentOf(hash).Locate(hash, [&](Ref ref) { return ref == wanted; });
  }
  void RemoveAt(const Spot& spot, uint64_t hash) noexcept {
    const Segment segment = SegmentOf(hash);
    segment.Remove(memory_, spot);
    --size_;
    if (segment.total() < segment.header().low) [[unlikely]]
      Shrink(hash);
  }

  // The next size of a full segment. REQUIRES: size < kLargestSize.
  uint32_t Larger(uint32_t size) const noexcept {
    constexpr uint32_t kBelieved = 4;  // with that many entries the expectation may be right
    constexpr uint32_t kHalf = 8;
    if (size < kBelieved || size >= expected_size_) return size + 1;
    return size < kHalf ? std::min(kHalf, expected_size_) : expected_size_;
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
  uint64_t single_ = Segment::Empty(0).word();  // The directory while it has one word.
  uint64_t* directory_ = &single_;
  size_t size_ = 0;
  uint32_t depth_ = 0;
  uint32_t deepest_ = 1;        // Segments as deep as the directory: at 0 the directory can be halved.
  uint32_t expected_size_ = 0;  // Of a segment with all entries that are expected; 0: none are.
  uint32_t drain_next_ = 0;     // The directory word at which DrainSome continues.
};

template <typename Policy>
template <typename Rng>
typename HashTable<Policy>::Ref HashTable<Policy>::Random(Rng& rng) const {
  if (size_ == 0) return kNull;
  // Rejection sampling keeps the choice fair: a slot of a large segment and a slot of a small segment must be equally
  // likely. After many rejections (of a sparse table, or with a hostile hash function) the result is the first entry of a scan from
  // a random position.
  constexpr uint32_t kTries = 1000;
  constexpr uint32_t kMostGroups = GroupsOfSize(kLargestSize);
  for (uint32_t i = 0; i < kTries; ++i) {
    const uint64_t bits = rng();
    const Segment segment = SegmentOf(bits);
    const uint32_t own = segment.group_count();
    const uint32_t all = own + segment.header().stash_groups;
    const uint32_t among = depth_ == 0 ? all : std::max(all, kMostGroups);
    const uint64_t dice = rng();
    // A segment that fills 2^n directory words is drawn 2^n times as often.
    if ((dice >> 32 & ((uint64_t{1} << (depth_ - segment.depth())) - 1)) != 0) continue;
    const auto index = static_cast<uint32_t>((dice & 0xFFFF'FFFF) * among >> 32);
    if (index >= all) continue;
    const Group& group = index < own ? segment.groups()[index] : segment.header().stash[index - own];
    const auto slot = static_cast<uint32_t>((bits & 0xFFFF) * Group::kSlots >> 16);
    if (group.tags[slot] != 0) return group.refs[slot];
  }
  Ref found = kNull;
  for (uint64_t cursor = rng() >> (64 - kPositionBits); found == kNull;) {
    cursor = Scan(cursor, [&](Ref ref) { found = ref; });
  }
  return found;
}

template <typename Policy>
template <typename Fn>
bool HashTable<Policy>::DrainSome(size_t budget, Fn&& fn) {
  while (size_ > 0) {
    if (budget == 0) return false;
    const size_t index = drain_next_ & (directory_words() - 1);
    const Segment segment(directory_[index]);
    const uint64_t hash = depth_ == 0 ? 0 : uint64_t{index} << (64 - depth_);
    const size_t taken = segment.total();
    Install(hash, Segment::Empty(segment.depth()));
    size_ -= taken;
    segment.ForEach(fn);
    segment.Free(memory_);
    budget -= std::min(budget, std::max<size_t>(taken, 1));
    drain_next_ = static_cast<uint32_t>(index + (size_t{1} << (depth_ - segment.depth())));
  }
  Clear();
  return true;
}

}  // namespace mayfly
