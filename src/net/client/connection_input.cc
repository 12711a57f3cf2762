// The part of Connection for reading from the socket into the service.
#include "net/client/clients.h"
#include "net/client/connection.h"
#include "server/figures/stats.h"

namespace mayfly::net {

void Connection::SetReading(bool wanted) {
  if (wanted && reading_) return;
  UpdateWatch();
  if (wanted == reading_) return;
  reading_ = wanted;
  if (!wanted) {
    uv_read_stop(stream());
    return;
  }
  if (filter_ != nullptr) clients_.DeliverLater(*this);  // plaintext in the filter may have had to wait
  StartReading();
}

void Connection::StartReading() {
  if (filter_ != nullptr && filter_->unpolled) return;  // PollAgain will start reading
  const ReadCalls& calls = filter_ != nullptr ? kFilteredReadCalls : read_calls();
  if (!clients_.FindRoomToWatch(descriptor_) || uv_read_start(stream(), calls.lend, calls.take) != 0) Drop();
}

// ---- a peer that goes while nothing is read from it

void Connection::UpdateWatch() noexcept {
  const bool unanswered = HandshakeWaits() && filter_->sent_bytes == 0;
  const bool wanted =
      state_ == State::kOpen && !input_ended_ && (unanswered || (input_full_ && IsHeldBack()));
  if (wanted == watched_) return;
  if (wanted)
    watched_ = clients_.end_watch().Add(descriptor_, *this);
  else
    watched_ = (clients_.end_watch().Remove(descriptor_), false);
}

// As if the end had been read: see OnEndOfInput. If the wait of the client has ended in this turn, the rest of the input is
// read, and then its end.
void Connection::OnPeerGone() {
  clients_.turn().Begin();
  clients_.RunDeferred();
  clients_.RunWoken();
  if (state_ != State::kOpen) return;
  if (!HandshakeWaits()) {
    input_full_ = IsHeldBack();
    UpdateReading();
    if (state_ != State::kOpen || !watched_) return;
  }
  input_ended_ = true;
  if (filter_ != nullptr) EndFilter();
  Drop();
}

// ---- reading

bool Connection::BeginRead() noexcept {
  Turn& turn = clients_.turn();
  turn.BeginReading();
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
  if (state_ == State::kEnding) return UpdateReading();  // the replies are still being written
  if (state_ == State::kOpen && TakeEnd()) return UpdateReading();
  if (filter_ != nullptr && state_ == State::kOpen) EndFilter();
  Drop();
}

}  // namespace mayfly::net
