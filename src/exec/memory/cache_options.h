// Options for the ring of misses, TTLs and namespaces. For these a CONFIG SET gets the memory before anything is in
// force. Each function does what the option says now, and again whenever a CONFIG SET changes it. Throws
// std::bad_alloc.
#pragma once

#include "server/server.h"

namespace mayfly {

// maxmemory-policy, lfu-log-factor and lfu-decay-time: what accesses change in entries, and S3-FIFO's ghosts.
void FollowEvictionPolicy(Server& server);
// miss-ring-entries: cache/gone/miss_ring.h.
void FollowMissRing(Server& server);
// default-ttl, max-ttl, ttl-required, ttl-jitter and ttl-rule, and the default-ttl of a namespace: cache/time/ttl_rules.h.
void FollowTtlRules(Server& server);
// stream-node-max-bytes and stream-node-max-entries, for the streams that tasks go into (cache/keyspace/tasks.h).
void FollowStreamLimits(Server& server);
// namespace: cache/owners/namespaces.h. What is promised to them is up to MemoryGate::Promise.
void FollowNamespaces(Server& server);

}  // namespace mayfly
