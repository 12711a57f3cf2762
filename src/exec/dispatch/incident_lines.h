// Reports refused requests from the executor to the log (server/incidents.h). Off the way of requests that run. Loop
// thread only.
#pragma once

#include "base/clock.h"
#include "exec/dispatch/args.h"
#include "exec/dispatch/refusal.h"
#include "exec/dispatch/server.h"
#include "server/session.h"

namespace mayfly {

// A request was refused. Also counts commands that do not exist, for INFO unknowncommands. Throws std::bad_alloc.
void TellOfRefusal(Refusal why, Server& server, const Session& session, const Args& args, Now now);
// A client is closed because it speaks HTTP.
void TellOfHttp(Server& server, const Session& session, Now now) noexcept;
// A request's handler has found no memory.
void TellOfNoMemory(Server& server, const Session& session, Now now) noexcept;

}  // namespace mayfly
