#include "exec/dispatch/client_end.h"

#include "exec/dispatch/executor.h"
#include "exec/dispatch/queueing.h"
#include "server/waiting/leases.h"
#include "server/waiting/parking.h"
#include "server/watch/pubsub.h"
#include "server/watch/tracking.h"

namespace mayfly {

void EndClientState(Server& server, Session& session) noexcept {
  server.parking.Leave(session);
  Discard(server, session);
  server.pubsub.Leave(session);
  server.tracking.Stop(session);
  server.leases.Leave(session.id);
  session.Clear(Mode::kPushTarget);
  server.executor->monitors().Remove(session);
}

}  // namespace mayfly
