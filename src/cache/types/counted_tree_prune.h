// The part of CountedTree for erasing many items in one pass. Nothing is searched for and nothing is allocated: each
// leaf closes its gaps, each inner node takes over what its children have left, and neighbours that are small now are
// merged.
#pragma once

#include "cache/types/counted_tree.h"

namespace mayfly {

template <typename Policy>
template <typename Ahead, typename Gone>
void CountedTree<Policy>::EraseIf(Ahead&& ahead, Gone&& gone) noexcept {
  if (root_ == nullptr) return;
  if (height_ == 0) {
    auto& leaf = *static_cast<Leaf*>(root_);
    size_ = PruneLeaf(leaf, ahead, gone);
    if (size_ == 0) Unlink(leaf);
  } else {
    auto& inner = *static_cast<Inner*>(root_);
    size_ = PruneInner(inner, height_, ahead, gone);
    if (size_ == 0) Free(&inner);
  }
  if (size_ == 0) {
    root_ = nullptr;
    height_ = 0;
    return;
  }
  DropThinRoots();
}

template <typename Policy>
template <typename Ahead, typename Gone>
uint32_t CountedTree<Policy>::PruneLeaf(Leaf& leaf, Ahead& ahead, Gone& gone) noexcept {
  if (const Leaf* const next = leaf.next; next != nullptr) {
    for (unsigned i = 0; i < next->count; ++i) ahead(next->refs[i]);
  }
  unsigned kept = 0;
  for (unsigned i = 0; i < leaf.count; ++i) {
    if (gone(leaf.keys[i], leaf.refs[i])) continue;
    leaf.keys[kept] = leaf.keys[i];
    leaf.refs[kept] = leaf.refs[i];
    ++kept;
  }
  leaf.count = kept;
  return kept;
}

template <typename Policy>
template <typename Ahead, typename Gone>
uint32_t CountedTree<Policy>::PruneInner(Inner& inner, unsigned height, Ahead& ahead, Gone& gone) noexcept {
  const bool above_leaves = height == 1;
  unsigned kept = 0;
  uint32_t items = 0;
  for (unsigned i = 0; i < inner.count; ++i) {
    void* const child = inner.children[i];
    auto* const leaf = static_cast<Leaf*>(child);
    auto* const below = static_cast<Inner*>(child);
    const uint32_t left =
        above_leaves ? PruneLeaf(*leaf, ahead, gone) : PruneInner(*below, height - 1, ahead, gone);
    if (left == 0) {
      above_leaves ? Unlink(*leaf) : Free(child);
      continue;
    }
    inner.children[kept] = child;
    inner.items[kept] = left;
    inner.keys[kept] = above_leaves ? leaf->keys[0] : below->keys[0];
    inner.refs[kept] = above_leaves ? leaf->refs[0] : below->refs[0];
    items += left;
    ++kept;
  }
  inner.count = kept;
  const auto entries = [&](unsigned child) {
    return above_leaves ? inner.items[child] : static_cast<Inner*>(inner.children[child])->count;
  };
  const unsigned most = Merged(above_leaves ? Leaf::kSlots : Inner::kChildren);
  for (unsigned i = 0; i + 1 < inner.count;) {
    if (entries(i) + entries(i + 1) <= most)
      above_leaves ? MergeLeaves(inner, i) : MergeInners(inner, i);
    else
      ++i;
  }
  return items;
}

}  // namespace mayfly
