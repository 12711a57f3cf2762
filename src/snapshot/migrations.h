// Idle connections to other servers, kept for the next MIGRATE to the same target, as in Redis.
//
// A connection is kept for kIdleMs. MIGRATE uses a kept connection only for the same host, port, login and use of TLS: no
// client gets access by another client's password. A kept connection ends if the target closes it, or sends something without
// a request.
//
// Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/hubs/accounts.h"
#include "server/hubs/alarms.h"
#include "server/outgoing.h"
#include "server/server.h"

namespace mayfly {

// The address and the login of a target.
struct Route {
  std::string host;
  uint16_t port = 0;
  bool by_tls = false;
  bool logs_in = false;
  std::string user;  // empty: the default user
  std::string password;

  bool operator==(const Route&) const = default;
};

// A connection after login.
struct Link {
  static constexpr int64_t kNoDatabase = -1;

  std::unique_ptr<OutgoingConnection> connection;
  int64_t database = kNoDatabase;  // selected at the target
};

class Migrations final : public LatePart, private Alarms::Alarm {
 public:
  static constexpr uint64_t kIdleMs = 10'000;
  static constexpr size_t kMostIdle = 64;

  // Borrows server.
  explicit Migrations(Server& server);
  ~Migrations() override;
  // This server's connections, made on first use. Throws std::bad_alloc.
  static Migrations& Of(Server& server);

  // Returns an idle connection, or none.
  Link TakeIdle(const Route& route, OutgoingConnection::Listener& listener) noexcept;
  // Keeps a connection; if too many are kept, closes the connection that has been idle longest. Throws std::bad_alloc, and
  // then closes the connection. REQUIRES: the connection is open, and waits for no reply.
  void Keep(Route route, Link link, uint64_t now_mono_ms);

 private:
  struct Idle;

  uint64_t NextWake() const noexcept override;
  void OnWake(Now now, Log* log) noexcept override;
  void AtEnd(Log* log) noexcept override;
  void Drop(const Idle& idle) noexcept;
  void Count() noexcept;

  Server& server_;
  const Accounts::Account account_;
  std::vector<std::unique_ptr<Idle>> idle_;  // the longest idle first
};

}  // namespace mayfly
