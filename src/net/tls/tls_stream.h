// The TLS of a connection to another server: texts to send, bytes received, and no socket. A Transport with what the owner of
// an outgoing connection needs around it.
//
//   Send --> waiting_ --> transport --> ToSend, Sent
//   Receive --> transport --> plaintext
//
// Texts wait unencrypted, where they are, until the transport has sent what it holds: at most kSealedBytes and a record. A text
// of a gigabyte thus needs no second copy. Plaintext does not wait: the owner stops reading its socket when it has enough.
//
// Loop thread only. Units: bytes.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "net/tls/tls_transport.h"

namespace mayfly::net {

class TlsStream {
 public:
  // The transport has begun its handshake as a client.
  explicit TlsStream(std::unique_ptr<TlsTransport> transport) noexcept : transport_(std::move(transport)) {}
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // The handshake is done. Stays true after the end.
  bool begun() const noexcept { return begun_; }
  // The server has ended the stream, or it broke: see Problem.
  bool ended() const noexcept;
  // Why it broke, in a few words; empty if the server has ended it. REQUIRES: ended().
  std::string Problem() const;

  // Appends what these bytes bring to `plaintext`. Throws std::bad_alloc, and the stream is then useless.
  void Receive(std::string_view ciphertext, std::string& plaintext);
  // Sends bytes after all earlier bytes, once the handshake is done. Throws std::bad_alloc.
  void Send(std::string bytes);
  // Of the bytes from Send, those whose ciphertext was not sent.
  size_t unsent() const noexcept { return waiting_bytes_ + sealed_bytes_; }
  // Tells the server that nothing more will be sent. Throws std::bad_alloc.
  void End();

  // The next bytes for the socket; empty for none. Valid until Sent. Throws std::bad_alloc.
  std::string_view ToSend();
  // The first `n` bytes of ToSend were sent.
  void Sent(size_t n) noexcept;

 private:
  std::unique_ptr<TlsTransport> transport_;
  std::deque<std::string> waiting_;
  size_t taken_ = 0;  // by the transport, of the first one
  size_t waiting_bytes_ = 0;
  size_t sealed_bytes_ = 0;  // of plaintext in what the transport has to send
  bool begun_ = false;
};

}  // namespace mayfly::net
