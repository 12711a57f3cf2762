// Connections that this server makes to other servers: bytes out, bytes in, and the end. MIGRATE has one, and the link to a
// master is one. There is an Outgoing for plain connections, and another one for connections by TLS.
//
//   Outgoing (src/net, or a test's) --Connect--> OutgoingConnection --news--> its Listener, which looks at state() and received()
//
// Names are looked up, connections are made, and bytes are sent and received by the loop, while clients are served. A
// connection knows no protocol and no time: its owner gives up when it has waited long enough.
//
// The owner of a connection closes it by its destruction; unsent bytes are lost then. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace mayfly {

class OutgoingConnection {
 public:
  // From kNoAddress on the connection has ended, and stays in its state.
  enum class State : uint8_t {
    kConnecting,
    kOpen,
    kNoAddress,  // no such host
    kRefused,    // no address of the host could be connected to
    kNoTls,      // it could, but the handshake of TLS has failed
    kLost        // the other end has closed the connection, or it broke
  };
  // The most bytes that a connection reads ahead of its owner. Beyond this, the other end waits.
  static constexpr size_t kMostReceived = size_t{64} << 10;

  class Listener {
   public:
    // The state has changed, or bytes were received. Called by the loop, never within a call of the owner. May destroy the
    // connection.
    virtual void OnNews() noexcept = 0;

   protected:
    ~Listener() = default;
  };

  OutgoingConnection() = default;
  OutgoingConnection(const OutgoingConnection&) = delete;
  OutgoingConnection& operator=(const OutgoingConnection&) = delete;
  virtual ~OutgoingConnection() = default;

  virtual State state() const noexcept = 0;
  bool ended() const noexcept { return state() >= State::kNoAddress; }
  // What TLS says of the end, a few words for the log; empty for nothing. Valid while the connection lives.
  virtual std::string_view problem() const noexcept { return {}; }
  // Another listener hears the news from now on. Borrowed.
  virtual void set_listener(Listener& listener) noexcept = 0;
  // Sends bytes after all earlier bytes; before the connection is open, as soon as it is. No effect after the end. Throws
  // std::bad_alloc.
  virtual void Send(std::string bytes) = 0;
  // Of the bytes from Send, those that the system has not taken yet, be they encrypted already or not.
  virtual size_t unsent() const noexcept = 0;
  // The bytes that were received and not consumed; also after the end. Valid until Consume or the next turn.
  virtual std::string_view received() const noexcept = 0;
  // REQUIRES: size is at most that of received().
  virtual void Consume(size_t size) noexcept = 0;
};

class Outgoing {
 public:
  // Begins to connect to a name or a numeric address. The connection may have ended already. Borrows `listener`. Throws
  // std::bad_alloc.
  virtual std::unique_ptr<OutgoingConnection> Connect(const std::string& host, uint16_t port,
                                                      OutgoingConnection::Listener& listener) = 0;

 protected:
  ~Outgoing() = default;
};

}  // namespace mayfly
