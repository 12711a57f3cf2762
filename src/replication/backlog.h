// The last bytes of the command stream: the bytes that replicas have not got yet, and some more for a replica that reconnects
// after a break.
//
//   begin()                                                        end()
//     | block | block | block | ...                        | block |      a draft      |
//                         ^ a replica's place    ^ another one's
//
// Each byte is stored once, whatever the number of replicas. A replica is a place in the stream, and the replica's output
// refers to the blocks. A place is the number of bytes of the stream before it, like Redis's replication offset.
//
// The blocks waste little: a block that gets no more bytes gives the memory after its last byte back, unless an output refers
// to the block. So bytes() exceeds the stored bytes by a kMostWaste-th, and by two blocks.
//
// A draft (replication/stream_draft.h) is a part of the stream that does not count yet. Its bytes lie behind the end.
//
// Ownership: owns references to the blocks; outputs hold more. Loop thread only. Units: bytes.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>

#include "base/memory/output.h"
#include "base/memory/shared_bytes.h"
#include "base/text/short_bytes.h"

namespace mayfly {

class Backlog {
 public:
  // With the header a block fills a size class of the allocator.
  static constexpr size_t kBlockBytes = (size_t{64} << 10) - SharedBytes::kHeaderBytes;
  // A closed block keeps an unused rest up to this part of its bytes.
  static constexpr size_t kMostWaste = 16;

  // Forgets everything. The stream begins at this place. REQUIRES: no draft.
  void Begin(int64_t place) noexcept {
    blocks_.clear();
    spare_ = {};
    begin_ = end_ = place;
    bytes_ = drafted_ = 0;
  }
  int64_t begin() const noexcept { return begin_; }
  int64_t end() const noexcept { return end_; }
  bool Has(int64_t place) const noexcept { return place >= begin_ && place <= end_; }
  // The memory of all blocks, including the spare block.
  uint64_t bytes() const noexcept { return bytes_; }

  // Returns room for `size` bytes in one piece at the end; Commit appends the written bytes. Throws std::bad_alloc.
  char* Reserve(size_t size) { return Room(size).data(); }
  // REQUIRES: size <= the size of the last Reserve.
  void Commit(size_t size) noexcept {
    assert(drafted_ == 0);
    Take(size);
    end_ += static_cast<int64_t>(size);
  }
  // Appends bytes of any number. Throws std::bad_alloc, with a part appended.
  void Append(std::string_view bytes);
  // Appends to `out` at most `most` bytes from `place` on. Returns the number of bytes, 0 only if `place` is the end. Throws
  // std::bad_alloc. REQUIRES: Has(place); most != 0.
  size_t Feed(int64_t place, size_t most, OutputChain& out) const;
  // Frees all blocks that end at or before `place`, except the last block. Keeps the memory of one freed block.
  void Forget(int64_t place) noexcept;

  // ---- a draft: nothing else is appended before Publish or Discard
  //
  // Returns all room for one piece at the end, at least `size` bytes. The room begins with `moved`, the first bytes of the room
  // returned before, or nothing. Throws std::bad_alloc.
  std::span<char> Room(size_t size, std::string_view moved = {});
  // Makes the first `used` bytes of the room returned before a part of the draft, and returns room for the next part, in another
  // block. Throws std::bad_alloc, without a change.
  std::span<char> NextRoom(size_t used, size_t size);
  // The first byte of the draft. REQUIRES: the draft has a part.
  char* DraftBegin() noexcept;
  // All parts count, and the first `used` bytes of the room returned last.
  void Publish(size_t used) noexcept {
    Take(used);
    end_ += static_cast<int64_t>(drafted_ + used);
    drafted_ = 0;
  }
  // Forgets all parts.
  void Discard() noexcept;

 private:
  struct Block {
    int64_t begin;
    SharedBytes bytes;
    size_t used;
  };
  void Take(size_t size) noexcept {
    Block& last = blocks_.back();
    assert(size <= last.bytes.size() - last.used);
    last.used += size;
  }
  size_t RoomLeft() const noexcept {
    return blocks_.empty() ? 0 : blocks_.back().bytes.size() - blocks_.back().used;
  }
  // Adds a block that begins with a copy of `moved`, and closes the block before.
  void AddBlock(size_t least, std::string_view moved);
  // The last block but one gets no more bytes.
  void CloseBlock() noexcept;
  // Frees the memory of a block, or keeps it as the spare block.
  void Release(SharedBytes&& bytes) noexcept;

  std::deque<Block> blocks_;
  SharedBytes spare_;  // the memory of a forgotten block, for the next block
  int64_t begin_ = 0;
  int64_t end_ = 0;
  size_t drafted_ = 0;  // in the blocks, behind the end
  uint64_t bytes_ = 0;
};

}  // namespace mayfly
