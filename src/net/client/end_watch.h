// Reports the end of a connection while the connection is not read, by the kernel's epoll. Libuv finds the end of a
// connection only by reading. The watched descriptors are in a separate epoll set, and libuv polls the set.
//
// A connection is reported once, from the loop's poll, by Connection::OnPeerGone. Without epoll nothing is reported. Loop
// thread only.
#pragma once

#include <uv.h>

namespace mayfly::net {

class Connection;

class EndWatch {
 public:
  EndWatch() = default;
  EndWatch(const EndWatch&) = delete;
  EndWatch& operator=(const EndWatch&) = delete;

  void Start(uv_loop_t& loop);
  // The loop must run once more before this dies.
  void Close();

  // Borrows the connection until Remove; Remove must come before the descriptor is closed. False if the connection cannot be
  // watched.
  bool Add(int descriptor, Connection& connection) noexcept;
  void Remove(int descriptor) noexcept;

 private:
  void OnReadable();

  uv_poll_t poll_{};
  int set_ = -1;
};

}  // namespace mayfly::net
