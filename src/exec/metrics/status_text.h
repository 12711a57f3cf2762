// The most important figures in a few lines of plain text, without names that clients chose: what the status page shows
// where no script runs.
#pragma once

#include <string>

#include "base/clock.h"
#include "exec/dispatch/server.h"

namespace mayfly {

// Throws std::bad_alloc.
std::string StatusText(Server& server, Now now);

}  // namespace mayfly
