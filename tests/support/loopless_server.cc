#include "support/loopless_server.h"

#include <string>

#include "server/acl/users.h"

namespace mayfly::testing {
namespace {

constexpr uint64_t kRandomSeed = 7;
constexpr size_t kSlice = 1000;

}  // namespace

LooplessServer::LooplessServer(double cycles_per_us, uint64_t hash_seed)
    : Parts({.clock = clock,
             .options = options,
             .commands = commands,
             .hasher = Hasher(hash_seed),
             .random_seed = kRandomSeed,
             .cycle_rate = CycleRate(cycles_per_us),
             .run_id = std::string(40, '0')}) {}

void LooplessServer::Connect(Session& session) {
  session.LogIn(server.users.Newcomer());
  sessions.Add(session);
}

void LooplessServer::FreeDue() {
  const Now now = executor.RefreshNow();
  while (databases.Advance(now, kSlice)) {
  }
  while (databases.FreeSome(kSlice)) {
  }
  while (event_log.FreeSome(kSlice)) {
  }
  while (tracking.FreeSome(kSlice)) {
  }
  hubs.alarms.Wake(now, server.log);
}

}  // namespace mayfly::testing
