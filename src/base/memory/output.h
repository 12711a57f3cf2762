// OutputChain: the replies of one connection until the socket takes them.
//
// Shape: a list of 16 KB chunks from a pool. Replies are formatted straight into the last chunk. A *splice* inserts bytes
// from outside the chunk (a shared block), or bytes not known yet (the header of an array whose length is counted later).
// Splices are records at the chunk's end, growing downwards: each names the bytes to insert and the offset.
//
//     chunk   | link | bytes written --> |      free      | <-- splices |
//                        ^at                                   |
//                        +--------- data, size, block ---------+
//
// Thus a reply costs no allocation while the chunk has room, and a shared block costs 32 bytes instead of a copy.
//
// Invariants: an idle chain (size() == 0 after Consume or Clear) holds no chunk. Bytes returned by Gather neither move nor
// change until consumed, whatever is appended meanwhile.
//
// Ownership: the chain owns its chunks until it returns them to the pool. The pool must outlive the chain. A splice holds a
// reference to its block. Loop thread only. Units: bytes.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "base/memory/shared_bytes.h"

namespace mayfly {

// A reply, with the pending bytes before it, is longer than the limit of its chain (OutputChain::set_limit). Memory is left:
// the type tells Executor that memory did not run out, unlike any other std::bad_alloc.
struct OutputTooLong : std::bad_alloc {
  const char* what() const noexcept override { return "a reply is longer than its client may hold"; }
};

// A range of pending bytes, in the form of an element of a gathering write.
struct OutputPiece {
  const char* data;
  size_t size;
};

struct OutputSplice {
  uint32_t at;       // insert at this offset of the chunk's bytes
  uint32_t skip;     // and omit this many bytes of the chunk there
  const char* data;  // in `block`, or in the omitted bytes
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

// Unused chunks, kept for reuse; one pool per loop. The pool keeps at most `kept_max` chunks: a turn allocates nothing in
// the steady state, and the memory of a burst is freed. This memory is counted as the server's, not as a client's.
class ChunkPool {
 public:
  static constexpr size_t kKeptMax = 256;  // 4 MB

  explicit ChunkPool(size_t kept_max = kKeptMax) noexcept : kept_max_(kept_max) {}
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;
  ~ChunkPool() { Trim(0); }

  // Returns an empty chunk. Throws std::bad_alloc.
  OutputChunk* Take();
  // Returns true if Take has thrown since the last call: then a reply found no memory.
  bool TakeFailed() noexcept { return std::exchange(failed_, false); }
  void NoteFailed() noexcept { failed_ = true; }
  void Give(OutputChunk* chunk) noexcept;
  // Frees all kept chunks but `keep`, for instance when the loop is idle.
  void Trim(size_t keep) noexcept;

  size_t kept() const noexcept { return kept_; }
  size_t allocations() const noexcept { return allocations_; }

 private:
  const size_t kept_max_;
  OutputChunk* free_ = nullptr;
  size_t kept_ = 0;
  size_t allocations_ = 0;  // since construction
  bool failed_ = false;
};

class OutputChain {
 public:
  // The largest request to Reserve.
  static constexpr size_t kReserveMax = 4096;
  // Shared parts up to this size are copied: a copy is cheaper than another piece in the write.
  static constexpr size_t kCopyMax = 512;
  // The size of a slot: enough for the header of any array.
  static constexpr size_t kSlotSize = 24;

  // A place in the output for bytes that follow later. Invalid after the next Consume or Clear.
  using Slot = OutputSplice*;

  explicit OutputChain(ChunkPool& pool) noexcept : pool_(pool) {}
  ChunkPool& pool() const noexcept { return pool_; }
  OutputChain(const OutputChain&) = delete;
  OutputChain& operator=(const OutputChain&) = delete;
  ~OutputChain() { Clear(); }

  // Returns the address of `n` free bytes. Write up to `n` bytes, then Commit the number written. Throws std::bad_alloc.
  // REQUIRES: n <= kReserveMax.
  char* Reserve(size_t n) {
    assert(n <= kReserveMax);
    if (static_cast<size_t>(limit_ - write_) < n) [[unlikely]]
      Grow();
    return write_;
  }
  // REQUIRES: n <= the `n` of the last Reserve; nothing else was appended since.
  void Commit(size_t n) noexcept {
    assert(n <= static_cast<size_t>(limit_ - write_));
    write_ += n;
  }

  // Sets the size at which the chain is full, rounded up to whole chunks. The limit is the only bound for every reply while
  // the reply is built: a full chain takes what fits into its last chunk and no more. Then methods that append throw
  // OutputTooLong, which soon ends a loop that writes element after element. A full chain stays full until ForgetFull.
  void set_limit(size_t bytes) noexcept { limit_bytes_ = bytes; }
  size_t limit() const noexcept { return limit_bytes_; }
  bool full() const noexcept { return full_; }
  // Makes a full chain usable again. Only for a chain whose bytes are not a client's. REQUIRES: empty().
  void ForgetFull() noexcept {
    assert(empty());
    full_ = false;
  }
  // Throws OutputTooLong, and makes the chain full, if `bytes` more would reach the limit. With this call a command does
  // not begin a reply that is known to be too long.
  void RequireRoom(uint64_t bytes) {
    if (bytes < limit_bytes_ && size() < limit_bytes_ - bytes) return;
    MarkFull();
    throw OutputTooLong();
  }
  // From now on a chain that becomes full also sets `bits` in `*word`. Borrows the word.
  void set_full_mark(uint32_t* word, uint32_t bits) noexcept {
    full_word_ = word;
    full_bits_ = bits;
  }

  // Differs from an earlier end() if bytes were appended in between.
  const char* end() const noexcept { return write_; }

  // Appends a copy of `bytes`. Throws std::bad_alloc.
  void Append(std::string_view bytes) {
    if (static_cast<size_t>(limit_ - write_) < bytes.size()) [[unlikely]]
      return AppendSlowly(bytes);
    if (!bytes.empty()) std::memcpy(write_, bytes.data(), bytes.size());
    write_ += bytes.size();
  }
  // Appends a part of a shared block, without a copy unless the part is small. Throws std::bad_alloc.
  // REQUIRES: offset + length <= block.size(); nobody changes these bytes until they are consumed.
  void AppendShared(SharedBytes block, size_t offset, size_t length);

  // Appends a slot: empty until FillSlot puts up to kSlotSize bytes into it. Throws std::bad_alloc.
  Slot OpenSlot();
  // REQUIRES: text.size() <= kSlotSize; the slot is not filled yet; no Consume or Clear since OpenSlot.
  void FillSlot(Slot slot, std::string_view text) noexcept;

  // Stores the first pending bytes, in order, as `pieces`. Returns the number of pieces stored.
  size_t Gather(std::span<OutputPiece> pieces) const noexcept {
    if (sealed_ != 0 || pieces.empty() || empty()) return GatherRuns(pieces);
    pieces[0] = {run_ + consumed_, size()};  // mostly there is nothing before the run
    return 1;
  }
  // Removes the first `n` pending bytes after their write.
  // REQUIRES: n <= size(); no slot is open.
  void Consume(size_t n) noexcept {
    assert(n <= size());
    consumed_ += n;
    size() == 0 ? Clear() : ConsumeFront(n);
  }
  // Removes everything.
  // REQUIRES: no write in progress refers to the pieces.
  void Clear() noexcept;

  // Number of pending bytes.
  size_t size() const noexcept { return sealed_ + static_cast<size_t>(write_ - run_) - consumed_; }
  bool empty() const noexcept { return size() == 0; }
  // Memory held for this connection: whole chunks, and the referenced parts of shared blocks.
  size_t memory() const noexcept { return chunk_memory() + shared_; }
  // The part of memory() in chunks, shared with no other client.
  size_t chunk_memory() const noexcept { return chunks_ * OutputChunk::kSize; }

 private:
  // Closes the last chunk and takes another.
  void Grow();
  void AppendSlowly(std::string_view bytes);
  OutputSplice* AddSplice(uint32_t skip);
  void SealRun() noexcept;
  void ConsumeFront(size_t n) noexcept;
  size_t GatherRuns(std::span<OutputPiece> pieces) const noexcept;
  void CheckLimit() noexcept {
    if (size() >= limit_bytes_) MarkFull();
  }
  void MarkFull() noexcept {
    full_ = true;
    if (full_word_ != nullptr) *full_word_ |= full_bits_;
  }
  void DropSplice(OutputSplice& splice) noexcept;
  uint32_t EndOf(const OutputChunk& chunk) const noexcept {
    return &chunk == tail_ ? static_cast<uint32_t>(write_ - chunk.bytes) : chunk.end;
  }

  ChunkPool& pool_;
  // The address of the next byte, and the end of the free room; both null in an idle chain.
  char* write_ = nullptr;
  char* limit_ = nullptr;
  // size() without a counter on the hot path: `sealed_` counts all bytes before `run_`.
  char* run_ = nullptr;
  size_t sealed_ = 0;
  size_t consumed_ = 0;

  OutputChunk* head_ = nullptr;
  OutputChunk* tail_ = nullptr;
  // The consumed part of the first chunk: offset in the chunk's bytes, number of splices, bytes of the next splice.
  uint32_t head_at_ = 0;
  uint32_t head_splice_ = 0;
  size_t splice_at_ = 0;

  size_t chunks_ = 0;
  size_t shared_ = 0;
  size_t limit_bytes_ = SIZE_MAX;
  bool full_ = false;
  uint32_t full_bits_ = 0;
  uint32_t* full_word_ = nullptr;
};

}  // namespace mayfly
