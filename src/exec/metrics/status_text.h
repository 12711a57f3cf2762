// The most important figures in a few lines of plain text, for a status page without scripts. The text has no names chosen
// by clients.
#pragma once

#include <string>

#include "base/time/clock.h"
#include "server/server.h"

namespace mayfly {

// Throws std::bad_alloc.
std::string StatusText(Server& server, Now now);

}  // namespace mayfly
