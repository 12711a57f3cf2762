#include "exec/call/reply_buffer.h"

#include <array>

namespace mayfly {
namespace {

constexpr size_t kPieces = 16;  // at a time

}  // namespace

bool ReplyBuffer::MoveTo(resp::Writer& to) {
  constexpr std::string_view kLineEnd = "\r\n";
  std::array<OutputPiece, kPieces> pieces;
  const size_t first = chain_.Gather({pieces.data(), 1});
  const bool is_error = joined_.starts_with('-') || (first != 0 && pieces[0].data[0] == '-');
  if (is_error) {
    const std::string_view text = Text();
    to.Error(text.substr(1, text.size() - 1 - kLineEnd.size()));
    Clear();
    return true;
  }
  to.out().Append(joined_);
  while (!chain_.empty()) {  // a reply may be large: moved pieces are freed at once
    const size_t count = chain_.Gather(pieces);
    size_t moved = 0;
    for (size_t i = 0; i < count; ++i) {
      to.out().Append({pieces[i].data, pieces[i].size});
      moved += pieces[i].size;
    }
    chain_.Consume(moved);
  }
  Clear();
  return false;
}

std::string_view ReplyBuffer::Joined() {
  joined_.reserve(joined_.size() + chain_.size());
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
