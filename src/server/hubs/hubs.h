// The hubs, where a part registers at its construction. A part registers to be called at a time (Alarms), to count memory
// beside the data (Accounts), or to hear of a client's end (ClientEnds). The hubs of options (config/sources/options.h), of
// changes of keys (cache/keyspace/change.h) and of sliced work (server/sliced_work.h) work alike.
#pragma once

#include "server/hubs/accounts.h"
#include "server/hubs/alarms.h"
#include "server/hubs/client_ends.h"

namespace mayfly {

struct Hubs {
  Alarms alarms;
  Accounts accounts;
  ClientEnds client_ends;
};

}  // namespace mayfly
