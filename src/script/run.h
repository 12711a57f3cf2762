// One running script or function: its caller and its permissions.
//
// Functions in C++ find the run of their script by Interpreter::Of(L).run(). Loop thread only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "exec/call/reply_buffer.h"
#include "exec/dispatch/context.h"

namespace mayfly {
class Fiber;
}

namespace mayfly::script {

// The flags of a script's first line, or of a function's registration.
enum ScriptFlag : uint32_t {
  kNoWrites = 1 << 0,
  kAllowOom = 1 << 1,
  kAllowStale = 1 << 2,
  kNoCluster = 1 << 3,
  kAllowCrossSlotKeys = 1 << 4,
  kNoShebang = 1 << 5,  // no such line: checked call by call, as before Redis 7
};

struct Run {
  Server& server;
  Now now;
  Session& session;       // the script's own
  uint64_t caller;        // id of the session that called the script
  ReplyBuffer& replies;   // of the script's calls
  resp::Writer* reply;    // for the result of the script
  std::string_view name;  // a script's SHA-1, a function's name
  // Read at the start of the script, and not later.
  std::span<const std::string_view> keys;
  std::span<const std::string_view> args;
  bool is_eval = true;  // KEYS and ARGV are globals; a function gets both as its arguments
  bool read_only = false;
  bool allow_oom = false;
  bool one_slot = false;       // in a cluster, all keys of the script must have the same slot
  bool reads_replica = false;  // the client has said READONLY
  bool is_stale = false;       // the link to the master is down, and replica-serve-stale-data is off
  int slot = -1;               // the slot of the keys so far; -1: no keys so far
  bool wrote = false;          // the script has made a call that writes
  bool killed = false;
  uint64_t failures = 0;   // of this call, which the reply's errors do not tell
  uint64_t began = 0;      // cycles
  Fiber* fiber = nullptr;  // the fiber of the run, which can be suspended; null: runs on the caller's stack
};

}  // namespace mayfly::script
