#include "server/server.h"

#include "server/clients/session.h"

namespace mayfly {

bool Server::Busy() const noexcept { return (modes & BitOf(Mode::kBusy)) != 0; }

}  // namespace mayfly
