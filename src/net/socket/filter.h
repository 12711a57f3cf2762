// The state of a connection's transport, kept by the connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "net/socket/transport.h"

namespace mayfly::net {

class Connection;

// A connection's place in a list: see net/client/connection_list.h.
struct ListPlace {
  Connection* next = nullptr;
  Connection* prev = nullptr;
  bool listed = false;
};

struct Filter {
  size_t to_send() const noexcept { return transport->ToSend().size(); }

  std::unique_ptr<Transport> transport;
  uint64_t sent_bytes = 0;  // of ciphertext, taken by the kernel
  uint64_t handshake_until_mono_ms =
      0;                             // the end of the handshake's time, not counting the waits for its turn
  uint64_t waits_since_mono_ms = 0;  // while in the list `handshake`
  bool unpolled = false;             // received bytes cannot be taken yet, so the socket is not polled
  bool said_end = false;             // Transport::End was called
  bool socket_ended = false;         // the socket has ended: no more bytes
  ListPlace plaintext;  // in the list of connections with plaintext to deliver (Clients::DeliverLater)
  ListPlace handshake;  // in the list of connections whose handshake has to wait (Clients::Postpone)
};

}  // namespace mayfly::net
