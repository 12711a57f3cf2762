// Connections to other servers (server/outgoing.h) on libuv.
//
//   Connect --name--> lookup (libuv's threads) --addresses--> connect, one after the other --> read, write --> the end
//   Connect --numeric address------------------------------------^
//
// By TLS a connection is open when the handshake is done. Ciphertext is written in pieces of about kSealedBytes, one at a time
// and one in a turn, so that a large text does not hold up the loop. Which address is taken is decided before the handshake.
//
// What libuv still needs after a connection's destruction, its socket and a running lookup, lives until libuv is done with
// it (Socket, Lookup), without an owner then.
//
// Borrows the loop, and what makes the TLS. Connections may outlive this, but not Close. Loop thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <uv.h>

#include "net/tls/tls_transports.h"
#include "server/outgoing.h"

namespace mayfly::net {

class OutgoingConnections final : public Outgoing {
 public:
  // `begin_turn` is called at the beginning of each callback. Null `tls`: connections without TLS.
  OutgoingConnections(uv_loop_t& loop, std::function<void()> begin_turn, const TlsTransports* tls = nullptr)
      : loop_(loop), begin_turn_(std::move(begin_turn)), tls_(tls) {}
  OutgoingConnections(const OutgoingConnections&) = delete;
  OutgoingConnections& operator=(const OutgoingConnections&) = delete;

  std::unique_ptr<OutgoingConnection> Connect(const std::string& host, uint16_t port,
                                              OutgoingConnection::Listener& listener) override;
  // Ends all connections, without news for their listeners; further ones end at once. The loop must run once more.
  void Close() noexcept;

 private:
  class Connection;
  struct Socket;
  struct Lookup;
  struct Write;

  uv_loop_t& loop_;
  const std::function<void()> begin_turn_;
  const TlsTransports* const tls_;
  std::vector<Connection*> open_;
  std::array<char, size_t{16} << 10> input_;  // for one read of any connection
  bool closed_ = false;
};

}  // namespace mayfly::net
