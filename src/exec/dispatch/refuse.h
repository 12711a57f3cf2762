// Finds whether a request is refused before its handler, and makes the error. Nothing else refuses a request there.
//
// A new reason is a member of Refusal (exec/call/refusal.h) at its place in the order, a line of WhyRefused and a line of
// the table of texts. Loop thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "exec/call/args.h"
#include "exec/call/command_table.h"
#include "exec/call/refusal.h"
#include "server/clients/session.h"

namespace mayfly {

class MemoryGate;
struct Server;

// `modes`: those of the session and of the server. `row`: null if the command is unknown. `gate`: evicts, to make room for a
// command that writes, or refuses it; null: the call ignores the limits of memory. WhyRefused does not use
// the gate during CLIENT PAUSE, which holds the command back.
Refusal WhyRefused(Server& server, const Session& session, uint32_t modes, const Args& args,
                   const TableRow* row, MemoryGate* gate, Now now);

// The error that Redis gives. Throws std::bad_alloc.
// REQUIRES: WhyRefused gave `why`, which is not kNone.
std::string Explain(Refusal why, Server& server, const Session& session, const Args& args,
                    const TableRow* row);
// The same for a part of a transaction, which was not refused when it was queued.
std::string ExplainInTransaction(Refusal why, Server& server, const Session& session, const Args& args,
                                 const TableRow* row);
// A sentence after Redis's text, for a client's own request; "" if there is none. Scripts compare an error with Redis's text,
// so an error within a script gets no further sentence.
std::string_view FurtherReason(Refusal why, const Server& server) noexcept;

}  // namespace mayfly
