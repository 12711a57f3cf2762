#include "exec/cluster/slot_walk.h"

#include <algorithm>
#include <new>

#include "base/bits/key_slot.h"
#include "cache/keyspace/databases.h"
#include "server/clients/session.h"
#include "server/cluster/cluster.h"
#include "server/hubs/hubs.h"

namespace mayfly {

SlotWalk::SlotWalk(Server& server, Session& session, uint16_t slot, uint64_t most)
    : Step(server.sliced_work),
      server_(server),
      session_(session),
      slot_(slot),
      left_(std::min<uint64_t>(most, server.cluster->counts().KeysIn(slot))),
      account_(server.hubs.accounts, bytes_) {}

SlotWalk::~SlotWalk() = default;

bool SlotWalk::Some(Now now, size_t budget) {
  const Keyspace& keyspace = server_.databases.At(0);  // a cluster has no other
  while (left_ != 0 && budget != 0) {
    size_t seen = 1;
    cursor_ = keyspace.Scan(cursor_, now, [&](const Entry& entry) {
      ++seen;
      if (left_ == 0 || SlotOf(entry.key()) != slot_) return;
      names_.emplace_back(entry.key());
      bytes_ += sizeof(std::string) + entry.key().size();
      --left_;
    });
    if (cursor_ == 0) left_ = 0;
    budget -= std::min(budget, seen);
  }
  return done();
}

// Without memory for a name the client gets an error.
bool SlotWalk::DoSome(Now now, size_t budget) noexcept {
  try {
    if (!Some(now, budget)) return true;
  } catch (const std::bad_alloc&) {
    failed_ = true;
    left_ = 0;
  }
  if (session_.parked != nullptr) server_.parking.Wake(*session_.parked, WakeReason::kReady);
  return false;
}

}  // namespace mayfly
