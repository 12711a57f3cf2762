// Examines a whole hash table: statistics of its layout, and a check of its invariants for tests.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "cache/table/table_segment.h"

namespace mayfly {

struct TableStats {
  size_t entries = 0;
  size_t segments = 0;
  size_t groups = 0;
  size_t directory_words = 0;
  size_t displaced = 0;  // Entries outside their home group, not counting the stash.
  size_t stashed = 0;
  double probes_per_hit = 0;  // Group lines read, not counting the stash.
  double probes_per_miss = 0;
};

template <typename Policy>
class TableInspector {
 public:
  using Segment = TableSegment<Policy>;
  using Group = typename Segment::Group;
  using Ref = typename Policy::Ref;

  TableInspector(const uint64_t* directory, uint32_t depth, const TableMemory<Policy>& memory) noexcept
      : directory_(directory), depth_(depth), memory_(memory) {}

  TableStats Stats() const noexcept {
    TableStats stats;
    stats.directory_words = size_t{1} << depth_;
    size_t distance_sum = 0;
    double miss_sum = 0;  // Weighted by each segment's share of the hashes.
    for (size_t i = 0; i < stats.directory_words; i += WordsOf(Segment(directory_[i]))) {
      const Segment segment(directory_[i]);
      ++stats.segments;
      stats.groups += segment.group_count();
      stats.entries += segment.total();
      stats.stashed += segment.header().stash_count;
      double line_sum = 0;
      for (uint32_t g = 0; g < segment.group_count(); ++g) {
        const Group& group = segment.groups()[g];
        line_sum += 1 + group.reach * std::popcount(group.filter) / 8.0;
        stats.displaced += static_cast<size_t>(std::popcount(uint32_t{group.displaced}));
        for (uint32_t s = 0; s < Group::kSlots; ++s) {
          if (group.IsDisplaced(s)) distance_sum += DistanceOf(segment, g, group.refs[s]);
        }
      }
      miss_sum += line_sum * static_cast<double>(WordsOf(segment)) / segment.group_count();
    }
    if (stats.entries != 0) {
      stats.probes_per_hit = 1 + static_cast<double>(distance_sum) / static_cast<double>(stats.entries);
    }
    stats.probes_per_miss = miss_sum / static_cast<double>(stats.directory_words);
    return stats;
  }

  // `bytes` is the expected size of all segments and stashes together.
  bool Validate(size_t size, size_t deepest, size_t bytes) const noexcept {
    const size_t words = size_t{1} << depth_;
    for (size_t i = 0; i < words;) {
      const Segment segment(directory_[i]);
      if (segment.depth() > depth_ || i % WordsOf(segment) != 0) return false;
      for (size_t w = 0; w < WordsOf(segment); ++w) {
        if (directory_[i + w] != segment.word()) return false;
      }
      if (!ValidateSegment(segment, i) || segment.total() > size || segment.bytes() > bytes) return false;
      size -= segment.total();
      bytes -= segment.bytes();
      if (segment.depth() == depth_ && deepest-- == 0) return false;
      i += WordsOf(segment);
    }
    return size == 0 && bytes == 0 && deepest == 0;
  }

 private:
  size_t WordsOf(Segment segment) const noexcept { return size_t{1} << (depth_ - segment.depth()); }
  uint32_t DistanceOf(Segment segment, uint32_t index, Ref ref) const noexcept {
    const auto home = static_cast<uint32_t>(segment.HomeOf(memory_.OrderedHashOf(ref)) - segment.groups());
    return index >= home ? index - home : index + segment.group_count() - home;
  }

  // Returns true if the entry belongs to this segment and has the right tag.
  bool ValidateEntry(Segment segment, size_t word, uint64_t hash, uint8_t tag) const noexcept {
    return TopBits(hash, segment.depth()) == word >> (depth_ - segment.depth()) &&
           tag == TagOf(OffsetOf(hash, segment.depth()));
  }
  // Returns true if a lookup by hash finds the entry in exactly this slot.
  static bool ValidateSpot(Segment segment, uint64_t hash, const Group& group, uint32_t slot) noexcept {
    const auto spot = segment.Locate(hash, [&](Ref other) { return other == group.refs[slot]; });
    return spot.group == &group && spot.index == slot && !spot.stashed;
  }

  bool ValidateSegment(Segment segment, size_t word) const noexcept {
    const auto& header = segment.header();
    size_t count = 0;
    size_t displaced = 0;
    size_t away = 0;
    size_t stashed = 0;
    for (uint32_t g = 0; g < segment.group_count(); ++g) {
      const Group& group = segment.groups()[g];
      const uint32_t used = group.UsedSlots();
      if ((group.displaced & ~used) != 0 || (group.reach == 0) != (group.away == 0)) return false;
      if ((group.filter == 0) != (group.away == 0 && group.stashed == 0)) return false;
      count += static_cast<size_t>(std::popcount(used));
      displaced += static_cast<size_t>(std::popcount(uint32_t{group.displaced}));
      away += group.away;
      stashed += group.stashed;
      for (uint32_t s = 0; s < Group::kSlots; ++s) {
        if ((used >> s & 1U) == 0) continue;
        const uint32_t distance = DistanceOf(segment, g, group.refs[s]);
        if (group.IsDisplaced(s) != (distance != 0) || distance > Group::kMaxReach) return false;
        const uint64_t hash = memory_.OrderedHashOf(group.refs[s]);
        if (!ValidateEntry(segment, word, hash, group.tags[s])) return false;
        if (!ValidateSpot(segment, hash, group, s)) return false;
      }
    }
    if (count != header.count || displaced != away) return false;
    if (header.stash_count > 0 && stashed == 0) return false;
    return ValidateStash(segment, word);
  }

  bool ValidateStash(Segment segment, size_t word) const noexcept {
    const auto& header = segment.header();
    if (header.stash_count > header.stash_groups * Group::kSlots) return false;
    if ((header.stash_groups == 0) != (header.stash == nullptr)) return false;
    for (uint32_t i = 0; i < header.stash_groups * Group::kSlots; ++i) {
      const Group& group = header.stash[i / Group::kSlots];
      const uint32_t slot = i % Group::kSlots;
      if ((group.tags[slot] != 0) != (i < header.stash_count)) return false;
      if (i >= header.stash_count) continue;
      const uint64_t hash = memory_.OrderedHashOf(group.refs[slot]);
      const Group* home = segment.HomeOf(hash);
      if (home->stashed == 0 || !home->MayHaveStray(group.tags[slot])) return false;
      if (!ValidateEntry(segment, word, hash, group.tags[slot])) return false;
    }
    return true;
  }

  const uint64_t* directory_;
  uint32_t depth_;
  const TableMemory<Policy>& memory_;
};

}  // namespace mayfly
