// The large form of a list: insertion and removal of elements in nodes. Part of list_value.h.
//
// If memory runs out, a method throws std::bad_alloc and no element has changed.
#pragma once

#include <cstdint>
#include <span>

#include "cache/types/list_value.h"

namespace mayfly {

// Removes at most `most` items equal to `item` from the pack, the nearest to `from` first. Returns the number of removed
// items.
uint64_t RemoveItems(ElementPack& pack, const PackItem& item, uint64_t most, ListEnd from) noexcept;

struct ListValue::Large {
  Large() noexcept = default;

  // Bytes of the packs and the ring.
  uint64_t bytes() const noexcept { return pack_bytes + nodes.bytes(); }
  // Takes a nonempty pack as the last node.
  void AppendNode(ElementPack&& pack);
  Place PlaceOf(uint64_t index) const noexcept;
  void Push(ListEnd end, const PackItem& item, const ListLimit& limit);
  void Insert(Place place, const PackItem& item, const ListLimit& limit);
  // Returns false, and changes nothing, if the node would exceed its limit.
  bool Replace(Place place, const PackItem& item, const ListLimit& limit);
  void Erase(Place place) noexcept;
  void Drop(ListEnd end, uint64_t count) noexcept;
  uint64_t Remove(const PackItem& item, uint64_t most, ListEnd from) noexcept;
  // Drops empty nodes, and merges neighbours that are small enough.
  void Compact(const ListLimit& limit) noexcept;
  // Merges the node with its neighbours if they are small enough.
  void MergeAround(size_t node, const ListLimit& limit) noexcept;

  ListNodes nodes;
  uint64_t size = 0;        // elements
  uint64_t pack_bytes = 0;  // memory of the packs
  RichValue* buried_before = nullptr;
  ListListener* listener = nullptr;

 private:
  // Calls change(ElementPack&) for the pack of a node, and updates the counts.
  template <typename Change>
  void Edit(ListNode& node, Change&& change) {
    const uint64_t before = node.pack.memory();
    change(node.pack);
    pack_bytes += node.pack.memory() - before;
    size += node.pack.size() - node.count;
    node.count = static_cast<uint32_t>(node.pack.size());
  }
  void InsertNode(size_t at, const PackItem& item);
  // Moves the items from `offset` on into a new node.
  void Split(size_t node, size_t offset);
  void DropNode(ListEnd end) noexcept;
  void EraseNode(size_t node) noexcept;
  // Appends the items of `from` to `to` and empties `from`, if both are small enough and there is memory.
  bool Merge(ListNode& to, ListNode& from, const ListLimit& limit) noexcept;
};

}  // namespace mayfly
