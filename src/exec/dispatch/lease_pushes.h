// Pushes of TAKE: tells clients of the end of leases, at the end of the turn. Only clients that asked for a push get one.
// Loop thread only.
#pragma once

#include "base/time/clock.h"
#include "server/server.h"

namespace mayfly {

// Sends ["take", key, status, value] to the clients that asked for a push: HIT and the value; ERR and the message of a
// failure; or BUSY and null, if the lease has ended and there is no value. If another client has the key's lease by now, the
// clients wait on. A client whose user may no longer TAKE the key gets no message. A client without memory for the message
// is closed. Costs a test if no lease has ended.
void TellOfEndedLeases(Server& server, Now now) noexcept;

}  // namespace mayfly
