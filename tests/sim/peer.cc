#include "sim/peer.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace mayfly::sim {

Peer::Peer(std::shared_ptr<Link> link, std::unique_ptr<net::Transport> transport)
    : link_(std::move(link)), transport_(std::move(transport)) {
  if (transport_ != nullptr) SendSealed();
}

void Peer::Send(std::string_view bytes) {
  if (transport_ == nullptr) return link_->Send(bytes);
  while (!bytes.empty()) bytes.remove_prefix(transport_->Write(bytes));
  SendSealed();
}

void Peer::SayEnd() {
  if (transport_ == nullptr) return;
  transport_->End();
  SendSealed();
}

void Peer::SendSealed() const {
  for (std::string_view sealed; !(sealed = transport_->ToSend()).empty(); transport_->Sent(sealed.size()))
    link_->Send(sealed);
}

std::string& Peer::Received() const {
  if (transport_ == nullptr) return link_->arrived();
  transport_->Receive(std::exchange(link_->arrived(), {}));
  std::array<char, 4096> room;
  while (transport_->HasPlaintext()) plaintext_.append(room.data(), transport_->Read(room));
  return plaintext_;
}

size_t Peer::MostWritesInATurn() const {
  std::map<uint64_t, size_t> writes;
  size_t most = 0;
  for (const Link::WriteCall& call : link_->write_calls) most = std::max(most, ++writes[call.turn]);
  return most;
}

std::vector<size_t> Peer::Writes() const {
  std::vector<size_t> sizes;
  for (const Link::WriteCall& call : link_->write_calls) {
    if (call.taken > 0) sizes.push_back(static_cast<size_t>(call.taken));
  }
  return sizes;
}

}  // namespace mayfly::sim
