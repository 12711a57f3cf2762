// A counted B+-tree: items (a key and a ref) in order, found by key, by rank, or by any bound. A sorted set keeps its
// members in one, by score; a hash its fields that have a deadline.
//
//                  [ 61 items | 40 items | 55 items ]           inner nodes: of each child its first item, and
//                   /           |             \                 the number of items below it
//        [a b c ...] <-> [k l m ...] <-> [r s t ...]            leaves: up to 62 items, linked both ways
//
// Cost: all but iteration takes one descent, of 5 nodes at a million items. An item takes 12 bytes in a full leaf, about
// 18 after random inserts, and nearly 12 if the items came in order, because a split at either end of the tree leaves
// the full leaf full. No operation touches more than a few nodes of each level.
//
// Invariants (see Validate): an inner node's copy of a child's first item is exact, so that every ref in the tree is
// of an item that is in it. No node but an empty root is empty. Two neighbours with the same parent are merged when an
// erase leaves them at most three quarters of a node together.
//
// Policy is a small copyable object. All its functions are noexcept:
//   - Key, Ref: trivially copyable.
//   - KeyLess(Key, Key), and TieLess(Ref, Ref) for items with equal keys. Two items are never equal in both.
//   - Allocate(bytes): null if out of memory; Free(block, bytes).
//
// Ownership: owns its nodes, not what refs refer to. A Cursor is valid until the next change. If memory runs out, a
// method throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "base/memory/heap.h"
#include "cache/types/counted_tree_node.h"

namespace mayfly {

template <typename Policy>
class CountedTree {
 public:
  using Key = typename Policy::Key;
  using Ref = typename Policy::Ref;
  using Leaf = TreeLeaf<Key, Ref>;
  static_assert(sizeof(Leaf) <= kTreeNodeBytes && sizeof(TreeInner<Key, Ref>) <= kTreeNodeBytes);

  // A place in the order. False at the end.
  class Cursor {
   public:
    Cursor() noexcept = default;
    explicit operator bool() const noexcept { return leaf_ != nullptr; }
    Key key() const noexcept { return leaf_->keys[at_]; }
    Ref ref() const noexcept { return leaf_->refs[at_]; }
    // REQUIRES for both: not at the end. Both may come to the end.
    void Next() noexcept {
      if (++at_ < leaf_->count) return;
      leaf_ = leaf_->next;
      at_ = 0;
    }
    void Prev() noexcept {
      if (at_-- != 0) return;
      leaf_ = leaf_->prev;
      at_ = leaf_ != nullptr ? leaf_->count - 1 : 0;
    }

   private:
    friend class CountedTree;
    Cursor(const Leaf* leaf, unsigned at) noexcept : leaf_(leaf), at_(at) {}

    const Leaf* leaf_ = nullptr;
    unsigned at_ = 0;
  };

  explicit CountedTree(Policy policy) noexcept : policy_(std::move(policy)) {}
  ~CountedTree() { FreeSome(SIZE_MAX); }
  CountedTree(const CountedTree&) = delete;
  CountedTree& operator=(const CountedTree&) = delete;

  size_t size() const noexcept { return size_; }
  // Memory of all nodes, as the allocator rounds it. O(1).
  uint64_t bytes() const noexcept { return uint64_t{nodes_} * Heap::SizeClass(kTreeNodeBytes); }
  const Policy& policy() const noexcept { return policy_; }

  Cursor First() const noexcept { return size_ == 0 ? Cursor() : Cursor(first_, 0); }
  Cursor Last() const noexcept { return size_ == 0 ? Cursor() : Cursor(last_, last_->count - 1); }
  // The item with this rank, counted from 0. From size() on: the end.
  Cursor At(size_t rank) const noexcept {
    if (rank >= size_) return {};
    const Path path = PathTo(rank);
    return {path.leaf, path.at};
  }
  // The number of items before this one, which need not be there.
  size_t RankOf(Key key, Ref ref) const noexcept { return PathTo(key, ref).rank; }
  // The number of items for which `before(key, ref)` is true. REQUIRES: `before` is true for all items before some place in the
  // order, and for no others.
  template <typename Before>
  size_t CountBefore(Before&& before) const noexcept {
    return Locate(before, before).rank;
  }

  // REQUIRES: this item is not in the tree.
  void Insert(Key key, Ref ref) {
    if (root_ == nullptr) AddFirstLeaf();
    Path path = PathTo(key, ref);
    if (path.leaf->count == Leaf::kSlots) {
      Split(path, key, ref);
      path = PathTo(key, ref);
    }
    Place(path, key, ref);
  }
  // As Insert, without a search. REQUIRES: this item comes after all others.
  void Append(Key key, Ref ref) {
    if (root_ == nullptr) AddFirstLeaf();
    Path path = PathToEnd();
    if (path.leaf->count == Leaf::kSlots) {
      Split(path, key, ref);
      path = PathToEnd();
    }
    Place(path, key, ref);
  }
  // REQUIRES: the item is in the tree.
  void Erase(Key key, Ref ref) noexcept {
    const Path path = PathTo(key, ref);
    assert(path.at < path.leaf->count && path.leaf->refs[path.at] == ref);
    EraseRun(path, 1);
  }
  // Exchanges an item for another one: a new key, or a new ref. No memory is needed if the place stays the same, as it
  // does for a new ref that no tie distinguishes from the old one.
  // REQUIRES: the old item is in the tree, the new one is not.
  void Change(Key old_key, Ref old_ref, Key key, Ref ref) {
    const Path path = PathTo(old_key, old_ref);
    assert(path.at < path.leaf->count && path.leaf->refs[path.at] == old_ref);
    if (Fits(path, key, ref)) {
      path.leaf->keys[path.at] = key;
      path.leaf->refs[path.at] = ref;
      if (path.at == 0) TellFirst(path, height_, key, ref);
      return;
    }
    Insert(key, ref);
    Erase(old_key, old_ref);
  }
  // Erases up to `count` items from `rank` on, after calling fn(key, ref) for each. Returns how many. It takes time for
  // each item, so a caller with many erases them in slices.
  // REQUIRES: fn does not use the tree. It may free what the ref refers to.
  template <typename Fn>
  size_t EraseFrom(size_t rank, size_t count, Fn&& fn) noexcept {
    size_t erased = 0;
    while (erased < count && rank < size_) {
      const Path path = PathTo(rank);
      const auto run = static_cast<unsigned>(std::min<size_t>(count - erased, path.leaf->count - path.at));
      for (unsigned i = path.at; i < path.at + run; ++i) fn(path.leaf->keys[i], path.leaf->refs[i]);
      EraseRun(path, run);
      erased += run;
    }
    return erased;
  }
  // Erases all items for which gone(key, ref) is true, in one pass through the tree: quicker than Erase if they are more
  // than one in some fifty. Needs no memory. Calls ahead(ref) for each item a little before gone(key, ref). Defined in
  // counted_tree_prune.h. REQUIRES: neither uses the tree.
  template <typename Ahead, typename Gone>
  void EraseIf(Ahead&& ahead, Gone&& gone) noexcept;
  // Erases about `budget` items from the front, and does not look at them. Returns true if none is left.
  bool FreeSome(size_t budget) noexcept {
    for (size_t freed = 0; root_ != nullptr && freed < budget;) {
      const Path path = PathTo(0);
      freed += path.leaf->count;
      EraseRun(path, path.leaf->count);
    }
    return root_ == nullptr;
  }

  // Reads every item; for tests.
  bool Validate() const noexcept {
    if (root_ == nullptr) return size_ == 0 && nodes_ == 0 && first_ == nullptr && last_ == nullptr;
    Check check;
    return CheckNode(root_, height_, check) && check.items == size_ && check.nodes == nodes_ &&
           check.last == last_ && last_->next == nullptr;
  }

 private:
  using Inner = TreeInner<Key, Ref>;
  // A node of each level, so that a descent has a place for each: with at least four children on average, which
  // merging sees to, this is enough for 2^32 items.
  static constexpr unsigned kMaxHeight = 16;
  static constexpr unsigned Merged(unsigned slots) noexcept { return slots / 4 * 3; }

  struct Step {
    Inner* node;
    unsigned child;
    uint32_t& items() const noexcept { return node->items[child]; }
  };
  // The way from the root to a place in a leaf.
  struct Path {
    Step steps[kMaxHeight];
    Leaf* leaf = nullptr;
    unsigned at = 0;
    size_t rank = 0;
  };
  // New nodes that a split needs, allocated before anything changes.
  struct Spares {
    std::array<void*, kMaxHeight + 2> nodes{};
    unsigned count = 0;
  };
  struct Check {
    const Leaf* last = nullptr;
    size_t items = 0;
    size_t nodes = 0;
  };

  bool Less(Key a_key, Ref a_ref, Key b_key, Ref b_ref) const noexcept {
    if (policy_.KeyLess(a_key, b_key)) return true;
    return !policy_.KeyLess(b_key, a_key) && policy_.TieLess(a_ref, b_ref);
  }
  // The number of items in the arrays for which `before` is true.
  template <typename Before>
  static unsigned Bound(const Key* keys, const Ref* refs, unsigned count, Before&& before) noexcept {
    unsigned low = 0;
    while (count != 0) {
      const unsigned half = count / 2;
      const bool right = before(keys[low + half], refs[low + half]);
      low = right ? low + half + 1 : low;
      count = right ? count - half - 1 : half;
    }
    return low;
  }
  // Descends to the last child whose first item is `reached`, and to the first item there that is not `before`.
  template <typename Reached, typename Before>
  Path Locate(Reached&& reached, Before&& before) const noexcept {
    Path path;
    if (root_ == nullptr) return path;
    void* node = root_;
    for (unsigned level = 0; level < height_; ++level) {
      auto* const inner = static_cast<Inner*>(node);
      const unsigned bound = Bound(inner->keys, inner->refs, inner->count, reached);
      const unsigned child = bound == 0 ? 0 : bound - 1;
      for (unsigned i = 0; i < child; ++i) path.rank += inner->items[i];
      path.steps[level] = {inner, child};
      node = inner->children[child];
    }
    path.leaf = static_cast<Leaf*>(node);
    path.at = Bound(path.leaf->keys, path.leaf->refs, path.leaf->count, before);
    path.rank += path.at;
    return path;
  }
  // To the item, or to where it would be.
  Path PathTo(Key key, Ref ref) const noexcept {
    return Locate([&](Key its_key, Ref its_ref) { return !Less(key, ref, its_key, its_ref); },
                  [&](Key its_key, Ref its_ref) { return Less(its_key, its_ref, key, ref); });
  }
  // REQUIRES: rank < size().
  Path PathTo(size_t rank) const noexcept {
    Path path;
    path.rank = rank;
    void* node = root_;
    for (unsigned level = 0; level < height_; ++level) {
      auto* const inner = static_cast<Inner*>(node);
      unsigned child = 0;
      while (rank >= inner->items[child]) rank -= inner->items[child++];
      path.steps[level] = {inner, child};
      node = inner->children[child];
    }
    path.leaf = static_cast<Leaf*>(node);
    path.at = static_cast<unsigned>(rank);
    return path;
  }
  // REQUIRES: the tree has a leaf.
  Path PathToEnd() const noexcept {
    Path path;
    void* node = root_;
    for (unsigned level = 0; level < height_; ++level) {
      auto* const inner = static_cast<Inner*>(node);
      path.steps[level] = {inner, inner->count - 1};
      node = inner->children[inner->count - 1];
    }
    path.leaf = static_cast<Leaf*>(node);
    path.at = path.leaf->count;
    path.rank = size_;
    return path;
  }
  // Puts a new item at the end of `path`. REQUIRES: its leaf has room.
  void Place(const Path& path, Key key, Ref ref) noexcept {
    path.leaf->Insert(path.at, key, ref);
    ++size_;
    for (unsigned level = 0; level < height_; ++level) ++path.steps[level].items();
    if (path.at == 0) TellFirst(path, height_, key, ref);
  }
  // Whether the item at the end of `path` may become this one where it is.
  bool Fits(const Path& path, Key key, Ref ref) const noexcept {
    Cursor before(path.leaf, path.at);
    Cursor after = before;
    before.Prev();
    after.Next();
    return (!before || Less(before.key(), before.ref(), key, ref)) &&
           (!after || Less(key, ref, after.key(), after.ref()));
  }
  // The first item of the node at the end of `level` steps is this one now.
  static void TellFirst(const Path& path, unsigned level, Key key, Ref ref) noexcept {
    while (level-- != 0) {
      const Step& step = path.steps[level];
      step.node->keys[step.child] = key;
      step.node->refs[step.child] = ref;
      if (step.child != 0) return;
    }
  }

  void AddFirstLeaf() {
    Spares leaves_out = Reserve(1);
    root_ = first_ = last_ = TakeLeaf(leaves_out);
  }
  Spares Reserve(unsigned count) {
    Spares leaves_out;
    for (; leaves_out.count < count; ++leaves_out.count) {
      void* const node = policy_.Allocate(kTreeNodeBytes);
      if (node == nullptr) {
        while (leaves_out.count != 0) policy_.Free(leaves_out.nodes[--leaves_out.count], kTreeNodeBytes);
        throw std::bad_alloc();
      }
      leaves_out.nodes[leaves_out.count] = node;
    }
    nodes_ += count;
    return leaves_out;
  }
  static Leaf* TakeLeaf(Spares& leaves_out) noexcept {
    return new (leaves_out.nodes[--leaves_out.count]) Leaf;
  }
  static Inner* TakeInner(Spares& leaves_out) noexcept {
    return new (leaves_out.nodes[--leaves_out.count]) Inner;
  }
  void Free(void* node) noexcept {
    --nodes_;
    policy_.Free(node, kTreeNodeBytes);
  }

  // Makes room for the item in or beside the full leaf at the end of `path`. At either end of the tree the full nodes
  // stay as they are, and the item gets new ones: a leaf is empty until the item is in it.
  void Split(const Path& path, Key key, Ref ref) {
    const bool append = path.leaf == last_ && path.at == Leaf::kSlots;
    const bool prepend = path.leaf == first_ && path.at == 0;
    unsigned full = 0;
    while (full < height_ && path.steps[height_ - 1 - full].node->count == Inner::kChildren) ++full;
    Spares leaves_out = Reserve(1 + full + (full == height_ ? 1 : 0));

    Leaf* const right = TakeLeaf(leaves_out);
    path.leaf->MoveTo(*right, append ? Leaf::kSlots : prepend ? 0 : Leaf::kSlots / 2);
    right->prev = path.leaf;
    right->next = path.leaf->next;
    (right->next != nullptr ? right->next->prev : last_) = right;
    path.leaf->next = right;
    typename Inner::Child added{key, ref, right, right->count};
    if (!append) added.key = right->keys[0], added.ref = right->refs[0];

    for (unsigned level = height_; level-- != 0;) {
      Inner* const node = path.steps[level].node;
      const unsigned at = path.steps[level].child + 1;
      node->items[at - 1] -= added.items;
      if (node->count < Inner::kChildren) return node->Insert(at, added);
      const unsigned middle = append ? Inner::kChildren : prepend ? 1 : Inner::kChildren / 2;
      Inner* const beside = TakeInner(leaves_out);
      node->MoveTo(*beside, middle);
      const bool goes_right = at > middle || (at == middle && (append || prepend));
      goes_right ? beside->Insert(at - middle, added) : node->Insert(at, added);
      added = {beside->keys[0], beside->refs[0], beside, beside->ItemsBelow()};
    }
    const auto left_items = static_cast<uint32_t>(size_) - added.items;
    const bool empty = first_->count == 0;
    Inner* const root = TakeInner(leaves_out);
    root->Insert(0, {empty ? key : first_->keys[0], empty ? ref : first_->refs[0], root_, left_items});
    root->Insert(1, added);
    root_ = root;
    ++height_;
    assert(height_ <= kMaxHeight);
  }

  // Erases `run` items from the end of `path` on. REQUIRES: they are in its leaf.
  void EraseRun(const Path& path, unsigned run) noexcept {
    path.leaf->Erase(path.at, run);
    size_ -= run;
    for (unsigned level = 0; level < height_; ++level) path.steps[level].items() -= run;
    if (path.leaf->count == 0) return RemoveLeaf(path);
    if (path.at == 0) TellFirst(path, height_, path.leaf->keys[0], path.leaf->refs[0]);
    if (height_ == 0) return;
    const auto& [parent, child] = path.steps[height_ - 1];
    const uint32_t count = path.leaf->count;
    if (child + 1 < parent->count && count + parent->items[child + 1] <= Merged(Leaf::kSlots)) {
      MergeLeaves(*parent, child);
    } else if (child != 0 && count + parent->items[child - 1] <= Merged(Leaf::kSlots)) {
      MergeLeaves(*parent, child - 1);
    } else {
      return;
    }
    Shrink(path, height_ - 1);
  }
  void Unlink(Leaf& leaf) noexcept {
    (leaf.prev != nullptr ? leaf.prev->next : first_) = leaf.next;
    (leaf.next != nullptr ? leaf.next->prev : last_) = leaf.prev;
    Free(&leaf);
  }
  // Takes out the leaf, which is empty, and the nodes above it that become empty.
  void RemoveLeaf(const Path& path) noexcept {
    Unlink(*path.leaf);
    unsigned level = height_;
    while (level != 0) {
      const auto& [node, child] = path.steps[level - 1];
      node->Erase(child);
      if (node->count != 0) {
        if (child == 0) TellFirst(path, level - 1, node->keys[0], node->refs[0]);
        return Shrink(path, level - 1);
      }
      Free(node);
      --level;
    }
    root_ = nullptr;
    height_ = 0;
  }
  // Merges the child with the one after it.
  void MergeLeaves(Inner& parent, unsigned child) noexcept {
    auto* const left = static_cast<Leaf*>(parent.children[child]);
    auto* const right = static_cast<Leaf*>(parent.children[child + 1]);
    right->MoveTo(*left, 0);
    parent.items[child] += parent.items[child + 1];
    parent.Erase(child + 1);
    Unlink(*right);
  }
  void MergeInners(Inner& parent, unsigned child) noexcept {
    auto* const left = static_cast<Inner*>(parent.children[child]);
    auto* const right = static_cast<Inner*>(parent.children[child + 1]);
    right->MoveTo(*left, 0);
    parent.items[child] += parent.items[child + 1];
    parent.Erase(child + 1);
    Free(right);
  }
  // The inner node of this level has fewer children now: merges it with a neighbour, and so on upwards.
  void Shrink(const Path& path, unsigned level) noexcept {
    for (; level != 0; --level) {
      const unsigned count = path.steps[level].node->count;
      const auto& [parent, child] = path.steps[level - 1];
      const auto fits = [&](unsigned beside) {
        return count + static_cast<Inner*>(parent->children[beside])->count <= Merged(Inner::kChildren);
      };
      if (child + 1 < parent->count && fits(child + 1)) {
        MergeInners(*parent, child);
      } else if (child != 0 && fits(child - 1)) {
        MergeInners(*parent, child - 1);
      } else {
        break;
      }
    }
    DropThinRoots();
  }
  // A root with one child gives its place to the child.
  void DropThinRoots() noexcept {
    while (height_ != 0 && static_cast<Inner*>(root_)->count == 1) {
      void* const only = static_cast<Inner*>(root_)->children[0];
      Free(root_);
      root_ = only;
      --height_;
    }
  }

  // The parts of EraseIf. Both return how many items are left below the node.
  template <typename Ahead, typename Gone>
  uint32_t PruneLeaf(Leaf& leaf, Ahead& ahead, Gone& gone) noexcept;
  template <typename Ahead, typename Gone>
  uint32_t PruneInner(Inner& inner, unsigned height, Ahead& ahead, Gone& gone) noexcept;

  bool CheckLeaf(const Leaf& leaf, Check& check) const noexcept {
    if (leaf.count == 0 || leaf.prev != check.last) return false;
    if (check.last == nullptr ? &leaf != first_ : check.last->next != &leaf) return false;
    Cursor before(check.last, check.last != nullptr ? check.last->count - 1 : 0);
    for (unsigned i = 0; i < leaf.count; ++i) {
      if (before && !Less(before.key(), before.ref(), leaf.keys[i], leaf.refs[i])) return false;
      before = Cursor(&leaf, i);
    }
    check.last = &leaf;
    check.items += leaf.count;
    return true;
  }
  bool CheckNode(const void* node, unsigned height, Check& check) const noexcept {
    ++check.nodes;
    if (height == 0) return CheckLeaf(*static_cast<const Leaf*>(node), check);
    const auto& inner = *static_cast<const Inner*>(node);
    for (unsigned i = 0; i < inner.count; ++i) {
      const size_t items = check.items;
      const Leaf* const last = check.last;
      if (!CheckNode(inner.children[i], height - 1, check) || check.items - items != inner.items[i])
        return false;
      const Leaf* const first = last != nullptr ? last->next : first_;
      if (inner.refs[i] != first->refs[0] || inner.keys[i] != first->keys[0]) return false;
    }
    return inner.count != 0;
  }

  Policy policy_;
  void* root_ = nullptr;  // a leaf if height_ is 0; null if the tree is empty
  Leaf* first_ = nullptr;
  Leaf* last_ = nullptr;
  size_t size_ = 0;
  uint32_t nodes_ = 0;
  uint32_t height_ = 0;  // levels of inner nodes
};

}  // namespace mayfly
