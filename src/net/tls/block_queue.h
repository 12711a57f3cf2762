// A queue of bytes in blocks that do not move: ciphertext and decrypted bytes of a TlsTransport.
//
//   | consumed | bytes ......... | -> | bytes ......... | -> | bytes .... | room |
//
// Blocks come from a pool shared by all transports. A transport at rest thus holds no block, and steady traffic allocates
// none.
//
// Ownership: a queue owns its blocks until it returns the blocks to the pool. The pool must outlive the queue. Loop thread
// only. Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "net/socket/limits.h"

namespace mayfly::net {

struct Block {
  // Enough for all sealed bytes of one client, and for the plaintext of one read from a socket.
  static constexpr size_t kSize = kSealedBytes + kRecordBytes;
  static constexpr size_t kCapacity = kSize - 16;

  Block* next;
  uint32_t begin;  // the first unconsumed byte
  uint32_t end;    // of the bytes written
  char bytes[kCapacity];
};
static_assert(sizeof(Block) == Block::kSize);

class BlockPool {
 public:
  static constexpr size_t kKeptMax = 4;

  // Adds the memory of the spare blocks to `kept_bytes`, beside other parts' additions. Borrows `kept_bytes`.
  explicit BlockPool(uint64_t& kept_bytes) noexcept : kept_bytes_(kept_bytes) {}
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool();

  // An empty block. Throws std::bad_alloc.
  Block* Take();
  void Give(Block* block) noexcept;
  // Memory of all blocks, in use or not.
  size_t memory() const noexcept { return blocks_ * Block::kSize; }

 private:
  uint64_t& kept_bytes_;
  Block* free_ = nullptr;
  size_t kept_ = 0;
  size_t blocks_ = 0;
};

class BlockQueue {
 public:
  explicit BlockQueue(BlockPool& pool) noexcept : pool_(pool) {}
  BlockQueue(const BlockQueue&) = delete;
  BlockQueue& operator=(const BlockQueue&) = delete;
  ~BlockQueue();

  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  size_t memory() const noexcept { return blocks_ * Block::kSize; }

  // Room for further bytes, never empty. Throws std::bad_alloc.
  std::span<char> Room();
  // The first `n` bytes of the last Room were written.
  void Commit(size_t n) noexcept;
  // Throws std::bad_alloc; a part of the bytes may then have been appended.
  void Append(std::string_view bytes);

  // The first bytes, from one block. Empty for none. The bytes stay in place until consumed.
  std::string_view Front() const noexcept;
  // REQUIRES: n <= Front().size().
  void Consume(size_t n) noexcept;

 private:
  void DropFront() noexcept;

  BlockPool& pool_;
  Block* first_ = nullptr;
  Block* last_ = nullptr;
  size_t size_ = 0;
  size_t blocks_ = 0;
};

}  // namespace mayfly::net
