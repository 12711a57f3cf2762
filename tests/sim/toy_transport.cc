#include "sim/toy_transport.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mayfly::sim {
namespace {

constexpr size_t kHeader = 3;

void Veil(std::string& bytes, size_t& place) {
  for (char& c : bytes) c = static_cast<char>(c ^ (0x5A + place++ % 97));
}

size_t SizeAt(std::string_view record) {
  return static_cast<unsigned char>(record[1]) | size_t{static_cast<unsigned char>(record[2])} << 8;
}

std::string Pack(char kind, std::string payload, size_t& place) {
  Veil(payload, place);
  const size_t size = payload.size();
  return std::string{kind, static_cast<char>(size & 0xFF), static_cast<char>(size >> 8)} + payload;
}

// The equal bytes at the front.
size_t RunOf(std::string_view bytes) {
  const size_t other = bytes.find_first_not_of(bytes.front());
  return std::min(other == std::string_view::npos ? bytes.size() : other, ToyTransport::kRunMax);
}

}  // namespace

ToyTransport::ToyTransport(Side side) : side_(side) {
  if (side_ == Side::kClient) Add(kHandshakeKind, kHello);
}

size_t ToyTransport::memory() const noexcept {
  return received_.capacity() + plaintext_.capacity() + sending_.capacity() + next_.capacity();
}

std::string ToyTransport::Record(char kind, std::string_view payload) {
  size_t place = 0;
  return Pack(kind, std::string(payload), place);
}

// ---- from the socket

void ToyTransport::Receive(std::string_view ciphertext) {
  received_ += ciphertext;
  size_t at = 0;
  while (state_ != State::kBroken && received_.size() - at >= kHeader) {
    const std::string_view rest = std::string_view(received_).substr(at);
    const size_t size = SizeAt(rest);
    if (rest.size() < kHeader + size) break;
    std::string payload(rest.substr(kHeader, size));
    Veil(payload, unveiled_);
    Take(rest.front(), payload);
    at += kHeader + size;
  }
  received_.erase(0, at);
}

void ToyTransport::Take(char kind, const std::string& payload) {
  const bool open = state_ == State::kOpen;
  if (kind == kHandshakeKind && state_ == State::kHandshake) return TakeHandshake(payload);
  if (kind == kDataKind && open) {
    plaintext_ += payload;
  } else if (kind == kRunKind && open && payload.size() == 3) {
    plaintext_.append(SizeAt(payload), payload[0]);
  } else if (kind == kEndKind && open) {
    state_ = State::kEnded;
  } else {
    Break(kind == kAlertKind ? payload : "a wrong record");
  }
}

void ToyTransport::TakeHandshake(const std::string& payload) {
  if (payload != (side_ == Side::kServer ? kHello : kWelcome)) return Break("a wrong hello");
  state_ = State::kOpen;
  if (side_ == Side::kServer) Add(kHandshakeKind, kWelcome);
}

void ToyTransport::Break(std::string_view problem) {
  state_ = State::kBroken;
  problem_ = problem;
  Add(kAlertKind, problem);
}

size_t ToyTransport::Read(std::span<char> room) noexcept {
  const size_t size = std::min(room.size(), plaintext_.size() - read_);
  std::memcpy(room.data(), plaintext_.data() + read_, size);
  read_ += size;
  if (read_ == plaintext_.size()) {
    plaintext_.clear();
    read_ = 0;
  }
  return size;
}

// ---- to the socket

size_t ToyTransport::Write(std::string_view plaintext) {
  if (side_ == Side::kServer && state_ != State::kOpen && state_ != State::kEnded) return 0;
  const size_t run = RunOf(plaintext);
  if (run >= kPayloadMax) {
    Add(kRunKind, std::string{plaintext.front(), static_cast<char>(run & 0xFF), static_cast<char>(run >> 8)});
    return run;
  }
  const std::string_view piece = plaintext.substr(0, kPayloadMax);
  Add(kDataKind, piece);
  return piece.size();
}

void ToyTransport::End() { Add(kEndKind, {}); }

void ToyTransport::Add(char kind, std::string_view payload) {
  next_ += Pack(kind, std::string(payload), veiled_);
}

std::string_view ToyTransport::ToSend() noexcept {
  if (sent_ == sending_.size()) {
    sending_.clear();
    std::swap(sending_, next_);
    sent_ = 0;
  }
  return std::string_view(sending_).substr(sent_);
}

}  // namespace mayfly::sim
