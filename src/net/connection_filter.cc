// Both directions of a connection with a filter between socket and service: see net/transport.h.
//
// A read brings ciphertext, and what it comes to is handed over at once, as much as the service has lent memory for.
// The rest waits in the filter until the next turn (Clients::DeliverLater), and the socket is not read from before the
// filter is empty. So a client gets no more of a turn than one without a filter. A handshake does not go on in this turn
// once handshakes have taken long enough (limits.h): what arrives waits in the kernel.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <new>
#include <span>

#include "base/output.h"
#include "base/tsc.h"
#include "net/clients.h"
#include "net/connection.h"
#include "server/stats.h"

namespace mayfly::net {

const Connection::ReadCalls Connection::kFilteredReadCalls = {
    [](uv_handle_t* handle, size_t, uv_buf_t* buffer) { *buffer = Of(handle->data).LendForCiphertext(); },
    [](uv_stream_t* stream, ssize_t n, const uv_buf_t* buffer) {
      Connection& connection = Of(stream->data);
      if (n <= 0) return connection.OnReadError(n);
      const auto size = static_cast<size_t>(n);
      if (connection.state_ != State::kOpen) return connection.OnDroppedInput(size);
      connection.OnCiphertext({buffer->base, size});
      connection.clients_.EndTurnIfFull();
    }};

// ---- input

// The filter copies what it cannot turn into plaintext yet, so the ciphertext lies where the plaintext will be.
uv_buf_t Connection::LendForCiphertext() {
  const bool full = state_ == State::kOpen && filter_->transport->HasPlaintext();
  const bool later = ShakesHands() && !clients_.HandshakesMayGoOn();
  if (full || later || !BeginRead()) return uv_buf_init(nullptr, 0);
  return uv_buf_init(LendToDrop(), kReadBufferBytes);
}

void Connection::OnCiphertext(std::string_view bytes) {
  heard_mono_ms_ = clients_.turn().now().mono_ms;
  const bool shakes_hands = ShakesHands();
  const uint64_t began = shakes_hands ? ReadCycles() : 0;
  try {
    filter_->transport->Receive(bytes);
  } catch (const std::bad_alloc&) {
    return DropForMemory("its requests");
  }
  if (shakes_hands) {
    clients_.SpendOnHandshakes(ReadCycles() - began);
    if (filter_->transport->state() == Transport::State::kBroken) {
      if (write_ == nullptr) WriteFiltered();  // it may have told the peer why
      return DropForHandshake(filter_->transport->Problem());
    }
  }
  if (write_ == nullptr) WriteFiltered();  // an answer of the filter's own
  HandOver();
}

void Connection::Deliver() {
  assert(filter_ != nullptr);
  if (state_ != State::kOpen || !reading_) return;  // UpdateReading lists it again
  if (!filter_->transport->HasPlaintext()) return AfterHandOver();
  if (!BeginRead()) return clients_.DeliverLater(*this);
  HandOver();
}

void Connection::HandOver() {
  if (state_ != State::kOpen) return;
  Transport& transport = *filter_->transport;
  if (transport.HasPlaintext()) {
    std::span<char> room;
    try {
      room = LendInput();
    } catch (const std::bad_alloc&) {  // there may be memory in the next turn
    }
    const size_t size = room.empty() ? 0 : transport.Read(room);
    if (size != 0) {
      CountInput(size);
      TakeInput(room.first(size));
    }
  }
  AfterHandOver();
}

// A filter that is broken or at its end may still hold plaintext from before.
void Connection::AfterHandOver() {
  if (state_ != State::kOpen) return;
  const Transport& transport = *filter_->transport;
  if (transport.HasPlaintext()) return clients_.DeliverLater(*this);
  if (transport.state() == Transport::State::kBroken) {
    clients_.log().Verbose("closing client ", name(), ": ", transport.Problem());
    if (write_ == nullptr) WriteFiltered();  // it may have told the peer why
    return Drop();
  }
  if (filter_->socket_ended || transport.state() == Transport::State::kEnded) return OnEndOfInput();
  Account();
}

void Connection::DropForHandshake(std::string_view why) {
  if (state_ == State::kClosed) return;
  ++clients_.server().stats.tls.handshakes_failed;
  clients_.Report(Incidents::Kind::kHandshake, "closing client ", name(), ": TLS handshake: ", why);
  Drop();
}

// ---- output

void Connection::WriteFiltered() {
  while (state_ != State::kClosed && Seal()) {
    const std::string_view sealed = filter_->transport->ToSend();
    if (sealed.empty()) return;
    uv_buf_t piece = uv_buf_init(const_cast<char*>(sealed.data()), static_cast<unsigned>(sealed.size()));
    int written = uv_try_write(stream(), &piece, 1);
    if (written == UV_EAGAIN) written = 0;
    if (written < 0) return Drop();
    const auto size = static_cast<size_t>(written);
    filter_->transport->Sent(size);
    filter_->sent_bytes += size;
    if (size < sealed.size()) return WriteLater();
  }
}

// Moves replies into the filter, but not many more than the kernel may take at once. False if the client was dropped.
//
// Each write to TLS is a record, and costs a microsecond beside its bytes. So small pieces are put together.
bool Connection::Seal() {
  Transport& transport = *filter_->transport;
  try {
    while (!output_.empty() && filter_->to_send() < kSealedBytes) {
      std::array<OutputPiece, kPiecesPerWrite> pieces;
      const size_t count = output_.Gather(pieces);
      std::string_view next(pieces[0].data, pieces[0].size);
      std::array<char, kRecordBytes> joined;  // left as it is, if one piece is enough
      if (count > 1 && next.size() < joined.size()) {
        size_t size = 0;
        for (size_t i = 0; i < count && size < joined.size(); ++i) {
          const size_t part = std::min(pieces[i].size, joined.size() - size);
          std::memcpy(joined.data() + size, pieces[i].data, part);
          size += part;
        }
        next = {joined.data(), size};
      }
      const size_t taken = transport.Write(next);
      if (taken == 0) return true;
      CountOutput(taken);
    }
  } catch (const std::bad_alloc&) {
    DropForMemory("its replies");
    return false;
  }
  return true;
}

// Everything is written: says so. True if that is sent, too.
bool Connection::EndFilter() {
  Transport& transport = *filter_->transport;
  const bool ready =
      transport.state() == Transport::State::kOpen || transport.state() == Transport::State::kEnded;
  if (ready && !filter_->said_end) {
    filter_->said_end = true;
    try {
      transport.End();
    } catch (const std::bad_alloc&) {
      DropForMemory("its replies");
      return false;
    }
  }
  if (write_ == nullptr) WriteFiltered();
  return state_ != State::kClosed && write_ == nullptr && filter_->to_send() == 0;
}

}  // namespace mayfly::net
