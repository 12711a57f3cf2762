// A reply to be read back instead of sent, for example by a script.
//
// Small replies are read where they were written; a reply of several pieces is joined once. A reply beyond the limit ends by
// OutputTooLong, like a client's reply; after Clear the buffer may be used again. Owns its chunks, which come from the pool.
// Loop thread only.
#pragma once

#include <string>
#include <string_view>

#include "base/memory/output.h"
#include "resp/writer.h"

namespace mayfly {

class ReplyBuffer {
 public:
  // `version` of the protocol of the replies.
  ReplyBuffer(ChunkPool& pool, int version) noexcept : chain_(pool), writer_(chain_, version) {}

  resp::Writer& writer() noexcept { return writer_; }
  // Like OutputChain::set_limit; without a call there is no limit.
  void set_limit(size_t bytes) noexcept { chain_.set_limit(bytes); }
  // The bytes written since the last Clear; valid until the next write or Clear. Throws std::bad_alloc. Read the text with
  // resp/reply_reader.h.
  std::string_view Text() {
    if (chain_.empty()) return joined_;
    OutputPiece piece;
    static_cast<void>(chain_.Gather({&piece, 1}));
    if (joined_.empty() && piece.size == chain_.size()) return {piece.data, piece.size};
    return Joined();
  }
  // Sends the written bytes to `to`, and clears the buffer. True if the reply is an error: `to` has counted the error.
  // Throws std::bad_alloc.
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
