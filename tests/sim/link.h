// One simulated connection: the bytes in both directions between a peer and the program, and the kernel's
// buffers in between.
//
//     peer --Send--> unsent | inbound --Read--> program
//     peer <-Arrive- arrived | outbound <-Write-- program
//                            ^ the program's kernel: at most receive_capacity and send_capacity bytes
//
// Bytes move between peer and kernel when the loop polls (Pump), never while the program works. The model is
// harsher than most networks, because that finds mistakes: a reset destroys everything that the peer has not
// read yet, and closing a connection with unread input resets it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <uv.h>

#include "sim/byte_queue.h"
#include "sim/choices.h"

#include <sys/socket.h>
#include <sys/types.h>

namespace mayfly::sim {

inline constexpr uint64_t kNsPerMs = 1'000'000;

class Link {
 public:
  static constexpr size_t kAtOnce = SIZE_MAX;

  // The size of the kernel's buffers.
  size_t receive_capacity = 256 * 1024;
  size_t send_capacity = 256 * 1024;

  // Reads and writes may transfer less than they could, by chance.
  bool short_transfers = false;

  // `random` is the seed of this connection's own choices: what happens to one connection does not depend on
  // the order in which the program works on all of them.
  Link(int fd, uint64_t now_ns, uint64_t random) : fd_(fd), pumped_ns_(now_ns), choices_(random) {}

  // ---- the program's side; errors are libuv's codes
  // Bytes read, 0 at the end, UV_EAGAIN if there is nothing yet.
  ssize_t Read(char* to, size_t room);
  // Bytes taken, UV_EAGAIN if there is no room.
  ssize_t Write(const std::vector<uv_buf_t>& pieces, uint64_t turn);
  // The peer reads an end after the output. False if the peer is gone.
  bool EndOutput();
  void Close();
  bool readable() const noexcept { return !inbound_.empty() || reset_by_peer_ || EndReached(); }
  bool has_input() const noexcept { return !inbound_.empty(); }
  // As poll reports it on Linux (POLLHUP): neither side will send any more, or the peer has reset the connection. A unix
  // socket hangs up as soon as the peer closes it, even if bytes are left to read.
  bool hung_up() const noexcept {
    if (reset_by_peer_) return true;
    return !local_path.empty() ? peer_left_ : ended_by_peer_ && unsent_.empty() && output_ended_;
  }
  // As on Linux: at least a third of the buffer is free, or an error waits.
  bool writable() const noexcept { return reset_by_peer_ || outbound_.size() <= send_capacity / 3 * 2; }
  // As poll reports it on Linux (POLLRDHUP): the peer's end has arrived, although bytes from before may be left to read.
  // On TCP it comes after all that the peer has sent.
  bool peer_ended() const noexcept {
    return reset_by_peer_ || (ended_by_peer_ && (unsent_.empty() || !local_path.empty()));
  }
  int fd() const noexcept { return fd_; }

  // ---- the peer's side
  // REQUIRES: the peer has not ended its output.
  void Send(std::string_view bytes);
  void EndInput() noexcept { ended_by_peer_ = true; }
  void Reset() noexcept;
  // The peer closes its socket: later writes to it are answered with a reset.
  void Leave() noexcept;
  // How many bytes the peer reads in a millisecond.
  void set_rate(size_t bytes_per_ms) noexcept { rate_ = bytes_per_ms; }
  // Everything that the peer has read and the test has not taken.
  std::string& arrived() noexcept { return arrived_; }
  // Takes bytes that the program has written, at most that many: for a Wire, which is the peer then.
  std::string TakeOutput(size_t most);
  // The peer has read the end of the output, and everything before it.
  bool ended_by_program() const noexcept { return (output_ended_ || closed_) && outbound_.empty(); }
  bool reset_by_program() const noexcept { return reset_by_program_; }
  // The program has closed its descriptor; the peer may still have bytes to read.
  bool closed_by_program() const noexcept { return closed_; }
  // What the peer has sent and the program has not read.
  size_t unread_by_program() const noexcept { return inbound_.size() + unsent_.size(); }
  // What the program has written and the peer has not read.
  size_t unread_by_peer() const noexcept { return outbound_.size(); }

  // ---- the network
  // Moves the bytes that can move by now.
  void Pump(uint64_t now_ns);
  // When Pump can move more although neither side does anything; UINT64_MAX if never.
  uint64_t NextPumpNs() const noexcept;

  // ---- what the program did, for assertions
  struct WriteCall {
    uint64_t turn;
    size_t asked;
    ssize_t taken;  // or libuv's error
  };
  std::vector<WriteCall> write_calls;
  size_t read_calls = 0;  // that brought something
  size_t polled = 0;      // how often a poll has reported it to the program as readable
  bool no_delay = false;
  struct KeepAliveCall {
    int idle_s;
    int interval_s;
    int probes;
    bool operator==(const KeepAliveCall&) const = default;
  };
  std::optional<KeepAliveCall> keep_alive;
  sockaddr_storage peer_address{};
  sockaddr_storage local_address{};
  std::string local_path;  // of a unix socket

 private:
  bool EndReached() const noexcept { return ended_by_peer_ && inbound_.empty() && unsent_.empty(); }
  void ResetPeer() noexcept;

  const int fd_;
  ByteQueue unsent_;
  ByteQueue inbound_;
  ByteQueue outbound_;
  std::string arrived_;
  size_t rate_ = kAtOnce;
  uint64_t pumped_ns_;
  Choices choices_;
  bool ended_by_peer_ = false;
  bool reset_by_peer_ = false;
  bool peer_left_ = false;
  bool output_ended_ = false;
  bool closed_ = false;
  bool reset_by_program_ = false;
};

}  // namespace mayfly::sim
