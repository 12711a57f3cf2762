#include "net/tls/block_queue.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace mayfly::net {

BlockPool::~BlockPool() {
  while (free_ != nullptr) delete std::exchange(free_, free_->next);
}

Block* BlockPool::Take() {
  Block* block = free_;
  if (block == nullptr) {
    block = new Block;
    ++blocks_;
  } else {
    free_ = block->next;
    --kept_;
    kept_bytes_ -= Block::kSize;
  }
  block->next = nullptr;
  block->begin = block->end = 0;
  return block;
}

void BlockPool::Give(Block* block) noexcept {
  if (kept_ == kKeptMax) {
    delete block;
    --blocks_;
    return;
  }
  block->next = std::exchange(free_, block);
  ++kept_;
  kept_bytes_ += Block::kSize;
}

BlockQueue::~BlockQueue() {
  while (first_ != nullptr) DropFront();
}

std::span<char> BlockQueue::Room() {
  if (last_ == nullptr || last_->end == Block::kCapacity) {
    Block* const block = pool_.Take();
    (last_ == nullptr ? first_ : last_->next) = block;
    last_ = block;
    ++blocks_;
  }
  return {last_->bytes + last_->end, Block::kCapacity - last_->end};
}

void BlockQueue::Commit(size_t n) noexcept {
  assert(last_ != nullptr && n <= Block::kCapacity - last_->end);
  last_->end += static_cast<uint32_t>(n);
  size_ += n;
  if (size_ == 0) DropFront();
}

void BlockQueue::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::span<char> room = Room();
    const size_t size = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), size);
    Commit(size);
    bytes.remove_prefix(size);
  }
}

std::string_view BlockQueue::Front() const noexcept {
  if (first_ == nullptr) return {};
  return {first_->bytes + first_->begin, first_->end - first_->begin};
}

void BlockQueue::Consume(size_t n) noexcept {
  if (n == 0) return;
  assert(n <= Front().size());
  first_->begin += static_cast<uint32_t>(n);
  size_ -= n;
  if (first_->begin == first_->end) DropFront();
}

void BlockQueue::DropFront() noexcept {
  Block* const block = std::exchange(first_, first_->next);
  if (first_ == nullptr) last_ = nullptr;
  --blocks_;
  pool_.Give(block);
}

}  // namespace mayfly::net
