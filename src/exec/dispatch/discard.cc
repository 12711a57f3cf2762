#include "exec/dispatch/discard.h"

#include "server/clients/session.h"
#include "server/clients/transaction.h"
#include "server/server.h"
#include "server/watch/watched_keys.h"

namespace mayfly {

void Discard(Server& server, Session& session) noexcept {
  server.watched_keys.Forget(session);
  session.transaction.reset();
  session.Clear(Mode::kTransaction);
}

}  // namespace mayfly
