// The hubs, where a part registers at its construction. A part registers to be called at a time (Alarms), to count memory
// beside the data (Accounts), to hear of a client's end (ClientEnds), of its own thread (Wakes), or of the end of a turn
// (TurnEnds). The hubs of options (config/sources/options.h), of changes of keys (cache/changes/change.h) and of sliced work
// (server/sliced_work.h) work alike.
#pragma once

#include "server/hubs/accounts.h"
#include "server/hubs/alarms.h"
#include "server/hubs/client_ends.h"
#include "server/hubs/turn_ends.h"
#include "server/hubs/wakes.h"

namespace mayfly {

struct Hubs {
  Alarms alarms;
  Accounts accounts;
  ClientEnds client_ends;
  Wakes wakes;
  TurnEnds turn_ends;
};

}  // namespace mayfly
