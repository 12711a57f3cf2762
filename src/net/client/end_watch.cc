#include "net/client/end_watch.h"

#include <array>
#include <span>

#include "net/client/connection.h"
#include "net/socket/descriptor.h"

namespace mayfly::net {

void EndWatch::Start(uv_loop_t& loop) {
  set_ = OpenEndSet();
  if (set_ < 0) return;
  if (uv_poll_init(&loop, &poll_, set_) != 0) {
    CloseDescriptor(set_);
    set_ = -1;
    return;
  }
  poll_.data = this;
  uv_poll_start(&poll_, UV_READABLE,
                [](uv_poll_t* poll, int, int) { static_cast<EndWatch*>(poll->data)->OnReadable(); });
}

void EndWatch::Close() {
  if (set_ < 0) return;
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_), nullptr);
  CloseDescriptor(set_);
  set_ = -1;
}

bool EndWatch::Add(int descriptor, Connection& connection) noexcept {
  return set_ >= 0 && AddToEndSet(set_, descriptor, &connection);
}

void EndWatch::Remove(int descriptor) noexcept {
  if (set_ >= 0) RemoveFromEndSet(set_, descriptor);
}

// Remaining owners make the set readable again. A connection closed meanwhile exists until the poll is over.
void EndWatch::OnReadable() {
  constexpr size_t kBatch = 64;
  std::array<void*, kBatch> gone;
  const size_t count = TakeFromEndSet(set_, gone);
  for (void* const connection : std::span(gone).first(count))
    static_cast<Connection*>(connection)->OnPeerGone();
}

}  // namespace mayfly::net
