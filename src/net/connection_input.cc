// From the socket to the service.
#include "net/clients.h"
#include "net/connection.h"
#include "server/stats.h"

namespace mayfly::net {

void Connection::UpdateReading() {
  const bool wanted =
      DropsInput() || (state_ == State::kOpen && !throttled_ && !input_ended_ && !input_full_);
  if (wanted == reading_) return;
  reading_ = wanted;
  if (!wanted) {
    uv_read_stop(stream());
    return;
  }
  if (filter_ != nullptr) clients_.DeliverLater(*this);  // what it holds may have had to wait
  const ReadCalls& calls = filter_ != nullptr ? kFilteredReadCalls : read_calls();
  if (uv_read_start(stream(), calls.lend, calls.take) != 0) Drop();
}

bool Connection::BeginRead() noexcept {
  Turn& turn = clients_.turn();
  turn.Begin();
  if (read_turn_ == turn.number()) return false;
  read_turn_ = turn.number();
  return true;
}

char* Connection::LendToDrop() { return clients_.LendInput(kReadBufferBytes); }

void Connection::CountInput(size_t size) noexcept {
  clients_.server().stats.net_input_bytes += size;
  heard_mono_ms_ = clients_.turn().now().mono_ms;
}

void Connection::OnReadError(ssize_t error) {
  if (error == 0 || error == UV_ENOBUFS) return;
  if (error != UV_EOF) return Drop();
  if (filter_ != nullptr) {
    filter_->socket_ended = true;
    if (state_ == State::kOpen && filter_->transport->HasPlaintext()) return clients_.DeliverLater(*this);
  }
  OnEndOfInput();
}

void Connection::OnEndOfInput() {
  clients_.turn().Begin();
  clients_.RunDeferred();
  if (state_ == State::kClosed) return;
  input_ended_ = true;
  if (state_ == State::kEnding) return UpdateReading();  // its replies are still being written
  if (state_ == State::kOpen && TakeEnd()) return UpdateReading();
  if (filter_ != nullptr && state_ == State::kOpen) EndFilter();
  Drop();
}

}  // namespace mayfly::net
