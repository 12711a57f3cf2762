#include "exec/dispatch/client_modes.h"

#include <array>
#include <new>
#include <span>
#include <utility>

#include "cache/keyspace/databases.h"
#include "exec/call/command_keys.h"
#include "exec/dispatch/queueing.h"
#include "server/clients/session.h"
#include "server/clients/tracking_state.h"
#include "server/waiting/parking.h"
#include "server/watch/tracking.h"

namespace mayfly {
namespace {

// True if access tracking must be suspended for this call. False for a command that never counts as an access, and for EXEC
// and scripts: their inner calls are tested one by one, and keys may be evicted between inner calls, in the order of their
// accesses.
bool WouldLeaveTrace(const Session& session, const TableRow& row) noexcept {
  const uint32_t flags = row.command->flags;
  return session.Has(Mode::kNoTouch) && (flags & (kReadOnly | kWrite)) != 0 &&
         (flags & (kUntouched | kTouches | kNoMandatoryKeys)) == 0;
}

bool IsPaused(PauseOf whom, uint32_t flags) noexcept {
  if (whom == PauseOf::kWriters) return (flags & (kWrite | kMayReplicate)) != 0;
  return whom == PauseOf::kEverybody;
}

// A request that writes and does not name its keys may write to any key: a transaction, a script, a flush.
bool MayWriteHeldKey(const HeldKeys& held, const Session& session, const Args& args, const TableRow& row,
                     uint32_t flags) noexcept {
  if (!held.any() || MustQueue(session, row)) return false;
  const Command& command = *row.command;
  const bool is_script = (flags & (kMayReplicate | kNoMandatoryKeys)) == (kMayReplicate | kNoMandatoryKeys);
  if ((flags & kWrite) == 0) return is_script;
  if (is_script || (command.flags & kRunsQueue) != 0 || !TakesKeys(command)) return true;
  bool found = false;
  const auto look = [&](const FoundKey& key) { found = found || held.Holds(session.db, key.text); };
  return ForEachKey(command, args.all(), look) && found;
}

}  // namespace

bool HoldBack(Server& server, Session& session, const Args& args, const TableRow& row) {
  if (!server.parking.HoldsBack() || session.Has(Mode::kMonitor)) return false;
  try {
    const uint32_t flags = FlagsOf(server, session, row, args);
    if ((flags & kUnpaused) != 0) return false;
    if (!IsPaused(server.parking.paused(), flags) &&
        !MayWriteHeldKey(server.parking.held(), session, args, row, flags))
      return false;
    server.parking.HoldBack(session, args.all());
  } catch (const std::bad_alloc&) {
    session.Set(Mode::kDropped);  // the client's requests must neither run nor be lost silently
  }
  return true;
}

TraceScope::TraceScope(Server& server, const Session& session, const TableRow& row)
    : server_(server), suspends_(WouldLeaveTrace(session, row)) {
  if (suspends_) server_.databases.SuspendAccesses();
}

TraceScope::~TraceScope() {
  if (suspends_) server_.databases.ResumeAccesses();
}

ReplyScope::ReplyScope(Session& session) noexcept : session_(session) {
  if (session_.replies() == Replies::kSkipNext) session_.SetReplies(Replies::kSkipping);
}

ReplyScope::~ReplyScope() {
  if (OutputChain* const unwanted = session_.unwanted()) unwanted->Clear();
  // The request of a waiting client has not ended.
  if (session_.replies() != Replies::kSkipping || session_.parked != nullptr) return;
  session_.SetReplies(Replies::kOn);
  session_.Speak();
}

// For a script only the script's inner calls count.
void RememberReads(Server& server, Session& reader, const Call& call, Keyspace& keyspace) noexcept {
  const TrackingState& state = *reader.tracking;
  const TrackingOptions& options = state.options;
  if (options.broadcast || (options.opt_in && !state.caching) || (options.opt_out && state.caching)) return;
  if ((call.row->command->flags & (kReadOnly | kPubSub | kNoMandatoryKeys)) != kReadOnly) return;
  try {
    ForEachKey(*call.row->command, call.arguments, [&](const FoundKey& key) {
      Entry* const entry = keyspace.Peek(keyspace.KeyOf(key.text), call.now);
      server.tracking.Remember(reader, keyspace.database(), key.text, entry != nullptr);
      if (entry != nullptr) entry->Set(EntryFlag::kListened);
    });
  } catch (const std::bad_alloc&) {
    reader.Set(Mode::kDropped);
  }
}

// CLIENT CACHING holds for the next request, or for the whole transaction.
void EndTrackedRequest(Session& session, const TableRow* row) noexcept {
  const bool of_client = row != nullptr && row->parent != nullptr && row->parent->command->name == "client";
  if (!of_client && !session.Has(Mode::kTransaction)) session.tracking->caching = false;
}

PushScope::~PushScope() {
  session_.in_request = false;
  const std::unique_ptr<OutputChain> late = session_.TakeLatePushes();
  if (late == nullptr) return;
  try {
    std::array<OutputPiece, 16> pieces;
    while (!late->empty()) {
      size_t moved = 0;
      for (const OutputPiece& piece : std::span(pieces).first(late->Gather(pieces))) {
        session_.output.Append({piece.data, piece.size});
        moved += piece.size;
      }
      late->Consume(moved);
    }
  } catch (const std::bad_alloc&) {
    session_.LoseMessage();
  }
}

}  // namespace mayfly
