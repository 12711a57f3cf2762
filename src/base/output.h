// The replies of one connection that wait to be written to its socket.
//
// Shape: a list of 16 KB chunks taken from a pool. Replies are formatted straight into the last chunk. What
// is not in a chunk (a shared block) or not known yet (the header of an array whose length is counted on the
// way) is a *splice*: a note, kept at the chunk's end and growing downwards, which says "at this offset comes
// that".
//
//     chunk   | link | bytes written --> |      free      | <-- splices |
//                        ^at                                   |
//                        +--------- data, size, block ---------+
//
// So a reply costs no allocation while the chunk has room, and a shared block costs 32 bytes and no chunk of
// its own.
//
// Invariants: an idle chain (size() == 0 after Consume or Clear) holds no chunk. Bytes that Gather has named
// neither move nor change until they are consumed, whatever is appended meanwhile. Ownership: chunks belong
// to the chain until it gives them back to the pool, which must outlive the chain. A splice holds a reference
// to its block. Loop thread only. Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/shared_bytes.h"

namespace mayfly {

// A stretch of pending bytes, in the shape that a gathering write wants.
struct OutputPiece {
  const char* data;
  size_t size;
};

struct OutputSplice {
  uint32_t at;       // the offset in the chunk's bytes at which it is inserted
  uint32_t skip;     // so many bytes of the chunk behind `at` are not output by themselves
  const char* data;  // in `block`, or in the skipped bytes
  size_t size;
  SharedBytes block;
};

struct OutputChunk {
  static constexpr size_t kSize = 16 * 1024;
  static constexpr size_t kCapacity = kSize - 16;

  OutputSplice* Splice(size_t index) noexcept {
    return reinterpret_cast<OutputSplice*>(bytes + kCapacity) - 1 - index;
  }

  OutputChunk* next;
  uint32_t end;  // bytes written; valid once the chunk is no longer the chain's last
  uint32_t splice_count;
  char bytes[kCapacity];
};
static_assert(sizeof(OutputChunk) == OutputChunk::kSize);

// Chunks that nobody needs at the moment; one pool per loop. Keeps at most `kept_max` of them, so that a turn
// allocates nothing in the steady state and a burst does not stay for ever. They are memory of the server and
// of no client.
class ChunkPool {
 public:
  static constexpr size_t kKeptMax = 256;  // 4 MB

  explicit ChunkPool(size_t kept_max = kKeptMax) noexcept : kept_max_(kept_max) {}
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;
  ~ChunkPool() { Trim(0); }

  // An empty chunk. Throws std::bad_alloc.
  OutputChunk* Take();
  void Give(OutputChunk* chunk) noexcept;
  // Frees all but `keep` of the kept chunks, for instance when the loop has been idle.
  void Trim(size_t keep) noexcept;

  size_t kept() const noexcept { return kept_; }
  size_t allocations() const noexcept { return allocations_; }

 private:
  const size_t kept_max_;
  OutputChunk* free_ = nullptr;
  size_t kept_ = 0;
  size_t allocations_ = 0;  // since the start
};

class OutputChain {
 public:
  // The most that Reserve gives in one piece.
  static constexpr size_t kReserveMax = 4096;
  // Shared stretches up to this size are copied: cheaper than a piece of their own in the write.
  static constexpr size_t kCopyMax = 512;
  // Room in a slot: the header of any array.
  static constexpr size_t kSlotSize = 24;

  // A place in the output whose bytes are given later. Dies with the next Consume or Clear.
  using Slot = OutputSplice*;

  explicit OutputChain(ChunkPool& pool) noexcept : pool_(pool) {}
  OutputChain(const OutputChain&) = delete;
  OutputChain& operator=(const OutputChain&) = delete;
  ~OutputChain() { Clear(); }

  // Room for `n` bytes in one piece; write at most so many, then Commit what was written. Throws
  // std::bad_alloc. REQUIRES: n <= kReserveMax.
  char* Reserve(size_t n) {
    if (static_cast<size_t>(limit_ - write_) < n) [[unlikely]]
      Grow();
    return write_;
  }
  // REQUIRES: n <= what the last Reserve was asked for; nothing else was appended since.
  void Commit(size_t n) noexcept { write_ += n; }

  // The chain is full once it holds `bytes` (rounded up to whole chunks): for whoever appends to notice
  // before the next reply. Nothing is refused, and a chain that was full stays so.
  void set_limit(size_t bytes) noexcept { limit_bytes_ = bytes; }
  bool full() const noexcept { return full_; }

  // Differs once bytes were appended.
  const char* end() const noexcept { return write_; }

  // Appends bytes of any number. Throws std::bad_alloc.
  void Append(std::string_view bytes) {
    if (static_cast<size_t>(limit_ - write_) < bytes.size()) [[unlikely]]
      return AppendSlowly(bytes);
    if (!bytes.empty()) std::memcpy(write_, bytes.data(), bytes.size());
    write_ += bytes.size();
  }
  // Appends a part of a shared block without copying it (unless it is small). Throws std::bad_alloc.
  // REQUIRES: offset + length <= block.size(); nobody changes these bytes from now on.
  void AppendShared(SharedBytes block, size_t offset, size_t length);

  // Leaves a place of up to kSlotSize bytes, empty until FillSlot. Throws std::bad_alloc.
  Slot OpenSlot();
  // REQUIRES: text.size() <= kSlotSize; the slot was not filled before; no Consume or Clear since OpenSlot.
  void FillSlot(Slot slot, std::string_view text) noexcept;

  // Names the first pending bytes in order; the number of pieces set.
  size_t Gather(std::span<OutputPiece> pieces) const noexcept;
  // The first `n` pending bytes are written: forget them. REQUIRES: n <= size(); no slot is open.
  void Consume(size_t n) noexcept;
  // Forgets everything. REQUIRES: no write refers to the pieces any more.
  void Clear() noexcept;

  // Bytes pending.
  size_t size() const noexcept { return sealed_ + static_cast<size_t>(write_ - run_) - consumed_; }
  bool empty() const noexcept { return size() == 0; }
  // Bytes held for this connection: whole chunks and the stretches of shared blocks.
  size_t memory() const noexcept { return chunk_memory() + shared_; }
  // Of these, the chunks alone: what nobody else has a share in.
  size_t chunk_memory() const noexcept { return chunks_ * OutputChunk::kSize; }

 private:
  // Seals the last chunk and takes another.
  void Grow();
  void AppendSlowly(std::string_view bytes);
  OutputSplice* AddSplice(uint32_t skip);
  void SealRun() noexcept;
  void CheckLimit() noexcept {
    if (size() >= limit_bytes_) full_ = true;
  }
  void DropSplice(OutputSplice& splice) noexcept;
  uint32_t EndOf(const OutputChunk& chunk) const noexcept {
    return &chunk == tail_ ? static_cast<uint32_t>(write_ - chunk.bytes) : chunk.end;
  }

  ChunkPool& pool_;
  // Where the next byte goes, and the end of the room for it; both null in an idle chain.
  char* write_ = nullptr;
  char* limit_ = nullptr;
  // size() without a counter on the hot path: all bytes before `run_` are counted in `sealed_`.
  char* run_ = nullptr;
  size_t sealed_ = 0;
  size_t consumed_ = 0;

  OutputChunk* head_ = nullptr;
  OutputChunk* tail_ = nullptr;
  // How far the first chunk is consumed: offset in its bytes, splices done, bytes of the next splice done.
  uint32_t head_at_ = 0;
  uint32_t head_splice_ = 0;
  size_t splice_at_ = 0;

  size_t chunks_ = 0;
  size_t shared_ = 0;
  size_t limit_bytes_ = SIZE_MAX;
  bool full_ = false;
};

}  // namespace mayfly
