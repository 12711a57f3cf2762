// The slow paths of HashTable: growing, shrinking, clearing and examining. For each policy one source includes this header and
// instantiates the table: template class HashTable<Policy>.
//
// Every step builds the new segments first and installs them at the end, so running out of memory changes nothing: an insert
// then uses the remaining room, and an erase leaves a segment larger than necessary.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cache/table/hash_table.h"
#include "cache/table/table_inspect.h"
#include "cache/table/table_layout.h"
#include "cache/table/table_relay.h"

namespace mayfly {

template <typename Policy>
bool HashTable<Policy>::Create(uint32_t size, uint32_t depth, Segment* made) noexcept {
  const uint32_t groups = GroupsOfSize(size);
  void* block = memory_.Allocate(Segment::BytesOf(groups));
  if (block == nullptr) return false;
  std::memset(block, 0, Segment::BytesOf(groups));
  auto* header = new (block) Header{};
  header->size = size;
  header->limit = LimitOfSize(size);
  // At least 1, so that erasing the last entry calls Shrink.
  header->low = std::max(ShrinkBelow(size), depth > 0 ? kMergeEntriesMax / 2 : 1U);
  *made = Segment(reinterpret_cast<const Group*>(header + 1), groups, depth);
  return true;
}

// Makes `segment` the segment of all hashes that share the first segment.depth() bits of `hash`.
template <typename Policy>
void HashTable<Policy>::Install(uint64_t hash, Segment segment) noexcept {
  const uint32_t spare_bits = depth_ - segment.depth();
  uint64_t* first = directory_ + (TopBits(hash, segment.depth()) << spare_bits);
  std::fill_n(first, size_t{1} << spare_bits, segment.word());
}

// Returns the segment of `hash`, with room for one more entry if memory and depth allow it.
template <typename Policy>
typename HashTable<Policy>::Segment HashTable<Policy>::MakeRoom(uint64_t hash) noexcept {
  Segment segment = SegmentOf(hash);
  while (segment.full()) {
    bool grown = false;
    if (segment.is_empty_constant()) {
      grown = Resize(hash, 0);
    } else if (segment.header().size < kLargestSize) {
      const uint32_t size = segment.header().size;
      grown = Resize(hash, Larger(size)) || (Larger(size) != size + 1 && Resize(hash, size + 1));
    } else if (segment.depth() < kMaxTableDepth) {
      grown = Split(hash);
    }
    if (!grown) break;
    segment = SegmentOf(hash);
  }
  return segment;
}

template <typename Policy>
void HashTable<Policy>::Expect(size_t keys) noexcept {
  constexpr size_t kFew = 100;  // they cost next to nothing
  if (keys < kFew) expected_size_ = 0;
  if (keys < kFew || size_ != 0 || directory_ != &single_ || !Segment(single_).is_empty_constant()) return;
  // The entries of a segment vary by the root of their mean. With four times that above the mean, hardly any segment is too full.
  const auto room_for = [](size_t mean) { return mean + 4 * std::bit_floor(mean) / 32 + 16; };
  uint32_t depth = 0;
  while (depth < kMaxTableDepth && room_for(keys >> depth) > LimitOfSize(kLargestSize)) ++depth;
  uint32_t size = 0;
  while (size < kLargestSize && LimitOfSize(size) < room_for(keys >> depth)) ++size;
  uint64_t* made = &single_;
  if (depth > 0) {
    made = static_cast<uint64_t*>(memory_.Allocate(DirectoryBytes(depth)));
    if (made == nullptr) return;
  }
  std::fill_n(made, size_t{1} << depth, Segment::Empty(depth).word());
  directory_ = made;
  depth_ = depth;
  deepest_ = 1U << depth;
  expected_size_ = size;
}

template <typename Policy>
void HashTable<Policy>::Shrink(uint64_t hash) noexcept {
  if (size_ == 0) return Clear();
  const Segment segment = SegmentOf(hash);
  if (segment.depth() > 0 && Merge(hash)) return;
  const uint32_t size = segment.header().size;
  if (segment.total() < ShrinkBelow(size)) Resize(hash, std::min(size - 1, SizeFor(segment.total())));
}

template <typename Policy>
bool HashTable<Policy>::Resize(uint64_t hash, uint32_t size) noexcept {
  const Segment old = SegmentOf(hash);
  Segment made = old;
  if (!Create(size, old.depth(), &made)) return false;
  if (!TableRelay<Policy>(memory_, old, made, made, 0).Run()) {
    made.Free(memory_);
    return false;
  }
  Install(hash, made);
  old.Free(memory_);
  return true;
}

template <typename Policy>
bool HashTable<Policy>::Split(uint64_t hash) noexcept {
  const Segment old = SegmentOf(hash);
  const uint32_t depth = old.depth() + 1;
  if (depth > depth_ && !SetDirectoryDepth(depth)) return false;
  // The number of entries in the lower groups is roughly the number of entries of the lower half.
  uint32_t lower = 0;
  for (uint32_t i = 0; i < old.group_count() / 2; ++i) lower += std::popcount(old.groups()[i].UsedSlots());
  const size_t upper = old.total() - lower;
  Segment low = old;
  Segment high = old;
  if (!Create(SizeFor(lower), depth, &low)) return false;
  if (!Create(SizeFor(upper), depth, &high)) {
    low.Free(memory_);
    return false;
  }
  if (!TableRelay<Policy>(memory_, old, low, high, 0).Run()) {
    low.Free(memory_);
    high.Free(memory_);
    return false;
  }
  const uint64_t bit = uint64_t{1} << (64 - depth);
  Install(hash & ~bit, low);
  Install(hash | bit, high);
  if (depth == depth_) deepest_ += 2;
  old.Free(memory_);
  return true;
}

// Merges the segment of `hash` with its buddy if both are sparse and equally deep. Returns false if nothing was merged.
template <typename Policy>
bool HashTable<Policy>::Merge(uint64_t hash) noexcept {
  const Segment mine = SegmentOf(hash);
  const uint32_t depth = mine.depth();
  const uint64_t bit = uint64_t{1} << (64 - depth);
  const Segment low = SegmentOf(hash & ~bit);
  const Segment high = SegmentOf(hash | bit);
  const size_t total = low.total() + high.total();
  if (low.depth() != high.depth() || total > kMergeEntriesMax) return false;
  Segment made = mine;
  if (!Create(SizeFor(total), depth - 1, &made)) return false;
  if (!TableRelay<Policy>(memory_, low, made, made, 0).Run() ||
      !TableRelay<Policy>(memory_, high, made, made, 1).Run()) {
    made.Free(memory_);
    return false;
  }
  Install(hash, made);
  low.Free(memory_);
  high.Free(memory_);
  if (depth == depth_ && (deepest_ -= 2) == 0) SetDirectoryDepth(depth_ - 1);
  return true;
}

// Doubles or halves the directory. Returns false if out of memory.
// REQUIRES: `depth` differs from depth_ by one, and no segment is deeper than `depth`.
template <typename Policy>
bool HashTable<Policy>::SetDirectoryDepth(uint32_t depth) noexcept {
  assert(depth == depth_ + 1 || (depth + 1 == depth_ && deepest_ == 0));
  uint64_t* made = &single_;
  if (depth > 0) {
    made = static_cast<uint64_t*>(memory_.Allocate(DirectoryBytes(depth)));
    if (made == nullptr) return false;
  }
  const size_t words = size_t{1} << depth;
  const bool doubled = depth > depth_;
  deepest_ = 0;
  for (size_t i = 0; i < words; ++i) {
    made[i] = directory_[doubled ? i >> 1 : i << 1];
    if (Segment(made[i]).depth() == depth) ++deepest_;
  }
  if (directory_ != &single_) memory_.Free(directory_, DirectoryBytes(depth_));
  directory_ = made;
  depth_ = depth;
  return true;
}

template <typename Policy>
void HashTable<Policy>::Clear() noexcept {
  for (size_t i = 0; i < directory_words();) {
    const Segment segment(directory_[i]);
    i += size_t{1} << (depth_ - segment.depth());
    segment.Free(memory_);
  }
  if (directory_ != &single_) memory_.Free(directory_, DirectoryBytes(depth_));
  single_ = Segment::Empty(0).word();
  directory_ = &single_;
  size_ = 0;
  depth_ = 0;
  deepest_ = 1;
  expected_size_ = 0;
  drain_next_ = 0;
  memory_.ChangeOrder();  // a caller may put the entries back in scan order: needs another order
}

template <typename Policy>
TableStats HashTable<Policy>::Stats() const noexcept {
  return TableInspector<Policy>(directory_, depth_, memory_).Stats();
}

template <typename Policy>
bool HashTable<Policy>::Validate() const noexcept {
  const TableInspector<Policy> inspector(directory_, depth_, memory_);
  const size_t own = directory_ == &single_ ? 0 : DirectoryBytes(depth_);
  return inspector.Validate(size_, deepest_, memory_.bytes() - own);
}

}  // namespace mayfly
