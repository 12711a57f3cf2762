#include "exec/dispatch/client_end.h"

#include "exec/dispatch/executor.h"
#include "exec/dispatch/queueing.h"
#include "server/leases.h"
#include "server/parking.h"
#include "server/pubsub.h"
#include "server/tracking.h"

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
