#include "exec/dispatch/client_modes.h"

#include <new>

#include "cache/databases.h"
#include "config/options.h"
#include "exec/dispatch/authentication.h"
#include "server/parking.h"
#include "server/sessions.h"

namespace mayfly {
namespace {

// Whether access tracking has to be suspended for this request. Not for one that changes a key, since that
// counts as an access anyway, nor for one that never counts as an access.
bool WouldLeaveTrace(const Session& session, const TableRow* row) noexcept {
  return session.no_touch && row != nullptr &&
         (row->command->flags & (kReadOnly | kUntouched | kTouches)) == kReadOnly;
}

}  // namespace

bool HoldBack(Server& server, Session& session, const Args& args, const TableRow& row) {
  const uint32_t flags = row.command->flags;
  const PauseOf whom = server.parking.paused();
  if (whom == PauseOf::kNobody || (flags & kUnpaused) != 0) return false;
  if (whom == PauseOf::kWriters && (flags & (kWrite | kMayReplicate)) == 0) return false;
  if (!row.Takes(args.size())) return false;
  if (row.needs_login && !MayEnter(session, server.options.settings())) return false;
  try {
    server.parking.HoldBack(session, args.all());
  } catch (const std::bad_alloc&) {
    session.close_now = true;  // its requests must neither run nor be lost without a sign
  }
  return true;
}

ModeScope::ModeScope(Server& server, Session& session, const TableRow* row)
    : server_(server), session_(session) {
  if (WouldLeaveTrace(session, row)) hits_ = server_.databases.SuspendTracking();
  if (session_.replies == Replies::kSkipNext) session_.replies = Replies::kSkipping;
}

ModeScope::~ModeScope() {
  if (hits_) server_.databases.ResumeTracking(*hits_);
  if (session_.unwanted != nullptr) session_.unwanted->Clear();
  // The request of a client that waits has not ended.
  if (session_.replies != Replies::kSkipping || session_.parked != nullptr) return;
  session_.replies = Replies::kOn;
  session_.Speak();
  server_.sessions.CountModes(session_);
}

}  // namespace mayfly
