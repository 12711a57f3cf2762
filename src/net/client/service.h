// A service is the protocol of a listener: it makes the connection of each new client. net/client/connection.h lists the
// duties of a service's connection. RESP is a service: net/client/resp_client.h.
//
// All services share the loop: the clients' limits, timeouts, back-pressure and the server's end. A service of scrapers has
// separate limits, and ends last.
#pragma once

#include "net/client/connection.h"

namespace mayfly::net {

class Service {
 public:
  Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  virtual ~Service() = default;

  // Makes a Connection, for Clients to accept; the connection deletes itself in the end. Throws std::bad_alloc.
  virtual Connection* NewConnection(Clients& clients, Connection::Kind kind) const = 0;
  // Scrapers look at the server and do not use the cache: scrapers do not count for maxclients, and while the server stops
  // they are served until the other clients are gone. Returns the most scrapers at one time; 0: the service's clients are
  // no scrapers (also by Connection::is_scraper).
  virtual size_t scrapers_max() const noexcept { return 0; }
};

}  // namespace mayfly::net
