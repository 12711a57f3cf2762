// Reports the end of a connection while the connection is not read, by the kernel's epoll. Libuv finds the end of a
// connection by reading, so it cannot do that. The watched descriptors are in an epoll set of their own, and libuv
// polls that set.
//
// A connection is reported once, from the loop's poll, by Connection::OnPeerGone. Where the kernel has no such thing
// nothing is reported. Loop thread only.
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

  // Borrows the connection until Remove, which has to come before its descriptor is closed. False if it cannot be
  // watched.
  bool Add(int descriptor, Connection& connection) noexcept;
  void Remove(int descriptor) noexcept;

 private:
  void OnReadable();

  uv_poll_t poll_{};
  int set_ = -1;
};

}  // namespace mayfly::net
