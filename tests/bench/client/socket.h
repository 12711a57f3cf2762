// A connection to a server on this machine, by TCP or a unix socket; counts the replies. Any error ends the program, since a run
// whose connection broke has no result.
//
// Closing resets the connection, so that thousands of closed ones leave no ports in TIME_WAIT. Movable; owns
// the descriptor.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "replies.h"

namespace mayfly::bench {

// Prints a line on standard error and ends the program with code 1.
[[noreturn]] void Die(const std::string& what);
// The same, with the text of errno.
[[noreturn]] void DieOfErrno(const std::string& what);

class Socket {
 public:
  // What one Read takes at most.
  static constexpr size_t kReadBytes = 256 * 1024;

  explicit Socket(int port);
  // The path of a unix socket.
  explicit Socket(const std::string& path);
  ~Socket();
  Socket(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket& operator=(Socket&&) = delete;

  int fd() const { return fd_; }
  const Replies& replies() const { return replies_; }

  void SetNonBlocking();
  // Writes what fits and returns how many bytes that was; a blocking socket takes all.
  size_t Write(std::string_view bytes);
  // Reads once, and counts nothing. Returns the number of bytes; 0 if a non-blocking socket had nothing.
  size_t Receive(std::span<char> room);
  // Reads once, counts the replies, and appends the bytes to `copy` unless that is null. False if a
  // non-blocking socket had nothing.
  bool Read(std::string* copy = nullptr);
  // Sends one request and waits for its reply, on a blocking socket. An error reply ends the program.
  void Ask(std::string_view request);
  // Reads until `count` replies have arrived in all. An error reply ends the program.
  void ReadUntil(uint64_t count);

 private:
  int fd_;
  Replies replies_;
};

}  // namespace mayfly::bench
