// Requests that are run one by one with an eye on what somebody asked for: CLIENT PAUSE, CLIENT REPLY and
// CLIENT NO-TOUCH. The executor comes here only while there is such a client or a pause, so everybody else's
// requests pay one test for each batch. Loop thread only.
#pragma once

#include <optional>

#include "exec/context.h"

namespace mayfly {

inline bool AnyModes(const Server& server) noexcept {
  return server.parking.paused() != PauseOf::kNobody || server.sessions.with_modes() != 0;
}

// Parks the session where a pause holds this request back: true. One that would be refused anyway is not
// held.
bool HoldBack(Server& server, Session& session, const Args& args, const TableRow& row);

// Lives around one request. `row`: null where the command is unknown.
class ModeScope {
 public:
  ModeScope(Server& server, Session& session, const TableRow* row);
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;
  ~ModeScope();

 private:
  Server& server_;
  Session& session_;
  std::optional<AccessTracking> hits_;  // to go on with; empty: they were not suspended
};

// In its place where nobody has modes.
struct NoModeScope {
  NoModeScope(Server&, Session&, const TableRow*) noexcept {}
};

}  // namespace mayfly
