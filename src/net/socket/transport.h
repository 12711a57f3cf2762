// The interface of a filter between the bytes of a socket and the bytes of a client, such as TLS. A filter does no I/O
// itself. A connection without a filter reads and writes its socket directly.
//
//   socket --Receive--> [ ciphertext | plaintext that waits ] --Read--> requests
//   socket <--ToSend, Sent-- [ ciphertext that waits ] <--Write, End-- replies
//
// Ciphertext and plaintext may have different sizes, and records need not end where reads end. Plaintext may thus wait
// although nothing more arrives on the socket: the owner calls Read until HasPlaintext is false. The filter may have its own
// bytes to send, such as a handshake or an alert: the owner tests ToSend after each call of Receive, Read, Write and End.
//
// Ownership: a connection owns its transport. Loop thread only. Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace mayfly::net {

class Transport {
 public:
  enum class State : uint8_t {
    kHandshake,  // Write takes nothing yet; without bytes in ToSend so far, no request can have come
    kOpen,
    kEnded,   // the peer sends nothing more; replies may still be written
    kBroken,  // for good: see Problem
  };

  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  virtual State state() const noexcept = 0;
  // The reason of kBroken, for the log.
  virtual std::string_view Problem() const noexcept = 0;
  // The memory of the transport, as the allocator counts memory; includes ToSend.
  virtual size_t memory() const noexcept = 0;

  // ---- from the socket
  // Takes all of these bytes; the caller may drop the bytes after the call. Throws std::bad_alloc, and the transport is then
  // useless.
  virtual void Receive(std::string_view ciphertext) = 0;
  // True if Read would return bytes.
  virtual bool HasPlaintext() const noexcept = 0;
  // Moves waiting plaintext to the front of `room` and returns the number of bytes. 0 for none.
  virtual size_t Read(std::span<char> room) noexcept = 0;

  // ---- to the socket
  // Takes bytes from the front of `plaintext` and returns their number; 0 during the handshake. Throws std::bad_alloc
  // without taking bytes.
  virtual size_t Write(std::string_view plaintext) = 0;
  // Tells the peer that nothing more will be written. Called once, after the last Write. Throws std::bad_alloc.
  virtual void End() = 0;
  // The next bytes to send; empty for none. The bytes stay in place until Sent, whatever other methods are called; more
  // bytes may wait behind.
  virtual std::string_view ToSend() noexcept = 0;
  // The first `n` bytes of ToSend were sent.
  virtual void Sent(size_t n) noexcept = 0;
};

// Makes the transport of each connection of a listener.
class TransportFactory {
 public:
  TransportFactory() = default;
  TransportFactory(const TransportFactory&) = delete;
  TransportFactory& operator=(const TransportFactory&) = delete;
  virtual ~TransportFactory() = default;

  // Throws std::bad_alloc.
  virtual std::unique_ptr<Transport> NewTransport() const = 0;
};

}  // namespace mayfly::net
