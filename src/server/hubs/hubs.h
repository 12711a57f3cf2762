// Where parts register what they are when they are built: somebody to be called at a time, with memory that is no data, who
// hears of a client's end. Each hub has its own header. Those of options (config/sources/options.h), of changes of keys
// (cache/keyspace/change.h) and of sliced work (server/sliced_work.h) are of the same kind.
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
