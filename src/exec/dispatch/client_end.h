// Removes the state of a client from other parts, when the client leaves and on RESET. Loop thread only.
#pragma once

#include "server/clients/session.h"
#include "server/server.h"

namespace mayfly {

// Ends the client's waiting, its transaction, its subscriptions, its tracking, its leases and its monitoring. A
// session must not be destroyed before.
void EndClientState(Server& server, Session& session) noexcept;

}  // namespace mayfly
