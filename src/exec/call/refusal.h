// The reasons to refuse a request before its handler, in Redis's order. exec/dispatch/refuse.h finds the reason.
#pragma once

#include <cstdint>

namespace mayfly {

// In the order of Redis's tests: the first true reason is answered.
enum class Refusal : uint8_t {
  kNone,
  kUnknownCommand,
  kUnknownSubcommand,
  kArity,
  kLogin,        // the client must log in first
  kNoMulti,      // not in a transaction
  kPermission,   // the user may not run this command
  kKey,          // or may not with one of these keys
  kChannel,      // or channels
  kElsewhere,    // another daemon of the cluster serves the keys, or no daemon does (exec/cluster/redirect.h)
  kMemory,       // the command may need memory, and no key is left to evict
  kNamespace,    // likewise in a key's namespace; a script that has written something is refused, too
  kUnsaved,      // the last save has failed, and the command writes
  kFewReplicas,  // fewer replicas than a write needs
  kReadOnly,     // a replica takes writes from its master alone
  kSubscriber,   // RESP2's subscriber mode
  kMasterDown,   // the link of a replica is down, and its data may be stale
  kLoading,      // a snapshot is loaded
  kBusy,         // a script has been running for too long
  kBusyFunction,  // a function has been running for too long
  kMonitor,       // a client that has sent MONITOR may use no key
};

// True if the user lacks a permission.
constexpr bool IsDenial(Refusal why) noexcept {
  return why == Refusal::kPermission || why == Refusal::kKey || why == Refusal::kChannel;
}

}  // namespace mayfly
