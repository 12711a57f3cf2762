// A bare socket to the daemon: sends bytes as they are and reads bytes as they come.
//
// No wait is longer than kPatienceMs. For a test that needs a client library there is Client (hiredis).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace mayfly {

inline const std::string kPong = "+PONG\r\n";

class Wire {
 public:
  // Throw std::runtime_error if nobody listens.
  static Wire Tcp(uint16_t port, const std::string& host = "127.0.0.1");
  static Wire Unix(const std::string& path);
  Wire(Wire&& other) noexcept;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire();

  // Sends all of it; false if the peer does not take it in time.
  bool Send(std::string_view bytes) const;
  // Sends what the kernel takes at once, and returns how much that was.
  size_t SendSome(std::string_view bytes) const;
  // Closes our side of the connection.
  void EndOutput() const;
  // Reads `size` bytes, or fewer if the peer closes or does not send them in time.
  std::string Read(size_t size) const;
  // How the peer's side stands.
  enum class End : uint8_t { kNot, kClean, kReset };
  // Appends to `bytes` what has come, at most `most` bytes, without waiting.
  End ReadSome(std::string& bytes, size_t most) const;
  // Reads until the peer closes; appends "..." if it does not in time.
  std::string ReadToEnd() const;
  // Sends `request`, and reads as many bytes as `expected` has.
  std::string Ask(std::string_view request, std::string_view expected) const;

 private:
  explicit Wire(int socket) noexcept : socket_(socket) {}
  int socket_;
  mutable bool reset_ = false;  // found when sending: the kernel reports it once
};

// An array of bulk strings.
std::string Request(std::initializer_list<std::string_view> words);

}  // namespace mayfly
