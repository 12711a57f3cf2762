// Arrival, end and time of a connection; the two directions are in connection_input.cc and connection_output.cc.
#include "net/client/connection.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "base/time/clock.h"
#include "net/client/clients.h"
#include "net/socket/address.h"
#include "net/socket/descriptor.h"
#include "server/figures/stats.h"
#include "server/waiting/parking.h"

#include <sys/un.h>

namespace mayfly::net {

Connection::Connection(Clients& clients, Kind kind, OutputChain& output, std::unique_ptr<Transport> transport)
    : clients_(clients), output_(output), kind_(kind) {
  if (transport != nullptr) {
    filter_ = std::make_unique<Filter>();
    filter_->transport = std::move(transport);
  }
  clients_.Remember(*this);
}

Connection::~Connection() = default;

// ---- arrival

int Connection::Accept(uv_loop_t& loop, int descriptor) {
  int error =
      kind_ == Kind::kTcp ? uv_tcp_init(&loop, &socket_.tcp) : uv_pipe_init(&loop, &socket_.pipe, /*ipc=*/0);
  socket_.handle.data = this;
  if (error != 0) {  // there is no handle to close
    CloseDescriptor(descriptor);
    state_ = State::kClosed;
    clients_.Forget(*this);
    delete this;
    return error;
  }
  error =
      kind_ == Kind::kTcp ? uv_tcp_open(&socket_.tcp, descriptor) : uv_pipe_open(&socket_.pipe, descriptor);
  if (error != 0) {
    CloseDescriptor(descriptor);
    Drop();
    return error;
  }
  descriptor_ = descriptor;
  OnAccept(LearnAddresses());
  return 0;
}

Connection::Addresses Connection::LearnAddresses() {
  Addresses addresses;
  if (kind_ == Kind::kUnix) {
    std::string path(sizeof(sockaddr_un::sun_path), '\0');
    size_t size = path.size();
    if (uv_pipe_getsockname(&socket_.pipe, path.data(), &size) != 0) size = 0;
    path.resize(size);
    addresses.local = addresses.peer = path + ":0";
    addresses.peer.shrink_to_fit();
    return addresses;
  }
  sockaddr_storage storage{};
  auto* const address = reinterpret_cast<sockaddr*>(&storage);
  int size = sizeof storage;
  if (uv_tcp_getpeername(&socket_.tcp, address, &size) == 0) {
    addresses.peer = FormatAddress(*address);
    from_loopback_ = IsLoopback(*address);
  }
  size = sizeof storage;
  if (uv_tcp_getsockname(&socket_.tcp, address, &size) == 0) addresses.local = FormatAddress(*address);
  return addresses;
}

// A failure is ignored: the connection works without the option.
void Connection::SetSocketOptions() noexcept {
  if (kind_ != Kind::kTcp) return;
  uv_tcp_nodelay(&socket_.tcp, 1);
  constexpr int kProbes = 3;  // the peer is given up after about twice the option's time
  const auto idle_s = static_cast<int>(clients_.settings().tcp_keepalive_seconds);
  if (idle_s <= 0) return;
  SetKeepAlive(descriptor_,
               {.idle_s = idle_s, .interval_s = std::max(idle_s / kProbes, 1), .probes = kProbes});
}

void Connection::Open() {
  assert(state_ == State::kNew && descriptor_ >= 0);
  SetSocketOptions();
  heard_mono_ms_ = timing_.took_mono_ms = clients_.turn().now().mono_ms;
  OnOpen();
  is_client_ = true;
  clients_.CountIn(*this);
  state_ = State::kOpen;
  if (filter_ != nullptr) filter_->handshake_until_mono_ms = heard_mono_ms_ + kHandshakeMs;
  UpdateReading();
  if (state_ == State::kClosed) return;
  clients_.File(*this);
  if (filter_ != nullptr) WriteFiltered();
}

// A filter could not tell the peer: the handshake has not begun.
void Connection::Refuse(Verdict verdict, bool may_linger) {
  assert(state_ == State::kNew && descriptor_ >= 0);
  state_ = State::kEnding;
  if (verdict == Verdict::kTooMany)
    clients_.Report(Incidents::Kind::kTooManyClients, "refusing client ", name(),
                    is_scraper() ? ": its port serves no more at one time (maxclients, which is "
                                 : ": maxclients, which is ",
                    clients_.settings().maxclients,
                    is_scraper() ? ", does not count there)" : ", is reached");
  else
    clients_.Report(Incidents::Kind::kProtected, "refusing client ", name(),
                    ": protected-mode is on, there is no password, and it is not on this machine");
  if (filter_ != nullptr) return Drop();
  const std::string_view text = RefusalOf(verdict);
  uv_buf_t piece = uv_buf_init(const_cast<char*>(text.data()), static_cast<unsigned>(text.size()));
  // A fresh socket takes these few bytes at once, or the peer has gone already.
  if (uv_try_write(stream(), &piece, 1) < 0 || !may_linger) return Drop();
  Linger();
}

// ---- the end

void Connection::End() {
  if (state_ != State::kOpen) return;
  OnStop();
  UpdateReading();
  Flush();
}

// The descriptor of a closed connection may already belong to another connection.
bool Connection::InputWaits() const noexcept {
  if (state_ == State::kClosed || !reading_) return false;
  if (HasInput(descriptor_)) return true;
  return state_ == State::kOpen && filter_ != nullptr && filter_->transport->HasPlaintext();
}

size_t Connection::UndeliveredBytes() const noexcept {
  // A unix socket keeps our written bytes for the client, whatever happens to our end.
  return waiting_output() + (kind_ == Kind::kTcp ? UnacknowledgedBytes(descriptor_) : 0);
}

// Bytes after a client's last request are read and dropped, even while replies are still being written: the client may want
// to send its whole pipeline before it reads. And closing a socket with unread bytes would reset the connection and might
// lose the last replies.
bool Connection::DropsInput() const noexcept {
  return !input_ended_ && (state_ == State::kLingering ||
                           (state_ == State::kEnding && dropped_bytes_ <= clients_.linger_bytes()));
}

void Connection::OnDroppedInput(size_t size) {
  dropped_bytes_ += static_cast<uint32_t>(size);  // one read at a time, and soon stopped beyond the limit
  heard_mono_ms_ = clients_.turn().now().mono_ms;
  if (dropped_bytes_ <= clients_.linger_bytes()) return;
  state_ == State::kLingering ? Drop() : UpdateReading();
}

void Connection::Leave() noexcept {
  if (!std::exchange(is_client_, false)) return;
  clients_.CountOut(*this);
  OnLeave();
}

// All replies are written, and the server is done. Ending the output tells the client.
void Connection::Linger() {
  if (!clients_.MayLinger() || !EndOutput(descriptor_)) return Drop();
  Leave();
  SetThrottled(false);
  state_ = State::kLingering;
  clients_.BeginLinger();
  timing_.linger_until_mono_ms =
      clients_.turn().now().mono_ms + (clients_.ending() ? kStopSilenceMs : kLingerMs);
  Account();
  clients_.File(*this);
  UpdateReading();
}

void Connection::Drop() {
  if (state_ == State::kClosed) return;
  clients_.turn().Begin();
  if (state_ == State::kLingering) clients_.EndLinger();
  Leave();
  SetThrottled(false);
  clients_.Unfile(*this);
  if (filter_ != nullptr) clients_.ForgetWaiting(*this);
  state_ = State::kClosed;
  UpdateWatch();
  SetBooked({});
  uv_close(&socket_.handle, [](uv_handle_t* handle) {
    Connection& connection = Of(handle->data);
    connection.clients_.Forget(connection);
    delete &connection;
  });
}

void Connection::CloseSpare() {
  clients_.log().Verbose("closing idle client ", name(), ": another one needs its place");
  Drop();
}

void Connection::DropForMemory(std::string_view of_what) {
  clients_.Report(Incidents::Kind::kNoMemory, "closing client ", name(), ": out of memory for ", of_what);
  Drop();
}

void Connection::Book(const Booked& now) noexcept {
  if (filter_ == nullptr) [[likely]]
    return SetBooked(now);
  SetBooked({.client = now.client + filter_->transport->memory(),
             .arriving = now.arriving,
             .announced = now.announced,
             .output = now.output + filter_->to_send(),
             .held = now.held});
}

void Connection::BookArriving(size_t size) noexcept {
  Stats& stats = clients_.server().stats;
  stats.arriving_bytes += size;
  stats.announced_bytes -= size;
  booked_.arriving += size;
  booked_.announced -= size;
}

void Connection::SetBooked(const Booked& now) noexcept {
  if (now == booked_) [[likely]]
    return;
  Stats& stats = clients_.server().stats;
  stats.client_bytes += now.client - booked_.client;
  stats.held_bytes += now.held - booked_.held;
  stats.arriving_bytes += now.arriving - booked_.arriving;
  stats.announced_bytes += now.announced - booked_.announced;
  clients_.BookOutput(now.output - booked_.output);
  booked_ = now;
}

// ---- time

uint64_t Connection::NextDeadline() const noexcept {
  if (state_ == State::kLingering) return timing_.linger_until_mono_ms;
  if (HandshakeWaits()) return ParkingLot::kForever;  // waits for this server, not for the client
  uint64_t deadline = SilentUntil();
  if (above_soft_since_mono_ms_ != 0) {
    const auto soft = static_cast<uint64_t>(LimitOfOutput().soft_seconds);
    deadline = std::min(deadline, above_soft_since_mono_ms_ + soft * kMsPerSecond);
  }
  if (throttled_) deadline = std::min(deadline, timing_.took_mono_ms + kStalledMs);
  if (ShakesHands()) deadline = std::min(deadline, filter_->handshake_until_mono_ms);
  return deadline;
}

uint64_t Connection::SilentUntil() const noexcept {
  const auto timeout = static_cast<uint64_t>(clients_.settings().timeout_seconds);
  return timeout != 0 ? heard_mono_ms_ + timeout * kMsPerSecond : ParkingLot::kForever;
}

uint64_t Connection::SpareSince() const noexcept { return ParkingLot::kForever; }

void Connection::OnTime(uint64_t now_mono_ms) {
  if (state_ == State::kLingering) {
    // A stopping server has one bound for all connections together.
    const bool silent = now_mono_ms - heard_mono_ms_ >= kStopSilenceMs && UndeliveredBytes() == 0;
    if (!clients_.ending() || silent) return Drop();
    timing_.linger_until_mono_ms = now_mono_ms + kStopSilenceMs;
    return clients_.File(*this);
  }
  if (EnforceOutputLimit(LimitOfOutput())) return;
  NoticeReading();
  if (throttled_) {
    Throttle();
    UpdateReading();
    if (state_ == State::kClosed) return;
  }
  if (NextDeadline() > now_mono_ms) return clients_.File(*this);  // there was traffic meanwhile
  if (ShakesHands()) return DropForHandshake("it was not finished in time");
  if (MayBeSilent()) {  // the idle time begins anew
    heard_mono_ms_ = now_mono_ms;
    return clients_.File(*this);
  }
  clients_.log().Verbose("closing idle client ", name());
  Drop();
}

}  // namespace mayfly::net
