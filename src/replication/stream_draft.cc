#include "replication/stream_draft.h"

#include <algorithm>
#include <cstring>

#include "base/text/short_bytes.h"

namespace mayfly {

[[gnu::noinline]] void StreamDraft::Grow(size_t size) {
  const size_t used = this->size();
  const std::span<char> room = backlog_.Room(kMulti.size() + used + std::max(size, used));
  char* const begin = room.data() + kMulti.size();
  if (begin != begin_ && used != 0) std::memcpy(begin, begin_, used);
  begin_ = begin;
  end_ = begin + used;
  limit_ = room.data() + room.size();
}

void StreamDraft::Publish(bool transaction) {
  if (begin_ == nullptr) {
    if (transaction) backlog_.Append(kMulti);
    return;
  }
  char* const room = begin_ - kMulti.size();
  assert(room == backlog_.Room(0).data());
  if (transaction) {
    CopyBytes(room, kMulti.data(), kMulti.size());
    backlog_.Commit(kMulti.size() + size());
  } else {
    std::memmove(room, begin_, size());
    backlog_.Commit(size());
  }
  Drop();
}

}  // namespace mayfly
