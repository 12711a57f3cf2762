// The reasons to refuse a request before its handler, in Redis's order. Judge decides whether a request is refused, and
// Explain gives the error: nothing else refuses a request before its handler.
//
// A new reason is a member of the enum at its place in the order, a line of Judge and a line of the table of
// texts. Loop thread only.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "exec/dispatch/args.h"
#include "exec/dispatch/command_table.h"
#include "server/session.h"

namespace mayfly {

class Cluster;
class MemoryGate;

// In the order in which Redis looks for them: the first that holds is answered.
enum class Refusal : uint8_t {
  kNone,
  kUnknownCommand,
  kUnknownSubcommand,
  kArity,
  kLogin,       // nobody has logged in
  kNoMulti,     // not in a transaction
  kPermission,  // the user may not run this command
  kKey,         // or not with one of these keys
  kChannel,     // or channels
  kElsewhere,   // another daemon of the cluster serves its keys, or none does (exec/dispatch/redirect.h)
  kMemory,      // it may need memory, and there is nothing left to evict
  kNamespace,   // the same of a key's namespace; a script that has written something is refused, too
  kSubscriber,  // RESP2's subscriber mode
  kLoading,
  kBusy,          // a script has been running for too long
  kBusyFunction,  // a function has been
  kMonitor,       // a client that has sent MONITOR may use no key
};

// `modes`: those of the session and of the server. `row`: null if the command is unknown. Evicts, to make room
// for a command that writes; not during CLIENT PAUSE. `cluster`: not null with Mode::kClustered.
Refusal Judge(const Session& session, uint32_t modes, const Args& args, const TableRow* row, MemoryGate& gate,
              Now now, const Cluster* cluster);

// The error that Redis gives. Throws std::bad_alloc.
// REQUIRES: Judge gave `why`, which is not kNone.
std::string Explain(Refusal why, const Session& session, const Args& args, const TableRow* row,
                    const Cluster* cluster);
// The same for a part of a transaction, which was not refused when it was queued.
std::string ExplainInTransaction(Refusal why, const Session& session, const Args& args, const TableRow* row);

// Whether the user has no permission.
constexpr bool IsDenial(Refusal why) noexcept {
  return why == Refusal::kPermission || why == Refusal::kKey || why == Refusal::kChannel;
}

}  // namespace mayfly
