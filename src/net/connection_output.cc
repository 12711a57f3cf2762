// From the replies that wait to the socket.
#include <array>
#include <string>

#include "net/clients.h"
#include "net/connection.h"

namespace mayfly::net {
namespace {

struct Pieces {
  std::array<uv_buf_t, kPiecesPerWrite> buffers;
  unsigned count = 0;
  size_t bytes = 0;
};

Pieces GatherFrom(const OutputChain& output) noexcept {
  std::array<OutputPiece, kPiecesPerWrite> found;
  Pieces pieces;
  pieces.count = static_cast<unsigned>(output.Gather(found));
  for (unsigned i = 0; i < pieces.count; ++i) {
    pieces.buffers[i].base = const_cast<char*>(found[i].data);
    pieces.buffers[i].len = found[i].size;
    pieces.bytes += found[i].size;
  }
  return pieces;
}

}  // namespace

void Connection::Flush() {
  if (state_ != State::kOpen && state_ != State::kEnding) return;
  if (close_now || EnforceOutputLimit()) return Drop();
  if (write_ == nullptr) Write();
  if (state_ != State::kClosed) Settle();
}

void Connection::Write() {
  while (!output.empty()) {
    const Pieces pieces = GatherFrom(output);
    int written = uv_try_write(stream(), pieces.buffers.data(), pieces.count);
    if (written == UV_EAGAIN) written = 0;
    if (written < 0) return Drop();
    const auto size = static_cast<size_t>(written);
    output.Consume(size);
    clients_.server().stats.net_output_bytes += size;
    if (size < pieces.bytes) return WriteLater();
  }
}

// The kernel takes no more for now. What is named here stays where it is until OnWritten, whatever is
// appended.
void Connection::WriteLater() {
  const Pieces pieces = GatherFrom(output);
  write_ = std::make_unique<uv_write_t>();
  write_->data = this;
  writing_bytes_ = pieces.bytes;
  const auto done = [](uv_write_t* request, int status) {
    static_cast<Connection*>(request->data)->OnWritten(status);
  };
  if (uv_write(write_.get(), stream(), pieces.buffers.data(), pieces.count, done) != 0) {
    write_.reset();
    Drop();
  }
}

void Connection::OnWritten(int status) {
  write_.reset();
  if (state_ == State::kClosed) return;
  if (status != 0) return Drop();
  clients_.turn().Begin();
  heard_mono_ms_ = clients_.turn().now().mono_ms;
  output.Consume(writing_bytes_);
  clients_.server().stats.net_output_bytes += writing_bytes_;
  Flush();
}

// After a write: what follows from how much is left.
void Connection::Settle() {
  if (close_after_reply) state_ = State::kEnding;
  Account();
  if (state_ == State::kEnding) {
    if (output.empty()) return input_ended_ ? Drop() : Linger();
    held_back_ = false;
    clients_.LetGo(*this);
  } else if (!held_back_ && output.size() > kOutputOwnBytes && clients_.Crowded()) {
    held_back_ = true;
    clients_.HoldBack(*this);
  } else if (held_back_ && output.size() <= kOutputOwnBytes / 2) {
    held_back_ = false;
    clients_.LetGo(*this);
  }
  UpdateReading();
}

void Connection::Relieve() {
  held_back_ = false;
  UpdateReading();
}

// As in Redis, what counts is what waits before the write, so that one reply may be too much already.
bool Connection::EnforceOutputLimit() {
  const config::OutputLimit& limit = clients_.settings().client_output_buffer_limit.normal;
  const uint64_t now = clients_.turn().now().mono_ms;
  const size_t waiting = output.size();
  constexpr uint64_t kMsPerSecond = 1000;
  bool broken = limit.hard_bytes != 0 && waiting >= limit.hard_bytes;
  if (limit.soft_bytes == 0 || waiting < limit.soft_bytes) {
    above_soft_since_mono_ms_ = 0;
  } else if (above_soft_since_mono_ms_ == 0) {
    above_soft_since_mono_ms_ = now;
    clients_.File(*this);
  } else {
    const uint64_t since = now - above_soft_since_mono_ms_;
    broken |= since >= static_cast<uint64_t>(limit.soft_seconds) * kMsPerSecond;
  }
  if (!broken) return false;
  ++clients_.server().stats.output_limit_disconnections;
  clients_.log().Warning("closing client ", peer, ": it holds ", waiting,
                         " bytes of unread replies, more than client-output-buffer-limit");
  return true;
}

}  // namespace mayfly::net
