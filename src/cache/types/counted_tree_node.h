// The nodes of CountedTree: plain arrays without knowledge of the order of items.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace mayfly {

// Memory of a node of either kind. It is a size class of the heap.
inline constexpr size_t kTreeNodeBytes = 768;

namespace internal {

template <typename T>
void OpenGap(T* array, unsigned at, unsigned count) noexcept {
  std::memmove(array + at + 1, array + at, (count - at) * sizeof(T));
}
template <typename T>
void CloseGap(T* array, unsigned at, unsigned gap, unsigned count) noexcept {
  std::memmove(array + at, array + at + gap, (count - at - gap) * sizeof(T));
}

}  // namespace internal

// Items in their order, keys apart from refs, so that a search among keys reads few cache lines.
template <typename Key, typename Ref>
struct TreeLeaf {
  static constexpr unsigned kSlots =
      (kTreeNodeBytes - 2 * sizeof(void*) - sizeof(uint64_t)) / (sizeof(Key) + sizeof(Ref));

  TreeLeaf* prev = nullptr;
  TreeLeaf* next = nullptr;
  uint32_t count = 0;
  Key keys[kSlots];
  Ref refs[kSlots];

  // REQUIRES: count < kSlots.
  void Insert(unsigned at, Key key, Ref ref) noexcept {
    assert(at <= count && count < kSlots);
    internal::OpenGap(keys, at, count);
    internal::OpenGap(refs, at, count);
    keys[at] = key;
    refs[at] = ref;
    ++count;
  }
  void Erase(unsigned at, unsigned gap) noexcept {
    assert(at + gap <= count);
    internal::CloseGap(keys, at, gap, count);
    internal::CloseGap(refs, at, gap, count);
    count -= gap;
  }
  // Moves the items from `from` on to the end of `to`, which has room for them.
  void MoveTo(TreeLeaf& to, unsigned from) noexcept {
    const unsigned moved = count - from;
    assert(from <= count && to.count + moved <= kSlots);
    std::memcpy(to.keys + to.count, keys + from, moved * sizeof(Key));
    std::memcpy(to.refs + to.count, refs + from, moved * sizeof(Ref));
    to.count += moved;
    count = from;
  }
};

// Children in their order. Of each: its first item, and the number of items below it.
template <typename Key, typename Ref>
struct TreeInner {
  static constexpr unsigned kChildren =
      (kTreeNodeBytes - sizeof(uint64_t)) / (sizeof(Key) + sizeof(Ref) + sizeof(void*) + sizeof(uint32_t));

  struct Child {
    Key key;
    Ref ref;
    void* node;
    uint32_t items;
  };

  uint32_t count = 0;
  uint32_t items[kChildren];
  Key keys[kChildren];
  void* children[kChildren];
  Ref refs[kChildren];

  Child At(unsigned at) const noexcept { return {keys[at], refs[at], children[at], items[at]}; }
  // REQUIRES: count < kChildren.
  void Insert(unsigned at, const Child& child) noexcept {
    assert(at <= count && count < kChildren);
    internal::OpenGap(items, at, count);
    internal::OpenGap(keys, at, count);
    internal::OpenGap(children, at, count);
    internal::OpenGap(refs, at, count);
    items[at] = child.items;
    keys[at] = child.key;
    children[at] = child.node;
    refs[at] = child.ref;
    ++count;
  }
  void Erase(unsigned at) noexcept {
    assert(at < count);
    internal::CloseGap(items, at, 1, count);
    internal::CloseGap(keys, at, 1, count);
    internal::CloseGap(children, at, 1, count);
    internal::CloseGap(refs, at, 1, count);
    --count;
  }
  // Moves the children from `from` on to the end of `to`, which has room for them.
  void MoveTo(TreeInner& to, unsigned from) noexcept {
    assert(from <= count && to.count + (count - from) <= kChildren);
    for (unsigned i = from; i < count; ++i) to.Insert(to.count, At(i));
    count = from;
  }
  uint32_t ItemsBelow() const noexcept {
    uint32_t sum = 0;
    for (unsigned i = 0; i < count; ++i) sum += items[i];
    return sum;
  }
};

}  // namespace mayfly
