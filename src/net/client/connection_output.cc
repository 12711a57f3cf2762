// The part of Connection for writing replies to the socket.
#include <array>
#include <new>
#include <span>
#include <type_traits>

#include "base/time/clock.h"
#include "net/client/clients.h"
#include "net/client/connection.h"
#include "net/socket/descriptor.h"
#include "server/figures/stats.h"

namespace mayfly::net {
namespace {

// What libuv writes as the socket drains.
struct Pieces {
  std::array<uv_buf_t, kPiecesPerWaitingWrite> buffers;
  unsigned count = 0;
  size_t bytes = 0;
};

Pieces GatherFrom(const OutputChain& output) noexcept {
  std::array<OutputPiece, kPiecesPerWaitingWrite> found;
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

void Connection::Write() {
  if (filter_ != nullptr) [[unlikely]]
    return WriteFiltered();
  while (!output_.empty()) {
    std::array<OutputPiece, kPiecesPerWrite> room;
    const std::span<const OutputPiece> pieces = std::span(room).first(output_.Gather(room));
    size_t asked = 0;
    for (const OutputPiece& piece : pieces) asked += piece.size;
    const ssize_t written = WriteTo(descriptor_, pieces);
    if (written < 0) return Drop();
    const auto size = static_cast<size_t>(written);
    CountOutput(size);
    if (size < asked) return WriteLater();
  }
}

void Connection::CountOutput(size_t size) noexcept {
  output_.Consume(size);
  clients_.server().stats.net_output_bytes += size;
  written_bytes_ += size;
}

// The kernel takes no more for now. The bytes of this write stay in place until OnWritten, whatever is appended.
void Connection::WriteLater() {
  static_assert(kPiecesPerWaitingWrite <= std::extent_v<decltype(uv_write_t::bufsml)>);
  Pieces pieces;
  if (filter_ == nullptr) {
    pieces = GatherFrom(output_);
  } else {
    const std::string_view sealed = filter_->transport->ToSend();
    pieces.buffers[0] = uv_buf_init(const_cast<char*>(sealed.data()), static_cast<unsigned>(sealed.size()));
    pieces.count = 1;
    pieces.bytes = sealed.size();
  }
  write_.reset(new (std::nothrow) WaitingWrite);
  if (write_ == nullptr) return DropForMemory("its replies");
  write_->request.data = this;
  write_->bytes = pieces.bytes;
  const auto done = [](uv_write_t* request, int status) { Of(request->data).OnWritten(status); };
  if (uv_write(&write_->request, stream(), pieces.buffers.data(), pieces.count, done) != 0) {
    write_.reset();
    Drop();
  }
}

void Connection::OnWritten(int status) {
  const size_t bytes = write_->bytes;
  write_.reset();
  if (state_ == State::kClosed) return;
  if (status != 0) return Drop();
  clients_.turn().Begin();
  if (filter_ == nullptr) {
    CountOutput(bytes);
  } else {
    filter_->transport->Sent(bytes);
    filter_->sent_bytes += bytes;
  }
  Flush();
}

void Connection::FollowLastOutput() {
  if (filter_ != nullptr) LeaveHandshakes();
  if (!output_.empty() || (filter_ != nullptr && !EndFilter())) return Unthrottle();
  input_ended_ ? Drop() : Linger();
}

void Connection::NoticeReading() noexcept {
  const size_t under_way = write_ == nullptr ? 0 : write_->bytes - uv_stream_get_write_queue_size(stream());
  const uint64_t taken = (filter_ == nullptr ? written_bytes_ : filter_->sent_bytes) + under_way;
  if (taken == taken_bytes_) return;
  taken_bytes_ = taken;
  heard_mono_ms_ = timing_.took_mono_ms = clients_.turn().now().mono_ms;
}

void Connection::Throttle() {
  const bool reads = clients_.turn().now().mono_ms - timing_.took_mono_ms < kStalledMs;
  const size_t much = throttled_ ? kOutputOwnBytes / 2 : kOutputOwnBytes;
  const bool wanted = reads && output_.size() > much && (throttled_ || clients_.Crowded());
  if (wanted == throttled_) return;
  SetThrottled(wanted);
  if (wanted) clients_.File(*this);
}

void Connection::SetThrottled(bool throttled) noexcept {
  if (throttled == throttled_) return;
  throttled_ = throttled;
  clients_.CountThrottled(throttled);
}

void Connection::Unthrottle() {
  if (state_ == State::kClosed) return;
  SetThrottled(false);
  UpdateReading();
}

const config::OutputLimit& Connection::LimitOfOutput() const noexcept {
  return clients_.settings().client_output_buffer_limit.normal;
}

// From the first look above the soft limit the time runs.
bool Connection::HasBeenAboveSoft(uint64_t ms) {
  const uint64_t now = clients_.turn().now().mono_ms;
  if (above_soft_since_mono_ms_ != 0) return now - above_soft_since_mono_ms_ >= ms;
  above_soft_since_mono_ms_ = now;
  clients_.File(*this);
  return false;
}

[[gnu::noinline, gnu::cold]] bool Connection::DropIfTooMuch(const config::OutputLimit& limit,
                                                            bool is_above_hard, bool is_above_soft) {
  const uint64_t soft_ms = static_cast<uint64_t>(limit.soft_seconds) * kMsPerSecond;
  if (!is_above_hard && !(is_above_soft && HasBeenAboveSoft(soft_ms))) return false;
  const size_t waiting = waiting_output();
  const bool by_pool = limit.hard_bytes == 0 || waiting < limit.hard_bytes;
  DropForOutput(IsStranger() ? "more than a client that has not logged in may"
                : by_pool && output_.full()
                    ? "more than maxmemory leaves for the unread replies of all clients"
                    : "more than client-output-buffer-limit");
  return true;
}

void Connection::DropForOutput(const char* why) {
  ++clients_.server().stats.output_limit_disconnections;
  const size_t waiting = waiting_output();
  // The count excludes a reply that was ended before it was written (OutputChain::RequireRoom).
  const bool begun = !output_.full() || waiting >= output_.limit();
  clients_.Report(Incidents::Kind::kUnreadReplies, "closing client ", name(), ": it holds ", waiting,
                  " bytes of unread replies, ", begun ? "" : "and one more would be ", why);
  Drop();
}

void Connection::Evict() {
  ++clients_.server().stats.evicted_clients;
  clients_.Report(Incidents::Kind::kClientMemory, "closing client ", name(), ": it holds ", booked_.held,
                  " bytes of ", clients_.server().stats.held_bytes,
                  " that all clients hold, which is more than maxmemory-clients");
  Drop();
}

void Connection::ReportExempt() {
  clients_.Report(Incidents::Kind::kOnlyExempt, "client ", name(), " holds ", booked_.held, " bytes of ",
                  clients_.server().stats.held_bytes,
                  " that all clients hold: that is more than maxmemory-clients, and those that have said "
                  "CLIENT NO-EVICT are "
                  "not closed, so a quarter of it is left to the others");
}

}  // namespace mayfly::net
