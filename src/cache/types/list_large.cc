#include "cache/types/list_large.h"

#include <array>
#include <cassert>
#include <new>
#include <utility>

namespace mayfly {
namespace {

ElementPack PackOf(const PackItem& item) {
  ElementPack pack;
  pack.Append({&item, 1});
  return pack;
}

// Appends the items of `from`, starting at `at`, several at a time.
void AppendItems(ElementPack& to, const ElementPack& from, ElementPack::At at) {
  std::array<PackItem, 32> items;
  while (at != from.end()) {
    size_t count = 0;
    for (; count < items.size() && at != from.end(); at = from.Next(at)) items[count++] = from.Read(at);
    to.Append({items.data(), count});
  }
}

}  // namespace

uint64_t RemoveItems(ElementPack& pack, const PackItem& item, uint64_t most, ListEnd from) noexcept {
  uint64_t removed = 0;
  if (from == ListEnd::kTail) {
    for (ElementPack::At at = pack.end(); at != pack.begin() && removed < most;) {
      at = pack.Prev(at);
      if (!pack.Is(at, item)) continue;
      pack.Erase(at, 1);
      ++removed;
    }
    return removed;
  }
  ElementPack::At at = pack.Find(item, pack.begin());
  while (at != pack.end() && removed < most) {
    size_t run = 1;  // equal neighbours are erased together
    for (ElementPack::At next = pack.Next(at);
         removed + run < most && next != pack.end() && pack.Is(next, item); next = pack.Next(next))
      ++run;
    pack.Erase(at, run);
    removed += run;
    at = pack.Find(item, at);
  }
  return removed;
}

void ListValue::Large::AppendNode(ElementPack&& pack) {
  assert(!pack.empty());
  ListNode& node = nodes.AddLast();
  Edit(node, [&](ElementPack& its) { its = std::move(pack); });
}

ListValue::Place ListValue::Large::PlaceOf(uint64_t index) const noexcept {
  assert(index <= size);
  if (index < size / 2) {
    size_t node = 0;
    for (; index >= nodes[node].count; ++node) index -= nodes[node].count;
    return {node, index};
  }
  uint64_t left = size - index;  // elements from here to the end
  size_t node = nodes.size() - 1;
  for (; left > nodes[node].count; --node) left -= nodes[node].count;
  return {node, nodes[node].count - left};
}

void ListValue::Large::InsertNode(size_t at, const PackItem& item) {
  ElementPack pack = PackOf(item);
  ListNode& node = at == nodes.size() ? nodes.AddLast() : nodes.InsertAt(at);
  Edit(node, [&](ElementPack& its) { its = std::move(pack); });
}

void ListValue::Large::Push(ListEnd end, const PackItem& item, const ListLimit& limit) {
  const bool head = end == ListEnd::kHead;
  if (!nodes.empty()) {
    ListNode& node = head ? nodes.front() : nodes.back();
    if (!limit.ExceededBy(node.pack.bytes() + ElementPack::SizeOf({&item, 1}), node.count + 1U))
      return Edit(node,
                  [&](ElementPack& pack) { pack.Insert(head ? pack.begin() : pack.end(), {&item, 1}); });
  }
  InsertNode(head ? 0 : nodes.size(), item);
}

void ListValue::Large::Insert(Place place, const PackItem& item, const ListLimit& limit) {
  const auto fits = [&](const ListNode& node) {
    return !limit.ExceededBy(node.pack.bytes() + ElementPack::SizeOf({&item, 1}), node.count + 1U);
  };
  const auto append = [&](ElementPack& pack) { pack.Append({&item, 1}); };
  ListNode& node = nodes[place.node];
  if (fits(node))
    return Edit(node, [&](ElementPack& pack) { pack.Insert(pack.Seek(place.offset), {&item, 1}); });
  if (place.offset == 0) {
    if (place.node != 0 && fits(nodes[place.node - 1])) return Edit(nodes[place.node - 1], append);
    return InsertNode(place.node, item);
  }
  if (place.offset == node.count) return InsertNode(place.node + 1, item);
  Split(place.node, place.offset);
  if (fits(nodes[place.node])) return Edit(nodes[place.node], append);
  Insert({place.node + 1, 0}, item, limit);
}

void ListValue::Large::Split(size_t node, size_t offset) {
  ElementPack rest;
  const ElementPack& whole = nodes[node].pack;
  AppendItems(rest, whole, whole.Seek(offset));
  ListNode& second = node + 1 == nodes.size() ? nodes.AddLast() : nodes.InsertAt(node + 1);
  const size_t moved = rest.size();
  Edit(second, [&](ElementPack& pack) { pack = std::move(rest); });
  Edit(nodes[node], [&](ElementPack& pack) { pack.Erase(pack.Seek(offset), moved); });
}

bool ListValue::Large::Replace(Place place, const PackItem& item, const ListLimit& limit) {
  ListNode& node = nodes[place.node];
  const ElementPack::At at = node.pack.Seek(place.offset);
  const size_t old = node.pack.Next(at) - at;
  if (node.count > 1 &&
      limit.ExceededBy(node.pack.bytes() - old + ElementPack::SizeOf({&item, 1}), node.count))
    return false;
  Edit(node, [&](ElementPack& pack) { pack.Replace(at, item); });
  return true;
}

void ListValue::Large::Erase(Place place) noexcept {
  ListNode& node = nodes[place.node];
  Edit(node, [&](ElementPack& pack) { pack.Erase(pack.Seek(place.offset), 1); });
  if (node.count == 0) EraseNode(place.node);
}

void ListValue::Large::DropNode(ListEnd end) noexcept {
  ListNode& node = end == ListEnd::kHead ? nodes.front() : nodes.back();
  pack_bytes -= node.pack.memory();
  size -= node.count;
  end == ListEnd::kHead ? nodes.DropFirst() : nodes.DropLast();
}

void ListValue::Large::EraseNode(size_t node) noexcept {
  pack_bytes -= nodes[node].pack.memory();
  size -= nodes[node].count;
  nodes.EraseAt(node);
}

void ListValue::Large::Drop(ListEnd end, uint64_t count) noexcept {
  const bool head = end == ListEnd::kHead;
  while (count != 0) {
    ListNode& node = head ? nodes.front() : nodes.back();
    if (node.count <= count) {
      count -= node.count;
      DropNode(end);
      continue;
    }
    return Edit(node, [&](ElementPack& pack) {
      pack.Erase(head ? pack.begin() : pack.Seek(node.count - count), count);
    });
  }
}

uint64_t ListValue::Large::Remove(const PackItem& item, uint64_t most, ListEnd from) noexcept {
  uint64_t removed = 0;
  for (size_t i = 0; i < nodes.size() && removed < most; ++i) {
    ListNode& node = nodes[from == ListEnd::kHead ? i : nodes.size() - 1 - i];
    Edit(node, [&](ElementPack& pack) { removed += RemoveItems(pack, item, most - removed, from); });
  }
  return removed;
}

bool ListValue::Large::Merge(ListNode& to, ListNode& from, const ListLimit& limit) noexcept {
  if (limit.ExceedsHalf(to.pack.bytes() + from.pack.bytes(), size_t{to.count} + from.count)) return false;
  try {
    ElementPack both;  // so that no node is half changed if memory runs out
    AppendItems(both, to.pack, to.pack.begin());
    AppendItems(both, from.pack, from.pack.begin());
    Edit(to, [&](ElementPack& pack) { pack = std::move(both); });
    Edit(from, [](ElementPack& pack) { pack = ElementPack(); });
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void ListValue::Large::Compact(const ListLimit& limit) noexcept {
  size_t kept = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].count == 0) continue;
    if (kept != 0 && Merge(nodes[kept - 1], nodes[i], limit)) continue;
    if (kept != i) std::swap(nodes[kept], nodes[i]);
    ++kept;
  }
  while (nodes.size() != kept) DropNode(ListEnd::kTail);
}

void ListValue::Large::MergeAround(size_t node, const ListLimit& limit) noexcept {
  if (node + 1 < nodes.size() && Merge(nodes[node], nodes[node + 1], limit)) EraseNode(node + 1);
  if (node != 0 && node < nodes.size() && Merge(nodes[node - 1], nodes[node], limit)) EraseNode(node);
}

}  // namespace mayfly
