#include "exec/dispatch/client_modes.h"

#include <new>

#include "cache/databases.h"
#include "server/parking.h"

namespace mayfly {
namespace {

// Whether access tracking has to be suspended for this call. Not for one that changes a key, since that counts as
// an access anyway, nor for one that never counts as an access.
bool WouldLeaveTrace(const Session& session, const TableRow& row) noexcept {
  return session.Has(Mode::kNoTouch) &&
         (row.command->flags & (kReadOnly | kUntouched | kTouches)) == kReadOnly;
}

}  // namespace

bool HoldBack(Server& server, Session& session, const Args& args, const TableRow& row) {
  const uint32_t flags = row.command->flags;
  const PauseOf whom = server.parking.paused();
  if (whom == PauseOf::kNobody || (flags & kUnpaused) != 0) return false;
  if (whom == PauseOf::kWriters && (flags & (kWrite | kMayReplicate)) == 0) return false;
  try {
    server.parking.HoldBack(session, args.all());
  } catch (const std::bad_alloc&) {
    session.Set(Mode::kDropped);  // its requests must neither run nor be lost without a sign
  }
  return true;
}

TraceScope::TraceScope(Server& server, const Session& session, const TableRow& row) : server_(server) {
  if (WouldLeaveTrace(session, row) && !server.databases.tracking_suspended())
    suspended_ = server_.databases.SuspendTracking();
}

TraceScope::~TraceScope() {
  if (suspended_) server_.databases.ResumeTracking(*suspended_);
}

ReplyScope::ReplyScope(Session& session) noexcept : session_(session) {
  if (session_.replies() == Replies::kSkipNext) session_.SetReplies(Replies::kSkipping);
}

ReplyScope::~ReplyScope() {
  if (session_.unwanted != nullptr) session_.unwanted->Clear();
  // The request of a client that waits has not ended.
  if (session_.replies() != Replies::kSkipping || session_.parked != nullptr) return;
  session_.SetReplies(Replies::kOn);
  session_.Speak();
}

}  // namespace mayfly
