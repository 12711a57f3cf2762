// A bare socket to the daemon: sends bytes as they are and reads bytes as they come.
//
// Every wait is bounded by kPatienceMs. Where a test wants a client, Client (hiredis) is it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace mayfly {

class Wire {
 public:
  // Throw std::runtime_error where nobody listens.
  static Wire Tcp(uint16_t port, const std::string& host = "127.0.0.1");
  static Wire Unix(const std::string& path);
  Wire(Wire&& other) noexcept;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire();

  // All of it; false where the peer does not take it in time.
  bool Send(std::string_view bytes) const;
  // What the kernel takes at once: how much that was.
  size_t SendSome(std::string_view bytes) const;
  // Our side is done.
  void EndOutput() const;
  // Exactly `size` bytes, or fewer where the peer ends or patience does.
  std::string Read(size_t size) const;
  // How the peer's side stands.
  enum class End : uint8_t { kNot, kClean, kReset };
  // Appends to `bytes` what has come, at most `most` bytes, without waiting.
  End ReadSome(std::string& bytes, size_t most) const;
  // Until the peer ends; "..." is appended where patience ends first.
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
