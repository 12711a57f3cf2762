// The end of a transaction that does not run.
#pragma once

namespace mayfly {

struct Server;
struct Session;

// Ends the session's transaction, if there is one, with all watches and queued requests.
void Discard(Server& server, Session& session) noexcept;

}  // namespace mayfly
