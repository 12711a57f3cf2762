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
      0;                             // it has to be finished by then, not counting the time in which it waits
  uint64_t waits_since_mono_ms = 0;  // while in the list `handshake`
  bool unpolled = false;             // what has arrived cannot be taken yet, so the socket is not polled
  bool said_end = false;             // Transport::End was called
  bool socket_ended = false;         // nothing more comes from the socket
  ListPlace plaintext;               // among those with plaintext to deliver (Clients::DeliverLater)
  ListPlace handshake;               // among those whose handshake has to wait (Clients::Postpone)
};

}  // namespace mayfly::net
