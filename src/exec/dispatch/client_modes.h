// Requests that run one by one because a client has set a mode (CLIENT REPLY, CLIENT NO-TOUCH) or because of
// CLIENT PAUSE, which holds requests back. The executor calls this only while there is such a client or a
// pause; at other times a batch costs one test. Loop thread only.
#pragma once

#include <optional>

#include "exec/dispatch/context.h"
#include "server/parking.h"
#include "server/sessions.h"

namespace mayfly {

inline bool AnyModes(const Server& server) noexcept {
  return server.parking.paused() != PauseOf::kNobody || server.sessions.with_modes() != 0;
}

// Parks the session if a pause holds this request back, and returns whether it did. A request that would be
// refused anyway is not held back.
bool HoldBack(Server& server, Session& session, const Args& args, const TableRow& row);

// Applies the session's modes to one request, for as long as it lives. `row`: null if the command is unknown.
class ModeScope {
 public:
  ModeScope(Server& server, Session& session, const TableRow* row);
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;
  ~ModeScope();

 private:
  Server& server_;
  Session& session_;
  std::optional<AccessTracking> hits_;  // what to resume; empty: access tracking was not suspended
};

// Stands in for ModeScope while no client has a mode.
struct NoModeScope {
  NoModeScope(Server&, Session&, const TableRow*) noexcept {}
};

}  // namespace mayfly
