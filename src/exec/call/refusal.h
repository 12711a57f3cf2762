// The reasons to refuse a request before its handler, in Redis's order. exec/dispatch/refuse.h finds the one that holds.
#pragma once

#include <cstdint>

namespace mayfly {

// In the order in which Redis looks for them: the first that holds is answered.
enum class Refusal : uint8_t {
  kNone,
  kUnknownCommand,
  kUnknownSubcommand,
  kArity,
  kLogin,         // nobody has logged in
  kNoMulti,       // not in a transaction
  kPermission,    // the user may not run this command
  kKey,           // or not with one of these keys
  kChannel,       // or channels
  kElsewhere,     // another daemon of the cluster serves its keys, or none does (exec/cluster/redirect.h)
  kMemory,        // it may need memory, and there is nothing left to evict
  kNamespace,     // the same of a key's namespace; a script that has written something is refused, too
  kSubscriber,    // RESP2's subscriber mode
  kBusy,          // a script has been running for too long
  kBusyFunction,  // a function has been
  kMonitor,       // a client that has sent MONITOR may use no key
};

// Whether the user has no permission.
constexpr bool IsDenial(Refusal why) noexcept {
  return why == Refusal::kPermission || why == Refusal::kKey || why == Refusal::kChannel;
}

}  // namespace mayfly
