// From the socket to the executor.
#include <new>
#include <span>

#include "net/clients.h"
#include "net/connection.h"
#include "server/sessions.h"
#include "server/stats.h"

namespace mayfly::net {

void Connection::UpdateReading() {
  const bool kept_enough = parked != nullptr && input_.kept().size() > kParkedInputBytes;
  const bool wanted =
      DropsInput() || (state_ == State::kOpen && !throttled_ && !input_ended_ && !kept_enough);
  if (wanted == reading_) return;
  reading_ = wanted;
  if (!wanted) {
    uv_read_stop(stream());
    return;
  }
  const auto lend = [](uv_handle_t* handle, size_t, uv_buf_t* buffer) {
    *buffer = static_cast<Connection*>(handle->data)->LendBuffer();
  };
  const auto take = [](uv_stream_t* stream, ssize_t n, const uv_buf_t*) {
    static_cast<Connection*>(stream->data)->OnRead(n);
  };
  if (uv_read_start(stream(), lend, take) != 0) Drop();
}

// Nothing is lent twice in one turn: libuv then leaves the bytes in the kernel, and the other connections
// have their turn. (It tells OnRead UV_ENOBUFS, which is no error here.)
uv_buf_t Connection::LendBuffer() {
  Turn& turn = clients_.turn();
  turn.Begin();
  if (read_turn_ == turn.number()) return uv_buf_init(nullptr, 0);
  read_turn_ = turn.number();
  const bool in_block = state_ == State::kOpen && !parser.BlockRoom().empty();
  if (in_block && clients_.executor().short_of_room()) return uv_buf_init(nullptr, 0);  // keys are evicted
  try {
    const std::span<char> room =
        input_.Lend(parser, [this](size_t size) { return clients_.LendInput(size); });
    return uv_buf_init(room.data(), static_cast<unsigned>(room.size()));
  } catch (const std::bad_alloc&) {
    return uv_buf_init(nullptr, 0);  // there may be memory in the next turn
  }
}

void Connection::OnRead(ssize_t n) {
  if (n == 0 || n == UV_ENOBUFS) return;
  if (n < 0) return n == UV_EOF ? OnEndOfInput() : Drop();
  const auto size = static_cast<size_t>(n);
  if (state_ != State::kOpen) return OnDroppedInput(size);
  clients_.server().stats.net_input_bytes += size;
  net_input_bytes += size;
  heard_mono_ms_ = clients_.turn().now().mono_ms;
  const std::string_view to_run = input_.Filled(parser, size);
  if (!to_run.empty()) return clients_.Defer(*this, to_run);
  // In a block, which the next bytes complete.
  input_bytes += size;
  Book({.client = booked_.client, .arriving = booked_.arriving + size, .output = booked_.output});
}

void Connection::OnEndOfInput() {
  clients_.turn().Begin();
  clients_.RunDeferred();
  if (state_ == State::kClosed) return;
  input_ended_ = true;
  if (state_ == State::kEnding) return UpdateReading();  // its replies are still being written
  if (state_ != State::kOpen || parked != nullptr || (output.empty() && !dirty)) return Drop();
  // Everything that was received has run; its replies are still to be written.
  Set(Mode::kEnding);
  UpdateReading();
  clients_.server().sessions.MarkDirty(*this);
}

void Connection::AfterRun(const Feed& feed) {
  if (state_ != State::kOpen) return;
  if (feed.state == Feed::State::kNoRoom) return DropForMemory("its requests");
  try {
    input_.Keep(feed);
  } catch (const std::bad_alloc&) {
    return DropForMemory("its requests");
  }
  AfterInput();
}

void Connection::Resume() {
  if (state_ != State::kOpen) return;
  if (input_.empty()) return AfterInput();
  clients_.Defer(*this, input_.kept());
  clients_.RunDeferred();
}

void Connection::AfterInput() {
  // Nothing is kept and there is something to write: Settle will do the rest.
  if (dirty && input_.empty() && parser.idle()) [[likely]]
    return;
  Account();
  // There is room for what was announced, so it counts before it comes.
  if (input_bytes + parser.awaited() > clients_.settings().client_query_buffer_limit) {
    ++clients_.server().stats.query_limit_disconnections;
    clients_.log().Warning("closing client ", peer, ": its request is longer than client-query-buffer-limit");
    return Drop();
  }
  UpdateReading();
}

}  // namespace mayfly::net
