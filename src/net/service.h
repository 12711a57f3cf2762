// What a listener speaks: it makes the connection of each client that comes (net/connection.h says what a connection
// of a service has to do). RESP is one: net/resp_client.h.
//
// All services share the loop: the clients' limits, timeouts, back-pressure and the server's end.
#pragma once

#include "net/connection.h"

namespace mayfly::net {

class Service {
 public:
  Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  virtual ~Service() = default;

  // A new Connection, which Clients accepts and which deletes itself in the end. Throws std::bad_alloc.
  virtual Connection* NewConnection(Clients& clients, Connection::Kind kind) const = 0;
};

}  // namespace mayfly::net
