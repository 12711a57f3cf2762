// The most important figures in a few lines of plain text, for a status page without scripts. It has no names that
// clients chose.
#pragma once

#include <string>

#include "base/time/clock.h"
#include "server/server.h"

namespace mayfly {

// Throws std::bad_alloc.
std::string StatusText(Server& server, Now now);

}  // namespace mayfly
