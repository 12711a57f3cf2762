// Reports refused requests from the executor to the log (server/figures/incidents.h). Apart from the code of successful
// requests. Loop thread only.
#pragma once

#include "base/time/clock.h"
#include "exec/call/args.h"
#include "exec/call/refusal.h"
#include "server/clients/session.h"
#include "server/server.h"

namespace mayfly {

// A request was refused. Also counts unknown commands, for INFO unknowncommands. Throws std::bad_alloc.
void TellOfRefusal(Refusal why, Server& server, const Session& session, const Args& args, Now now);
// A client that speaks HTTP is closed.
void TellOfHttp(Server& server, const Session& session, Now now) noexcept;
// A request's handler has found no memory.
void TellOfNoMemory(Server& server, const Session& session, Now now) noexcept;

}  // namespace mayfly
