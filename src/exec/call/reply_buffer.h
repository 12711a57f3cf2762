// A reply to be read back instead of sent, for example by a script.
//
// Small replies stay where they were written and are read there; one that has several pieces is put together
// once. A reply that gets longer than the limit ends by OutputTooLong, as a client's does; after Clear the buffer may be
// used again. Owns its chunks, which come from the pool. Loop thread only.
#pragma once

#include <string>
#include <string_view>

#include "base/memory/output.h"
#include "resp/writer.h"

namespace mayfly {

class ReplyBuffer {
 public:
  // `version` of the protocol in which replies are written.
  ReplyBuffer(ChunkPool& pool, int version) noexcept : chain_(pool), writer_(chain_, version) {}

  resp::Writer& writer() noexcept { return writer_; }
  // As OutputChain::set_limit; until then there is none.
  void set_limit(size_t bytes) noexcept { chain_.set_limit(bytes); }
  // What was written since the last Clear; valid until the next write or Clear. Throws std::bad_alloc. To be
  // read with resp/reply_reader.h.
  std::string_view Text() {
    if (chain_.empty()) return joined_;
    OutputPiece piece;
    static_cast<void>(chain_.Gather({&piece, 1}));
    if (joined_.empty() && piece.size == chain_.size()) return {piece.data, piece.size};
    return Joined();
  }
  // Sends what was written on to `to`, and clears this. True if it is an error: `to` has counted it. Throws std::bad_alloc.
  bool MoveTo(resp::Writer& to);
  void Clear() noexcept {
    chain_.Clear();
    chain_.ForgetFull();
    joined_.clear();
  }

 private:
  std::string_view Joined();

  OutputChain chain_;
  resp::Writer writer_;
  std::string joined_;
};

}  // namespace mayfly
