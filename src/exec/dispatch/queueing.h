// The effect of MULTI on requests: requests are kept until EXEC runs the transaction. Loop thread only.
#pragma once

#include <cstdint>
#include <string>

#include "exec/call/args.h"
#include "exec/call/call_flags.h"
#include "exec/call/command_table.h"
#include "exec/call/refusal.h"
#include "server/clients/session.h"
#include "server/clients/transaction.h"
#include "server/server.h"

namespace mayfly {

// True if the request must be queued instead of run.
inline bool MustQueue(const Session& session, const TableRow& row) noexcept {
  return session.Has(Mode::kTransaction) && (row.command->flags & kUnqueued) == 0;
}

// The CommandFlags of the request: a script's flags may depend on the arguments; EXEC also has the flags of the queued
// commands. May throw std::bad_alloc.
inline uint32_t FlagsOf(Server& server, const Session& session, const TableRow& row, const Args& args) {
  const uint32_t flags = row.command->flags;
  if ((flags & kRunsQueue) == 0) return CallFlags::Of(server, row, args.all());
  return session.transaction != nullptr ? flags | session.transaction->flags : flags;
}

// As FlagsOf, but never throws: see CallFlags::IfReadable.
inline uint32_t FlagsIfReadable(Server& server, const Session& session, const TableRow& row,
                                const Args& args) noexcept {
  if ((row.command->flags & kRunsQueue) == 0) return CallFlags::IfReadable(server, row, args.all());
  return FlagsOf(server, session, row, args);
}

// Of these CommandFlags of a request, those that permit: EXEC may run in a state of the server only if each queued command
// may.
inline uint32_t PermittingFlagsOf(uint32_t flags, const Session& session, const TableRow& row) noexcept {
  if ((row.command->flags & kRunsQueue) == 0 || session.transaction == nullptr) return flags;
  return row.command->flags & session.transaction->common_flags;
}

// Keeps the request, unless the transaction is lost. Throws std::bad_alloc. REQUIRES: MustQueue. The command is not refused.
void Queue(Server& server, Session& session, const Args& args, const TableRow& row);

// A request of the session was refused with `error`. EXEC will be refused, too; a refused EXEC ends the transaction. Returns
// the error for the client. REQUIRES: row is not null, or the command is unknown.
std::string NoteRefusal(Refusal why, Server& server, Session& session, const TableRow* row,
                        std::string&& error);

}  // namespace mayfly
