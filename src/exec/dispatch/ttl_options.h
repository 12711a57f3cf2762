// The options default-ttl, max-ttl, ttl-required, ttl-jitter and ttl-rule as the keyspaces' rules (cache/ttl_rules.h).
#pragma once

#include "exec/dispatch/server.h"

namespace mayfly {

// Sets the rules as the options are now, and again whenever a CONFIG SET changes one of them. Throws std::bad_alloc.
void FollowTtlRules(Server& server);

}  // namespace mayfly
