// A simulated client: the other end of a connection. It reads everything at once, unless a test makes it slow.
// Nothing that it does reaches the program before the loop polls. With a transport (the client's side of one) what it
// sends and has received is plaintext.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/socket/transport.h"
#include "sim/link.h"
#include "support/reply.h"

namespace mayfly::sim {

class Peer {
 public:
  explicit Peer(std::shared_ptr<Link> link, std::unique_ptr<net::Transport> transport = nullptr);
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() { Leave(); }

  // ---- what it does
  void Send(std::string_view bytes);
  // A request as a client library sends it.
  void Request(const std::vector<std::string>& words) { Send(testing::EncodeRequest(words)); }
  // Sends nothing more, but still reads.
  void EndInput() {
    SayEnd();
    link_->EndInput();
  }
  // The end of its input as its transport says it; the socket stays open.
  void SayEnd();
  // Resets the connection: bytes that are under way are lost.
  void Reset() { link_->Reset(); }
  // Closes its socket.
  void Leave() {
    if (!gone_) link_->Leave();
    gone_ = true;
  }
  void ReadNothing() { link_->set_rate(0); }
  void ReadPerMs(size_t bytes) { link_->set_rate(bytes); }
  void ReadAll() { link_->set_rate(Link::kAtOnce); }

  // ---- what it has seen
  // All bytes that it has read since the last Take.
  const std::string& received() const { return Received(); }
  std::string Take() { return std::exchange(Received(), {}); }
  // The same as replies. REQUIRES: the last one is complete.
  std::vector<testing::Reply> TakeReplies() { return testing::TakeReplies(Take()); }
  // It has read all output, and the end after it.
  bool ended() const { return !was_reset() && link_->ended_by_program(); }
  bool was_reset() const { return link_->reset_by_program(); }
  // It has seen neither an end nor a reset.
  bool connected() const { return !ended() && !was_reset(); }
  // The program has closed the connection; the peer may still have replies to read.
  bool closed() const { return link_->closed_by_program(); }
  size_t unread_by_program() const { return link_->unread_by_program(); }
  size_t unread_replies() const { return link_->unread_by_peer(); }

  // Null: none.
  net::Transport* transport() noexcept { return transport_.get(); }
  // The connection: its buffers, and the program's calls.
  Link& link() noexcept { return *link_; }
  // The most writes of the program in one turn.
  size_t MostWritesInATurn() const;
  // The bytes of each write, in order, without the writes that found no room.
  std::vector<size_t> Writes() const;

 private:
  std::string& Received() const;
  void SendSealed() const;

  std::shared_ptr<Link> link_;
  std::unique_ptr<net::Transport> transport_;
  mutable std::string plaintext_;  // with a transport: what it has received
  bool gone_ = false;
};

}  // namespace mayfly::sim
