// A segment of the hash table: one allocation of a header line and 1 to 127 groups. A segment may also have a *stash*, an
// array of groups for entries without room near their home. A stash is rare: only a great many keys with equal hashes make a
// stash, and only these keys are slower.
//
// A TableSegment is only a view, made from a directory word and passed by value:
//
//   word:  | depth: 8 bits | groups: 8 bits | address of group 0: 48 bits |
//
// The depth is the number of leading hash bits shared by all entries of the segment. The word is enough for a lookup, so a
// hit reads the word, one group line and the entry. Only changes read the header (counts and limits).
//
// Invariants (see table_inspect.h): stash slots are filled from the front without gaps; count and stash_count
// agree with the tags. A view owns nothing: HashTable creates and frees segments. Loop thread only.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "cache/table/table_group.h"
#include "cache/table/table_layout.h"
#include "cache/table/table_memory.h"

namespace mayfly {

template <typename Ref>
struct alignas(kCacheLine) TableSegmentHeader {
  uint32_t count = 0;  // Entries in groups.
  uint32_t limit = 0;  // `count` at which the segment grows or splits; 0 marks the shared empty segment.
  uint32_t low = 0;    // A segment with fewer entries (in groups and stash) shrinks or merges.
  uint32_t size = 0;   // Index into kSegmentLines.
  uint32_t stash_count = 0;  // Entries in the stash.
  uint32_t stash_groups = 0;
  TableGroup<Ref>* stash = nullptr;
};

template <typename Policy>
class TableSegment {
 public:
  using Ref = typename Policy::Ref;
  using Group = TableGroup<Ref>;
  using Header = TableSegmentHeader<Ref>;
  using Memory = TableMemory<Policy>;

  // The location of an entry. `group` is null if no entry was found. In the stash, `index` counts the slots of the whole
  // stash.
  struct Spot {
    Group* home = nullptr;
    Group* group = nullptr;
    uint32_t index = 0;
    bool stashed = false;
    explicit operator bool() const noexcept { return group != nullptr; }
    Ref& ref() const noexcept { return group->refs[index % Group::kSlots]; }
  };

  explicit TableSegment(uint64_t word) noexcept : word_(word) {}
  TableSegment(const Group* groups, uint32_t count, uint32_t depth) noexcept
      : word_(reinterpret_cast<uintptr_t>(groups) | uint64_t{count} << kGroupsShift |
              uint64_t{depth} << kDepthShift) {}
  // The shared empty segment: no entries, no room, no memory of its own. Never written to.
  static TableSegment Empty(uint32_t depth) noexcept { return TableSegment(&kNothing.group, 1, depth); }

  uint64_t word() const noexcept { return word_; }
  uint32_t depth() const noexcept { return static_cast<uint32_t>(word_ >> kDepthShift); }
  uint32_t group_count() const noexcept { return static_cast<uint32_t>(word_ >> kGroupsShift) & 0xFF; }
  Group* groups() const noexcept { return reinterpret_cast<Group*>(word_ & kAddressMask); }
  Header& header() const noexcept { return *(reinterpret_cast<Header*>(groups()) - 1); }
  bool is_empty_constant() const noexcept { return groups() == &kNothing.group; }
  bool full() const noexcept { return header().count >= header().limit; }
  size_t total() const noexcept { return size_t{header().count} + header().stash_count; }
  static constexpr size_t BytesOf(uint32_t group_count) noexcept {
    return sizeof(Header) + group_count * sizeof(Group);
  }

  Group* HomeOf(uint64_t hash) const noexcept {
    return groups() + GroupOf(OffsetOf(hash, depth()), group_count());
  }

  // Finds the entry for which match(ref) is true, among the candidates for this hash. Only the search of the home group is
  // inline.
  template <typename Match>
  Spot Locate(uint64_t hash, const Match& match) const noexcept {
    const uint32_t offset = OffsetOf(hash, depth());
    Group* home = groups() + GroupOf(offset, group_count());
    const uint8_t tag = TagOf(offset);
    for (uint32_t mask = home->Match(tag); mask != 0; mask &= mask - 1) {
      const auto slot = static_cast<uint32_t>(std::countr_zero(mask));
      if (match(home->refs[slot])) return {home, home, slot, false};
    }
    if (!home->MayHaveStray(tag)) [[likely]]
      return {};
    return LocateStray(home, tag, match);
  }

  // Returns false, and changes nothing, if there is neither room nor memory.
  // REQUIRES: !is_empty_constant().
  bool Place(Memory& memory, Ref ref, uint64_t hash) const noexcept {
    const uint32_t offset = OffsetOf(hash, depth());
    return PlaceAt(memory, GroupOf(offset, group_count()), TagOf(offset), ref);
  }
  bool PlaceAt(Memory& memory, uint32_t home_index, uint8_t tag, Ref ref) const noexcept {
    assert(!is_empty_constant());
    Group& home = groups()[home_index];
    if (const uint32_t free = home.FreeSlots(); free != 0) [[likely]] {
      home.Put(static_cast<uint32_t>(std::countr_zero(free)), tag, ref);
      ++header().count;
      return true;
    }
    return PlaceStray(memory, home_index, tag, ref);
  }

  // Removes an entry.
  // REQUIRES: `spot` comes from Locate, and nothing has changed since.
  void Remove(Memory& memory, const Spot& spot) const noexcept {
    assert(spot);
    if (spot.stashed) [[unlikely]]
      return RemoveStashed(memory, spot);
    assert((spot.group->UsedSlots() >> spot.index & 1U) != 0);
    if (spot.group->IsDisplaced(spot.index)) spot.home->ForgetAway();
    spot.group->Drop(spot.index);
    --header().count;
  }

  // Calls fn(ref) for every entry.
  // REQUIRES: fn does not touch the table.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    for (uint32_t i = 0; i < group_count(); ++i) ForEachIn(groups()[i], groups()[i].UsedSlots(), fn);
    for (uint32_t i = 0; i < header().stash_groups; ++i) {
      ForEachIn(header().stash[i], header().stash[i].UsedSlots(), fn);
    }
  }

  // Calls fn(ref) for every entry with home group `index`, wherever the entry is stored. Hashes only strays.
  template <typename Fn>
  void ForEachAtHome(const Memory& memory, uint32_t index, Fn&& fn) const {
    const Group& home = groups()[index];
    ForEachIn(home, home.UsedSlots() & ~uint32_t{home.displaced}, fn);
    const auto only_ours = [&](Ref ref) {
      if (HomeOf(memory.OrderedHashOf(ref)) == &home) fn(ref);
    };
    for (uint32_t distance = 1; distance <= home.reach; ++distance) {
      const Group& next = groups()[Wrap(index + distance)];
      ForEachIn(next, next.displaced, only_ours);
    }
    if (home.stashed == 0) return;
    for (uint32_t i = 0; i < header().stash_groups; ++i) {
      ForEachIn(header().stash[i], header().stash[i].UsedSlots(), only_ours);
    }
  }

  uint32_t Wrap(uint32_t index) const noexcept {
    return index < group_count() ? index : index - group_count();
  }
  size_t bytes() const noexcept {
    return is_empty_constant() ? 0 : BytesOf(group_count()) + header().stash_groups * sizeof(Group);
  }
  void Free(Memory& memory) const noexcept {
    if (is_empty_constant()) return;
    if (header().stash != nullptr) memory.Free(header().stash, header().stash_groups * sizeof(Group));
    memory.Free(&header(), BytesOf(group_count()));
  }

 private:
  static constexpr uint32_t kGroupsShift = 48;
  static constexpr uint32_t kDepthShift = 56;
  static constexpr uint64_t kAddressMask = (uint64_t{1} << kGroupsShift) - 1;

  struct Nothing {
    Header header;
    Group group;
  };
  static constexpr Nothing kNothing{};

  template <typename Fn>
  static void ForEachIn(const Group& group, uint32_t slots, Fn&& fn) {
    for (; slots != 0; slots &= slots - 1) fn(group.refs[std::countr_zero(slots)]);
  }

  template <typename Match>
  [[gnu::noinline]] Spot LocateStray(Group* home, uint8_t tag, const Match& match) const noexcept {
    const auto home_index = static_cast<uint32_t>(home - groups());
    for (uint32_t distance = 1; distance <= home->reach; ++distance) {
      Group* group = groups() + Wrap(home_index + distance);
      for (uint32_t mask = group->Match(tag) & group->displaced; mask != 0; mask &= mask - 1) {
        const auto slot = static_cast<uint32_t>(std::countr_zero(mask));
        if (match(group->refs[slot])) return {home, group, slot, false};
      }
    }
    if (home->stashed == 0) return {};
    for (uint32_t i = 0; i < header().stash_groups; ++i) {
      Group* group = header().stash + i;
      for (uint32_t mask = group->Match(tag); mask != 0; mask &= mask - 1) {
        const auto slot = static_cast<uint32_t>(std::countr_zero(mask));
        if (match(group->refs[slot])) return {home, group, i * Group::kSlots + slot, true};
      }
    }
    return {};
  }

  [[gnu::noinline]] bool PlaceStray(Memory& memory, uint32_t home_index, uint8_t tag,
                                    Ref ref) const noexcept {
    Group& home = groups()[home_index];
    const uint32_t farthest = home.away == Group::kMaxAway ? 0 : Group::kMaxReach;
    for (uint32_t distance = 1; distance <= farthest && distance < group_count(); ++distance) {
      Group& group = groups()[Wrap(home_index + distance)];
      const uint32_t free = group.FreeSlots();
      if (free == 0) continue;
      const auto slot = static_cast<uint32_t>(std::countr_zero(free));
      group.Put(slot, tag, ref);
      group.SetDisplaced(slot);
      home.NoteStrayAt(distance, tag);
      ++header().count;
      return true;
    }
    Header& head = header();
    if (head.stash_count == head.stash_groups * Group::kSlots &&
        !ResizeStash(memory, head.stash_groups == 0 ? 1 : head.stash_groups * 2)) {
      return false;
    }
    head.stash[head.stash_count / Group::kSlots].Put(head.stash_count % Group::kSlots, tag, ref);
    ++head.stash_count;
    home.NoteStashed(tag);
    return true;
  }

  // Moves the last entry of the stash into the freed slot. Halves a stash with three quarters of its slots free.
  void RemoveStashed(Memory& memory, const Spot& spot) const noexcept {
    Header& head = header();
    --head.stash_count;
    Group& last = head.stash[head.stash_count / Group::kSlots];
    const uint32_t last_slot = head.stash_count % Group::kSlots;
    spot.group->Put(spot.index % Group::kSlots, last.tags[last_slot], last.refs[last_slot]);
    last.Drop(last_slot);
    if (head.stash_count == 0) {
      ResizeStash(memory, 0);
    } else if (head.stash_groups > 1 && head.stash_count <= head.stash_groups * Group::kSlots / 4) {
      ResizeStash(memory, head.stash_groups / 2);
    }
  }

  // Returns false, and leaves the stash as before, if out of memory.
  // REQUIRES: the entries fit into `group_count` groups.
  bool ResizeStash(Memory& memory, uint32_t group_count) const noexcept {
    Header& head = header();
    Group* made = nullptr;
    const uint32_t used = (head.stash_count + Group::kSlots - 1) / Group::kSlots;
    assert(used <= group_count);
    if (group_count != 0) {
      made = static_cast<Group*>(memory.Allocate(group_count * sizeof(Group)));
      if (made == nullptr) return false;
      std::memset(static_cast<void*>(made + used), 0, (group_count - used) * sizeof(Group));
      if (used != 0) std::memcpy(static_cast<void*>(made), head.stash, used * sizeof(Group));
    }
    if (head.stash != nullptr) memory.Free(head.stash, head.stash_groups * sizeof(Group));
    head.stash = made;
    head.stash_groups = group_count;
    return true;
  }

  uint64_t word_;
};

}  // namespace mayfly
