// One client's input on its way from the socket to the executor.
//
//              kept: has not run                        added by a read
//   | whole requests of a waiting client | beginning of a request | new bytes |
//   ^ the next run begins here
//
// There is one rule. Kept and new bytes are one string; the executor gets the whole string (Filled) and reports how many
// bytes have run; the rest is kept (Keep), until the next read or until the client goes on. The rule is the same for a
// client that waits, is paused, or has sent half a request.
//
// With few kept bytes, the string lies in the read buffer shared by all connections, and the kept bytes are copied there;
// otherwise the string lies in the connection's own memory (InputTail). The payload of a big argument is the only exception:
// the parser takes the payload out of the string and reads it into a separate block (resp::Parser, "Big arguments"). A
// client that has sent a big argument mostly sends another. The next read is therefore short: only few bytes of the next
// payload have to be copied into the block.
//
// Invariant: the parser has state only of the request at the front of the kept bytes. The parser thus has a block only when
// this request is the first, and every earlier request has run. (Executor::Run makes the parser forget a request parsed
// ahead when an earlier request of the same client has to wait.)
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
  // The room for the next bytes. `lend_shared(n)` returns n bytes of the shared buffer; called only if the bytes go there.
  // Throws std::bad_alloc.
  template <typename LendShared>
  std::span<char> Lend(resp::Parser& parser, LendShared&& lend_shared) {
    const size_t kept = tail_.size();
    if (parser.awaited() != 0 || kept > kCopiedTailBytes) [[unlikely]]
      return LendOwn(parser);
    const size_t size = parser.expects_big() ? kHeadReadBytes : kReadBufferBytes;
    char* const front = lend_shared(kept + size);
    if (kept != 0) [[unlikely]]
      tail_.view().copy(front, kept);
    return {front + kept, size};
  }

  // `bytes` were stored at the front of the room from Lend, after the kept bytes. Returns the string to run; empty when the
  // bytes went into a block that is not full yet. REQUIRES: nothing was kept since Lend.
  std::string_view Filled(resp::Parser& parser, std::span<const char> bytes) noexcept {
    if (parser.awaited() == 0) [[likely]]
      return {bytes.data() - tail_.size(), tail_.size() + bytes.size()};
    parser.BlockFilled(bytes.size());
    return parser.awaited() == 0 ? kept() : std::string_view();
  }

  // All `size` bytes of the room from Lend were filled, and the string was run. True if the client has not used up its share
  // of the turn and there is reason to read on at once: the payload of a started argument, or a read that was short only
  // because the last argument was big.
  static bool MayReadOn(resp::Parser& parser, size_t size) noexcept {
    if (parser.awaited() != 0) return size < kBlockReadBytes;
    return size == kHeadReadBytes && parser.ExpectNoBig();
  }

  // Keeps the rest of a string from Filled or kept(), without the bytes that have run. Throws std::bad_alloc.
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
  // Received bytes that have not run, including bytes in blocks, and the memory that holds these bytes.
  size_t bytes(const resp::Parser& parser) const noexcept { return tail_.size() + parser.received(); }
  size_t memory(const resp::Parser& parser) const noexcept { return tail_.memory() + parser.memory(); }
  void Release() noexcept { tail_.Release(); }

 private:
  // Room in a block, or after the kept bytes in the connection's own memory.
  [[gnu::noinline]] std::span<char> LendOwn(resp::Parser& parser) {
    const std::span<char> room = parser.awaited() != 0 ? parser.BlockRoom() : tail_.Room(kReadBufferBytes);
    return room.first(std::min(room.size(), kBlockReadBytes));
  }

  InputTail tail_;
};

}  // namespace mayfly::net
