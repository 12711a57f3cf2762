// One running script or function: its caller and its permissions.
//
// Its Lua functions find it by Interpreter::Of(L).run(). Loop thread only.
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

// What a script's first line, or a function's registration, says of it.
enum ScriptFlag : uint32_t {
  kNoWrites = 1 << 0,
  kAllowOom = 1 << 1,
  kAllowStale = 1 << 2,
  kNoCluster = 1 << 3,
  kAllowCrossSlotKeys = 1 << 4,
  kNoShebang = 1 << 5,  // there was no such line: checked call by call, as before Redis 7
};

struct Run {
  Server& server;
  Now now;
  Session& session;       // the script's own
  uint64_t caller;        // id of the session that called it
  ReplyBuffer& replies;   // of its calls
  resp::Writer* reply;    // where its result goes
  std::string_view name;  // a script's SHA-1, a function's name
  // Read when it starts, and not after.
  std::span<const std::string_view> keys;
  std::span<const std::string_view> args;
  bool is_eval = true;  // KEYS and ARGV are globals; a function gets both as its arguments
  bool read_only = false;
  bool allow_oom = false;
  bool one_slot = false;  // in a cluster, all keys that it uses must have the same slot
  int slot = -1;          // of the keys so far; -1: it has used none
  bool wrote = false;     // it has made a call that writes
  bool killed = false;
  uint64_t inner_errors = 0;  // within its reply
  uint64_t began = 0;         // cycles
  Fiber* fiber = nullptr;     // on which it runs and can be suspended; null: on its caller's stack
};

}  // namespace mayfly::script
