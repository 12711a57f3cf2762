// What a connection keeps of its transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "net/transport.h"

namespace mayfly::net {

class Connection;

struct Filter {
  size_t to_send() const noexcept { return transport->ToSend().size(); }

  std::unique_ptr<Transport> transport;
  uint64_t sent_bytes = 0;               // of ciphertext, taken by the kernel
  uint64_t handshake_until_mono_ms = 0;  // it has to be finished by then
  bool said_end = false;                 // Transport::End was called
  bool socket_ended = false;             // nothing more comes from the socket
  // The list of connections with plaintext to deliver (Clients::DeliverLater).
  bool listed = false;
  Connection* next_listed = nullptr;
};

}  // namespace mayfly::net
