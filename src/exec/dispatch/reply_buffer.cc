#include "exec/dispatch/reply_buffer.h"

#include <array>

namespace mayfly {

std::string_view ReplyBuffer::Joined() {
  joined_.reserve(joined_.size() + chain_.size());
  constexpr size_t kPieces = 16;
  std::array<OutputPiece, kPieces> pieces;
  while (!chain_.empty()) {
    const size_t before = joined_.size();
    const size_t count = chain_.Gather(pieces);
    for (size_t i = 0; i < count; ++i) joined_.append(pieces[i].data, pieces[i].size);
    chain_.Consume(joined_.size() - before);
  }
  return joined_;
}

}  // namespace mayfly
