// The connections to other servers that MIGRATE keeps for the next MIGRATE to the same target, as Redis does.
//
// A connection is kept for kIdleMs, and is used again only for the same host, port and login, by TLS or without: so no client
// gets what another client's password has opened. A target that closes an idle connection, or sends something without a request, ends it.
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

// Where to, and as whom.
struct Route {
  std::string host;
  uint16_t port = 0;
  bool by_tls = false;
  bool logs_in = false;
  std::string user;  // empty: the default user
  std::string password;

  bool operator==(const Route&) const = default;
};

// A connection that is logged in.
struct Link {
  static constexpr int64_t kNoDatabase = -1;

  std::unique_ptr<OutgoingConnection> connection;
  int64_t database = kNoDatabase;  // selected there
};

class Migrations final : public LatePart, private Alarms::Alarm {
 public:
  static constexpr uint64_t kIdleMs = 10'000;
  static constexpr size_t kMostIdle = 64;

  // Borrows server.
  explicit Migrations(Server& server);
  ~Migrations() override;
  // Of this server; makes them. Throws std::bad_alloc.
  static Migrations& Of(Server& server);

  // An idle connection, or none.
  Link TakeIdle(const Route& route, OutgoingConnection::Ear& ear) noexcept;
  // Closes the connection that has been idle longest if there are too many. Throws std::bad_alloc; then the connection is
  // closed. REQUIRES: the connection is open, and nothing is on its way.
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
  std::vector<std::unique_ptr<Idle>> idle_;  // the longest idle one first
};

}  // namespace mayfly
