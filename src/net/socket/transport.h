// The interface of a filter between the bytes of a socket and the bytes of a client, such as TLS. A filter does no I/O
// itself. A connection without one reads and writes its socket directly.
//
//   socket --Receive--> [ ciphertext | plaintext that waits ] --Read--> requests
//   socket <--ToSend, Sent-- [ ciphertext that waits ] <--Write, End-- replies
//
// Ciphertext and plaintext may have different sizes, and records need not end where reads end. So plaintext may wait
// although nothing more arrives on the socket: its owner calls Read until HasPlaintext is false. The filter may have
// bytes to send of its own, such as a handshake or an alert: its owner looks at ToSend after each call of Receive,
// Read, Write and End.
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
    kHandshake,  // Write takes nothing yet; before its first bytes to send are there, a client can have asked for nothing
    kOpen,
    kEnded,   // the peer has said that it sends nothing more; replies may still be written
    kBroken,  // for good: see Problem
  };

  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  virtual State state() const noexcept = 0;
  // Why it is broken, for the log.
  virtual std::string_view Problem() const noexcept = 0;
  // What it holds, as the allocator counts it; with ToSend.
  virtual size_t memory() const noexcept = 0;

  // ---- from the socket
  // Takes all of these bytes, which are not needed after the call. Throws std::bad_alloc, and the transport is of no
  // more use then.
  virtual void Receive(std::string_view ciphertext) = 0;
  // Whether Read has something to give.
  virtual bool HasPlaintext() const noexcept = 0;
  // Moves plaintext that waits to the front of `room` and returns how much. 0 if there is none.
  virtual size_t Read(std::span<char> room) noexcept = 0;

  // ---- to the socket
  // Takes bytes from the front of `plaintext` and returns how many; 0 during the handshake. Throws std::bad_alloc, and
  // has taken nothing then.
  virtual size_t Write(std::string_view plaintext) = 0;
  // Tells the peer that nothing more will be written. Once, after the last Write. Throws std::bad_alloc.
  virtual void End() = 0;
  // Bytes to send next; empty if there are none. They stay where they are until they are Sent, whatever else is
  // called; more may wait behind them.
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
