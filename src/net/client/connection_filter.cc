// The part of Connection for both directions through a filter between socket and service. See net/socket/transport.h.
//
// A read brings ciphertext, and the resulting plaintext is handed over at once, as much as fits into the memory lent by the
// service. The rest waits in the filter until the next turn (Clients::DeliverLater), and the socket is not read before the
// filter is empty. A client thus gets no more of a turn than a client without a filter. A handshake does not go on in this
// turn once handshakes have taken long enough (limits.h): its bytes wait in the kernel, and the connections wait in a line
// (Clients::Postpone). Time in this line does not count as the client's.
//
// A socket that must not be read is not polled either (Filter::unpolled). Otherwise each poll would report the socket again,
// and with a thousand such sockets libuv polls many times in a turn.
#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "base/memory/output.h"
#include "base/time/tsc.h"
#include "net/client/clients.h"
#include "net/client/connection.h"
#include "net/socket/descriptor.h"
#include "server/figures/stats.h"

namespace mayfly::net {

const Connection::ReadCalls Connection::kFilteredReadCalls = {
    [](uv_handle_t* handle, size_t, uv_buf_t* buffer) { *buffer = Of(handle->data).LendForCiphertext(); },
    [](uv_stream_t* stream, ssize_t n, const uv_buf_t* buffer) {
      Connection& connection = Of(stream->data);
      if (n == UV_ENOBUFS) return connection.OnNothingLent();
      if (n <= 0) return connection.OnReadError(n);
      const auto size = static_cast<size_t>(n);
      if (connection.state_ != State::kOpen) return connection.OnDroppedInput(size);
      connection.OnCiphertext({buffer->base, size});
      connection.clients_.EndTurnIfFull();
    }};

// ---- input

// The filter copies bytes that are no plaintext yet, so the ciphertext may lie at the place of the plaintext.
uv_buf_t Connection::LendForCiphertext() {
  const bool full = state_ == State::kOpen && filter_->transport->HasPlaintext();
  if (full || HandshakeMustWait() || !BeginRead()) return uv_buf_init(nullptr, 0);
  return uv_buf_init(LendToDrop(), kReadBufferBytes);
}

void Connection::OnNothingLent() {
  if (state_ != State::kOpen) return;
  if (filter_->transport->HasPlaintext()) return StopPolling();  // until AfterHandOver finds the filter empty
  if (!HandshakeMustWait()) return;                              // already read in this turn
  StopPolling();
  filter_->waits_since_mono_ms = clients_.turn().now().mono_ms;
  clients_.Postpone(*this);
  UpdateWatch();
  clients_.File(*this);
}

void Connection::StopPolling() {
  filter_->unpolled = true;
  uv_read_stop(stream());
}

void Connection::PollAgain() {
  if (!std::exchange(filter_->unpolled, false)) return;
  if (reading_ && !filter_->socket_ended) StartReading();
}

bool Connection::HandshakeMustWait() noexcept {
  return state_ == State::kOpen && ShakesHands() &&
         (clients_.HandshakesWait() || !clients_.HandshakesMayGoOn());
}

void Connection::LeaveHandshakes() {
  if (HandshakeWaits()) {
    clients_.ForgetHandshake(*this);
    filter_->handshake_until_mono_ms += clients_.turn().now().mono_ms - filter_->waits_since_mono_ms;
    UpdateWatch();
    clients_.File(*this);
  }
  PollAgain();
}

// Reads here and not by libuv, to keep the order of the waiting handshakes.
void Connection::ResumeHandshake() {
  LeaveHandshakes();
  if (state_ != State::kOpen || !reading_) return;
  static_cast<void>(BeginRead());
  const std::span<char> room(LendToDrop(), kReadBufferBytes);
  const ssize_t size = ReadFrom(descriptor_, room);
  if (size > 0) return OnCiphertext({room.data(), static_cast<size_t>(size)});
  if (size == 0) return OnReadError(UV_EOF);
  if (errno != EAGAIN && errno != EINTR) Drop();
}

void Connection::OnCiphertext(std::string_view bytes) {
  clients_.turn().Begin();
  heard_mono_ms_ = clients_.turn().now().mono_ms;
  const bool shakes_hands = ShakesHands();
  const bool all_sent = filter_->to_send() == 0;
  const uint64_t began = shakes_hands ? ReadCycles() : 0;
  try {
    filter_->transport->Receive(bytes);
  } catch (const std::bad_alloc&) {
    return DropForMemory("its requests");
  }
  if (shakes_hands) {
    clients_.SpendOnHandshakes(ReadCycles() - began);
    if (filter_->transport->state() == Transport::State::kBroken) {
      if (write_ == nullptr) WriteFiltered();  // the filter may have told the peer why
      return DropForHandshake(filter_->transport->Problem());
    }
    // The client has been answered and has to go on. This happens a few times at most, whatever the client sends.
    if (all_sent && filter_->to_send() != 0) filter_->handshake_until_mono_ms = heard_mono_ms_ + kHandshakeMs;
  }
  if (write_ == nullptr) WriteFiltered();  // the filter's own answer
  HandOver();
}

void Connection::Deliver() {
  assert(filter_ != nullptr);
  if (state_ != State::kOpen || !reading_) return;  // UpdateReading lists the connection again
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

// A filter that is broken or at its end may still hold earlier plaintext.
void Connection::AfterHandOver() {
  if (state_ != State::kOpen) return;
  const Transport& transport = *filter_->transport;
  if (transport.HasPlaintext()) return clients_.DeliverLater(*this);
  if (transport.state() == Transport::State::kBroken) {
    clients_.log().Verbose("closing client ", name(), ": ", transport.Problem());
    if (write_ == nullptr) WriteFiltered();  // the filter may have told the peer why
    return Drop();
  }
  if (filter_->socket_ended || transport.state() == Transport::State::kEnded) return OnEndOfInput();
  PollAgain();
  if (state_ != State::kOpen) return;
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
// Each write to TLS is a record, and costs a microsecond beside the bytes. Small pieces are therefore joined.
bool Connection::Seal() {
  Transport& transport = *filter_->transport;
  try {
    while (!output_.empty() && filter_->to_send() < kSealedBytes) {
      std::array<OutputPiece, kPiecesPerWrite> pieces;
      const size_t count = output_.Gather(pieces);
      std::string_view next(pieces[0].data, pieces[0].size);
      std::array<char, kRecordBytes> joined;  // unused if one piece is enough
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

// Everything is written: tells the peer. True if the filter's end is sent, too.
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
