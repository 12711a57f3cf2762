#include "replication/stream_draft.h"

#include <cstring>

#include "base/text/short_bytes.h"

namespace mayfly {

[[gnu::noinline]] void StreamDraft::Grow(size_t size) {
  const size_t used = PartSize();
  const size_t before = full_bytes_ == 0 ? kMulti.size() : 0;  // of the part's commands
  std::span<char> room;
  if (full_bytes_ + used > kMostMoved) {
    room = backlog_.NextRoom(before + used, size);
    full_bytes_ += used;
    begin_ = end_ = room.data();
  } else {
    const std::string_view moved(begin_ != nullptr ? begin_ - before : nullptr,
                                 begin_ != nullptr ? before + used : 0);
    room = backlog_.Room(before + used + size, moved);
    begin_ = room.data() + before;
    end_ = begin_ + used;
  }
  limit_ = room.data() + room.size();
}

void StreamDraft::Publish(bool transaction) {
  if (begin_ == nullptr) {
    if (transaction) backlog_.Append(kMulti);
    return;
  }
  assert(transaction || full_bytes_ == 0);
  const size_t used = PartSize();
  if (transaction) {
    const bool is_first = full_bytes_ == 0;
    CopyBytes(is_first ? begin_ - kMulti.size() : backlog_.DraftBegin(), kMulti.data(), kMulti.size());
    backlog_.Publish(used + (is_first ? kMulti.size() : 0));
  } else {
    std::memmove(begin_ - kMulti.size(), begin_, used);
    backlog_.Publish(used);
  }
  Forget();
}

}  // namespace mayfly
