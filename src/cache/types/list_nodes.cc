#include "cache/types/list_nodes.h"

#include <cassert>
#include <new>
#include <utility>

#include "base/memory/heap.h"

namespace mayfly {

ListNodes::~ListNodes() {
  for (size_t i = 0; i < BlockCount(); ++i) {
    if (blocks_[i] != nullptr) FreeBlock(blocks_[i], BlockSlots());
  }
}

// A slot without a node holds an empty ListNode, with no memory of its own.
ListNode* ListNodes::MakeBlock(size_t slots) {
  auto* const block = static_cast<ListNode*>(::operator new(slots * sizeof(ListNode)));
  std::uninitialized_value_construct_n(block, slots);
  bytes_ += MallocSizeClass(slots * sizeof(ListNode));
  return block;
}

void ListNodes::FreeBlock(ListNode* block, size_t slots) noexcept {
  std::destroy_n(block, slots);
  ::operator delete(block);
  bytes_ -= MallocSizeClass(slots * sizeof(ListNode));
}

void ListNodes::NeedBlockOf(size_t slot) {
  ListNode*& block = blocks_[slot / kBlock];
  if (block == nullptr) block = MakeBlock(BlockSlots());
}

void ListNodes::GrowIfFull() {
  if (size_ < capacity_) return;
  capacity_ < kBlock ? GrowBlock() : GrowDirectory();
}

void ListNodes::GrowBlock() {
  const size_t capacity = capacity_ == 0 ? kFewest : 2 * capacity_;
  if (blocks_ == nullptr) {
    blocks_ = std::make_unique<ListNode*[]>(1);
    bytes_ += MallocSizeClass(sizeof(ListNode*));
  }
  ListNode* const fresh = MakeBlock(capacity);
  for (size_t i = 0; i < size_; ++i) std::swap(fresh[i], (*this)[i]);
  if (blocks_[0] != nullptr) FreeBlock(blocks_[0], capacity_);
  blocks_[0] = fresh;
  capacity_ = capacity;
  first_ = 0;
}

// The nodes in slots before the first node move behind the old end. These nodes share at most one block with the first node.
void ListNodes::GrowDirectory() {
  const size_t count = BlockCount();
  const size_t shared = first_ / kBlock;
  const size_t before_first = first_ % kBlock;
  auto fresh = std::make_unique<ListNode*[]>(2 * count);
  if (before_first != 0) fresh[count + shared] = MakeBlock(kBlock);
  for (size_t i = 0; i < before_first; ++i) std::swap(fresh[count + shared][i], blocks_[shared][i]);
  for (size_t i = 0; i < count; ++i) fresh[i < shared ? count + i : i] = blocks_[i];
  bytes_ += MallocSizeClass(2 * count * sizeof(ListNode*)) - MallocSizeClass(count * sizeof(ListNode*));
  blocks_ = std::move(fresh);
  capacity_ *= 2;
}

ListNode& ListNodes::AddFirst() {
  GrowIfFull();
  const size_t slot = (first_ - 1) & (capacity_ - 1);
  NeedBlockOf(slot);
  first_ = slot;
  ++size_;
  return front();
}

ListNode& ListNodes::AddLast() {
  GrowIfFull();
  NeedBlockOf(SlotOf(size_));
  ++size_;
  return back();
}

void ListNodes::DropFirst() noexcept {
  assert(!empty());
  const size_t slot = first_;
  front() = ListNode();
  first_ = SlotOf(1);
  --size_;
  const bool last_of_block = slot % kBlock == kBlock - 1;
  if (last_of_block && (empty() || SlotOf(size_ - 1) / kBlock != slot / kBlock))
    FreeBlock(std::exchange(blocks_[slot / kBlock], nullptr), kBlock);
}

void ListNodes::DropLast() noexcept {
  assert(!empty());
  const size_t slot = SlotOf(size_ - 1);
  back() = ListNode();
  --size_;
  const bool first_of_block = capacity_ > kBlock && slot % kBlock == 0;
  if (first_of_block && (empty() || first_ / kBlock != slot / kBlock))
    FreeBlock(std::exchange(blocks_[slot / kBlock], nullptr), kBlock);
}

ListNode& ListNodes::InsertAt(size_t i) {
  assert(i <= size_);
  if (i < size_ / 2) {
    AddFirst();
    for (size_t at = 0; at < i; ++at) std::swap((*this)[at], (*this)[at + 1]);
  } else {
    AddLast();
    for (size_t at = size_ - 1; at > i; --at) std::swap((*this)[at], (*this)[at - 1]);
  }
  return (*this)[i];
}

void ListNodes::EraseAt(size_t i) noexcept {
  assert(i < size_);
  if (i < size_ / 2) {
    for (; i > 0; --i) std::swap((*this)[i], (*this)[i - 1]);
    DropFirst();
  } else {
    for (; i + 1 < size_; ++i) std::swap((*this)[i], (*this)[i + 1]);
    DropLast();
  }
}

}  // namespace mayfly
