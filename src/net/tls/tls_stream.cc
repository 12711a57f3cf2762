#include "net/tls/tls_stream.h"

#include <array>
#include <utility>

#include "net/socket/limits.h"

namespace mayfly::net {

using State = Transport::State;

bool TlsStream::ended() const noexcept {
  return transport_->state() == State::kEnded || transport_->state() == State::kBroken;
}

std::string TlsStream::Problem() const {
  if (transport_->state() != State::kBroken) return {};
  std::string problem = transport_->RefusesCertificate() ? "certificate verify failed: " : "";
  return problem.append(transport_->Problem());
}

void TlsStream::Receive(std::string_view ciphertext, std::string& plaintext) {
  transport_->Receive(ciphertext);
  begun_ = begun_ || transport_->state() == State::kOpen;
  std::array<char, kRecordBytes> room;
  while (const size_t size = transport_->Read(room)) plaintext.append(room.data(), size);
}

void TlsStream::Send(std::string bytes) {
  const size_t size = bytes.size();
  if (size == 0) return;
  waiting_.push_back(std::move(bytes));
  waiting_bytes_ += size;
}

void TlsStream::End() { transport_->End(); }

// What is on its way goes first: it may be encrypted at a time when nothing else can be, as an alert.
std::string_view TlsStream::ToSend() {
  if (std::string_view bytes = transport_->ToSend(); !bytes.empty()) return bytes;
  while (!waiting_.empty()) {
    const std::string_view next = std::string_view(waiting_.front()).substr(taken_);
    const size_t size = transport_->Write(next);
    if (size == 0) break;
    waiting_bytes_ -= size;
    sealed_bytes_ += size;
    taken_ += size;
    if (size != next.size()) continue;
    waiting_.pop_front();
    taken_ = 0;
  }
  return transport_->ToSend();
}

void TlsStream::Sent(size_t n) noexcept {
  transport_->Sent(n);
  if (transport_->ToSend().empty()) sealed_bytes_ = 0;
}

}  // namespace mayfly::net
