// The nodes of a large list, in a ring: packs in order, each with its number of items. The number is beside the pack, so
// that counting to an element reads 16 bytes a node and no pack.
//
// Shape: a ring of slots, a power of two, in blocks of up to 512 slots. A ring of less than one block grows into another
// block of twice the size. Beyond, only the directory of blocks is copied, and blocks without nodes are freed. So no push
// takes longer than copying one block. Node `i` is in slot (first + i) modulo the capacity.
//
// Ownership: owns the nodes. A Node& is valid until nodes are added, dropped, inserted or erased. If memory runs
// out, a method throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cache/types/pack.h"

namespace mayfly {

// Elements, each in a record of its own, so that the pack can be read from both ends.
using ElementPack = LinkedPack<1>;

struct ListNode {
  ElementPack pack;
  uint32_t count = 0;  // pack.size()
};

class ListNodes {
 public:
  ListNodes() noexcept = default;
  ~ListNodes();
  ListNodes(const ListNodes&) = delete;
  ListNodes& operator=(const ListNodes&) = delete;

  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  // Memory of the ring, without the packs, as rounded by the allocator.
  uint64_t bytes() const noexcept { return bytes_; }
  // REQUIRES: i < size().
  ListNode& operator[](size_t i) const noexcept {
    const size_t slot = SlotOf(i);
    return blocks_[slot / kBlock][slot % kBlock];
  }
  ListNode& front() const noexcept { return (*this)[0]; }
  ListNode& back() const noexcept { return (*this)[size_ - 1]; }

  // Adds an empty node.
  ListNode& AddFirst();
  ListNode& AddLast();
  // Adds an empty node before node `i`; shifts the nodes of the nearer end. REQUIRES: i <= size().
  ListNode& InsertAt(size_t i);
  // REQUIRES: !empty().
  void DropFirst() noexcept;
  void DropLast() noexcept;
  // REQUIRES: i < size().
  void EraseAt(size_t i) noexcept;

 private:
  static constexpr size_t kBlock = 512;
  static constexpr size_t kFewest = 4;

  size_t SlotOf(size_t i) const noexcept { return (first_ + i) & (capacity_ - 1); }
  size_t BlockSlots() const noexcept { return capacity_ < kBlock ? capacity_ : kBlock; }
  size_t BlockCount() const noexcept { return (capacity_ + kBlock - 1) / kBlock; }
  ListNode* MakeBlock(size_t slots);
  void FreeBlock(ListNode* block, size_t slots) noexcept;
  // Makes the block of a slot, if the block is missing.
  void NeedBlockOf(size_t slot);
  void GrowIfFull();
  void GrowBlock();
  void GrowDirectory();

  std::unique_ptr<ListNode*[]> blocks_;  // null for a block without nodes
  size_t capacity_ = 0;
  size_t first_ = 0;
  size_t size_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace mayfly
