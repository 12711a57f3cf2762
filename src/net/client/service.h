// A service is the protocol of a listener: it makes the connection of each new client. net/client/connection.h says what a
// connection of a service has to do. RESP is one: net/client/resp_client.h.
//
// All services share the loop: the clients' limits, timeouts, back-pressure and the server's end. A service of observers
// has limits of its own, and ends last.
#pragma once

#include "net/client/connection.h"

namespace mayfly::net {

class Service {
 public:
  Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  virtual ~Service() = default;

  // A new Connection, which Clients accepts and which deletes itself in the end. Throws std::bad_alloc.
  virtual Connection* NewConnection(Clients& clients, Connection::Kind kind) const = 0;
  // Observers look at the server and do not use it: they do not count for maxclients, and while the server stops they are
  // served until its clients are gone. At most this many at one time; 0: its clients are none, and
  // Connection::is_observer says so, too.
  virtual size_t observers_max() const noexcept { return 0; }
};

}  // namespace mayfly::net
