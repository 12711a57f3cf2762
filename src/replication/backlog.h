// The last bytes of the command stream: the bytes that replicas have not got yet, and some more for a replica that reconnects
// after a break.
//
//   begin()                                                        end()
//     | block | block | block | ...                        | block |
//                         ^ a replica's place    ^ another one's
//
// Each byte is stored once, whatever the number of replicas. A replica is a place in the stream, and the replica's output
// refers to the blocks. A place is the number of bytes of the stream before it, like Redis's replication offset.
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
  static constexpr size_t kBlockBytes = size_t{64} << 10;

  // Forgets everything. The stream begins at this place.
  void Begin(int64_t place) noexcept {
    blocks_.clear();
    spare_ = {};
    begin_ = end_ = place;
    bytes_ = 0;
  }
  int64_t begin() const noexcept { return begin_; }
  int64_t end() const noexcept { return end_; }
  bool Has(int64_t place) const noexcept { return place >= begin_ && place <= end_; }
  // The memory of all blocks, including the spare block.
  uint64_t bytes() const noexcept { return bytes_; }

  // Returns room for `size` bytes at the end; Commit appends the written bytes. Throws std::bad_alloc.
  char* Reserve(size_t size) { return Room(size).data(); }
  // Returns all room for one piece at the end, at least `size` bytes. Throws std::bad_alloc.
  std::span<char> Room(size_t size) {
    if (blocks_.empty() || blocks_.back().bytes.size() - blocks_.back().used < size) AddBlock(size);
    const Block& last = blocks_.back();
    return {last.bytes.data() + last.used, last.bytes.size() - last.used};
  }
  // REQUIRES: size <= the size of the last Reserve or Room.
  void Commit(size_t size) noexcept {
    Block& last = blocks_.back();
    assert(size <= last.bytes.size() - last.used);
    last.used += size;
    end_ += static_cast<int64_t>(size);
  }
  // Throws std::bad_alloc.
  void Append(std::string_view bytes) {
    CopyBytes(Reserve(bytes.size()), bytes.data(), bytes.size());
    Commit(bytes.size());
  }
  // Appends to `out` at most `most` bytes from `place` on. Returns the number of bytes, 0 only if `place` is the end. Throws
  // std::bad_alloc. REQUIRES: Has(place); most != 0.
  size_t Feed(int64_t place, size_t most, OutputChain& out) const;
  // Frees all blocks that end at or before `place`, except the last block. Keeps the memory of one freed block.
  void Forget(int64_t place) noexcept;

 private:
  struct Block {
    int64_t begin;
    SharedBytes bytes;
    size_t used;
  };
  void AddBlock(size_t least);

  std::deque<Block> blocks_;
  SharedBytes spare_;  // the memory of a forgotten block, for the next block
  int64_t begin_ = 0;
  int64_t end_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace mayfly
