// From the socket to the executor.
#include <algorithm>
#include <new>
#include <span>

#include "net/clients.h"
#include "net/connection.h"

namespace mayfly::net {

void Connection::UpdateReading() {
  const bool kept_enough = parked != nullptr && tail_.size() > kParkedInputBytes;
  const bool wanted =
      DropsInput() || (state_ == State::kOpen && !held_back_ && !input_ended_ && !kept_enough);
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

// Where the next bytes go. Nothing is lent twice in one turn: libuv then leaves the bytes in the kernel, and
// the other connections have their turn. (It tells OnRead UV_ENOBUFS, which is no error here.)
uv_buf_t Connection::LendBuffer() {
  Turn& turn = clients_.turn();
  turn.Begin();
  if (read_turn_ == turn.number()) return uv_buf_init(nullptr, 0);
  read_turn_ = turn.number();
  const std::span<char> block = parser.BlockRoom();
  if (!block.empty()) {
    target_ = Target::kBlock;
    return uv_buf_init(block.data(), static_cast<unsigned>(std::min(block.size(), kBlockReadBytes)));
  }
  if (tail_.size() <= kCopiedTailBytes) {
    target_ = Target::kShared;
    char* const room = clients_.LendInput(tail_.size());
    tail_.view().copy(room, tail_.size());
    return uv_buf_init(room + tail_.size(), kReadBufferBytes);
  }
  target_ = Target::kTail;
  try {
    const std::span<char> room = tail_.Room(kReadBufferBytes);
    return uv_buf_init(room.data(), static_cast<unsigned>(std::min(room.size(), kBlockReadBytes)));
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
  heard_mono_ms_ = clients_.turn().now().mono_ms;
  switch (target_) {
    case Target::kBlock:
      input_bytes += size;
      return parser.BlockFilled(size);  // what completes it is still to come
    case Target::kTail:
      tail_.Filled(size);
      return RunTail();
    case Target::kShared:
      // One more is needed behind the tail, which was copied there.
      return clients_.Defer(*this, tail_.size() + size);
  }
}

void Connection::OnEndOfInput() {
  clients_.turn().Begin();
  clients_.RunDeferred();
  if (state_ == State::kClosed) return;
  input_ended_ = true;
  if (state_ == State::kEnding) return UpdateReading();  // its replies are still being written
  if (state_ != State::kOpen || parked != nullptr || (output.empty() && !dirty)) return Drop();
  // Everything that was received has run; its replies are still to be written.
  close_after_reply = true;
  UpdateReading();
  clients_.server().sessions.MarkDirty(*this);
}

void Connection::AfterRun(const Feed& feed) {
  if (state_ == State::kClosed) return;
  if (feed.state == Feed::State::kNoRoom) return DropForMemory();
  const std::string_view rest = feed.input.substr(feed.consumed);
  // What was kept before stands in front of the input.
  if (rest.empty() && tail_.empty()) [[likely]]
    return AfterInput();
  try {
    const std::string_view kept = rest.substr(0, ToKeep(rest));
    if (feed.consumed == 0 && kept.size() >= tail_.size())
      tail_.Append(kept.substr(tail_.size()));
    else
      tail_.Assign(kept);
  } catch (const std::bad_alloc&) {
    return DropForMemory();
  }
  AfterInput();
}

void Connection::RunTail() {
  if (parked != nullptr) return AfterInput();
  Feed feed{.session = this, .input = tail_.view()};
  clients_.executor().Run({&feed, 1});
  if (feed.state == Feed::State::kNoRoom) return DropForMemory();
  try {
    const std::string_view rest = tail_.view().substr(feed.consumed);
    const size_t keep = ToKeep(rest);
    tail_.Truncate(feed.consumed + keep);
    tail_.RemovePrefix(feed.consumed);
  } catch (const std::bad_alloc&) {
    return DropForMemory();
  }
  AfterInput();
}

void Connection::DropForMemory() {
  clients_.log().Warning("out of memory for the input of client ", peer);
  Drop();
}

size_t Connection::ToKeep(std::string_view rest) {
  if (close_after_reply || close_now) return 0;
  if (parked != nullptr || parser.WantsBlock() == 0) return rest.size();
  return parser.StartBlock(rest);
}

void Connection::AfterInput() {
  // Nothing is kept and there is something to write: Settle will do the rest.
  if (dirty && tail_.empty() && parser.idle()) [[likely]]
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

void Connection::Resume() {
  if (state_ != State::kOpen) return;
  tail_.empty() ? AfterInput() : RunTail();
}

}  // namespace mayfly::net
