// One client's input on its way from the socket to the executor.
//
//              kept: has not run                        a read brings more
//   | whole requests of a client that waits | beginning of a request | new bytes |
//   ^ what runs next begins here
//
// There is one rule. Kept and new bytes are one string; the executor is shown all of it (Filled) and says how
// much of it has run; the rest is kept (Keep), until the next read or until the client goes on. Whether the
// client waits, is paused, or has sent half a request makes no difference here.
//
// The string lies in the read buffer that all connections share when little is kept, which is copied there,
// and in the connection's own memory (InputTail) otherwise. The payload of a big argument is the one
// exception: the parser takes it out of the string and reads it into a block of its own (resp::Parser, "Big
// arguments"). Whoever has sent one mostly sends another. So the read after it is short, and what it brings of the
// next payload, which has to be copied into the block, is little.
//
// Invariant: the parser remembers something only of the request at the front of the kept bytes. So it has a
// block only when that request is the first one, and every request before it has run. (Executor::Run makes
// the parser forget a request that it parsed ahead when an earlier one of the same client has to wait.)
//
// Loop thread only. Units: bytes.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <span>
#include <string_view>

#include "exec/dispatch/batch.h"
#include "net/socket/input_tail.h"
#include "net/socket/limits.h"

namespace mayfly::net {

class Input {
 public:
  // Where the next bytes go. `lend_shared(n)` gives n bytes of the shared buffer; it is called only if the
  // bytes go there. Throws std::bad_alloc.
  template <typename LendShared>
  std::span<char> Lend(resp::Parser& parser, LendShared&& lend_shared) {
    if (parser.awaited() != 0) [[unlikely]] {
      const std::span<char> block = parser.BlockRoom();
      return block.first(std::min(block.size(), kBlockReadBytes));
    }
    if (tail_.size() <= kCopiedTailBytes) {
      const size_t size = parser.expects_big() ? kHeadReadBytes : kReadBufferBytes;
      char* const front = lend_shared(tail_.size() + size);
      tail_.view().copy(front, tail_.size());
      return {front + tail_.size(), size};
    }
    const std::span<char> room = tail_.Room(kReadBufferBytes);
    return room.first(std::min(room.size(), kBlockReadBytes));
  }

  // `bytes` were stored at the front of what Lend returned, where what is kept lies before them. Returns the string
  // to run; it is empty when the bytes went into a block that is not full yet. REQUIRES: nothing was kept since Lend.
  std::string_view Filled(resp::Parser& parser, std::span<const char> bytes) noexcept {
    if (parser.awaited() == 0) [[likely]]
      return {bytes.data() - tail_.size(), tail_.size() + bytes.size()};
    parser.BlockFilled(bytes.size());
    return parser.awaited() == 0 ? kept() : std::string_view();
  }

  // All `size` bytes that Lend returned were filled, and what came was run. True if the client's share of the turn is not
  // used up and there is reason to read on at once: the payload of an argument whose head has come, or a read that was
  // short only because the last argument was big.
  static bool MayReadOn(resp::Parser& parser, size_t size) noexcept {
    if (parser.awaited() != 0) return size < kBlockReadBytes;
    return size == kHeadReadBytes && parser.ExpectNoBig();
  }

  // Keeps what has not run of a string that Filled or kept() returned. Throws std::bad_alloc.
  void Keep(const Feed& feed) {
    Session& session = *feed.session;
    std::string_view rest = feed.input.substr(feed.consumed);
    if (rest.empty() && tail_.empty()) return;
    if (session.closes()) {
      rest = {};
    } else if (session.parked == nullptr && session.parser.WantsBlock() != 0) {
      rest = rest.substr(0, session.parser.StartBlock(rest));
    }
    tail_.Keep(rest);
  }

  std::string_view kept() const noexcept { return tail_.view(); }
  bool empty() const noexcept { return tail_.empty(); }
  // Bytes that have come and not run, with those in blocks, and the memory that holds them.
  size_t bytes(const resp::Parser& parser) const noexcept { return tail_.size() + parser.received(); }
  size_t memory(const resp::Parser& parser) const noexcept { return tail_.memory() + parser.memory(); }
  void Release() noexcept { tail_.Release(); }

 private:
  InputTail tail_;
};

}  // namespace mayfly::net
