#include "sim/link.h"

#include <algorithm>
#include <type_traits>

#include "sim/world.h"

namespace mayfly::sim {
namespace {

template <typename To>
void Move(ByteQueue& from, To& to, size_t n) {
  const std::string_view moved = from.view().substr(0, n);
  if constexpr (std::is_same_v<To, ByteQueue>)
    to.Append(moved);
  else
    to.append(moved);
  from.RemovePrefix(n);
}

}  // namespace

// ---- the program's side

ssize_t Link::Read(char* to, size_t room) {
  if (inbound_.empty()) {
    if (reset_by_peer_) return UV_ECONNRESET;
    return EndReached() ? 0 : UV_EAGAIN;
  }
  size_t size = std::min(room, inbound_.size());
  if (short_transfers && choices_.OneIn(2)) size = choices_.Between(1, size);
  inbound_.view().copy(to, size);
  inbound_.RemovePrefix(size);
  ++read_calls;
  return static_cast<ssize_t>(size);
}

ssize_t Link::Write(const std::vector<uv_buf_t>& pieces, uint64_t turn) {
  World::Current().PayWrite();
  size_t asked = 0;
  for (const uv_buf_t& piece : pieces) asked += piece.len;
  const auto take = [&]() -> ssize_t {
    if (reset_by_peer_) return UV_ECONNRESET;
    if (output_ended_) return UV_EPIPE;
    if (peer_left_) {
      reset_by_peer_ = true;
      return static_cast<ssize_t>(asked);
    }
    const size_t room = send_capacity - std::min(send_capacity, outbound_.size());
    if (room == 0) return UV_EAGAIN;
    size_t size = std::min(room, asked);
    if (short_transfers && choices_.OneIn(4)) size = choices_.Between(1, size);
    size_t left = size;
    for (const uv_buf_t& piece : pieces) {
      const size_t taken = std::min(left, piece.len);
      outbound_.Append({piece.base, taken});
      left -= taken;
    }
    return static_cast<ssize_t>(size);
  };
  const ssize_t taken = take();
  write_calls.push_back({.turn = turn, .asked = asked, .taken = taken});
  return taken;
}

bool Link::EndOutput() {
  if (reset_by_peer_ || peer_left_) return false;
  output_ended_ = true;
  return true;
}

void Link::Close() {
  closed_ = true;
  if (unread_by_program() != 0) ResetPeer();
}

void Link::ResetPeer() noexcept {
  reset_by_program_ = true;
  outbound_.Clear();
  inbound_.Clear();
  unsent_.Clear();
}

// ---- the peer's side

void Link::Send(std::string_view bytes) {
  if (reset_by_program_) return;
  if (closed_) return ResetPeer();
  unsent_.Append(bytes);
}

std::string Link::TakeOutput(size_t most) {
  std::string bytes;
  Move(outbound_, bytes, std::min(most, outbound_.size()));
  return bytes;
}

void Link::Reset() noexcept {
  reset_by_peer_ = true;
  unsent_.Clear();
  outbound_.Clear();
}

void Link::Leave() noexcept {
  ended_by_peer_ = true;
  peer_left_ = true;
  // Closing a socket with unread bytes resets the connection at once.
  if (!outbound_.empty()) Reset();
}

// ---- the network

void Link::Pump(uint64_t now_ns) {
  const size_t room = receive_capacity - std::min(receive_capacity, inbound_.size());
  if (!unsent_.empty() && room != 0) Move(unsent_, inbound_, std::min(room, unsent_.size()));
  if (outbound_.empty() || rate_ == kAtOnce) {
    Move(outbound_, arrived_, outbound_.size());
    pumped_ns_ = now_ns;
    return;
  }
  const uint64_t elapsed_ms = (now_ns - pumped_ns_) / kNsPerMs;
  pumped_ns_ += elapsed_ms * kNsPerMs;
  Move(outbound_, arrived_, std::min<uint64_t>(outbound_.size(), rate_ * elapsed_ms));
}

uint64_t Link::NextPumpNs() const noexcept {
  if (outbound_.empty() || rate_ == 0 || rate_ == kAtOnce) return UINT64_MAX;
  return pumped_ns_ + kNsPerMs;
}

}  // namespace mayfly::sim
