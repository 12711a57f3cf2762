// A call: one running request, from any sender.
//
// A client's pipeline, a woken client, a transaction, a script, a master's stream and a test all make their calls through
// Executor::MakeCall (a pipeline through the same code without a struct). Calls may be nested: a handler makes an inner call by
// Context::MakeCall.
// The whole state of a call lies on the stack: arguments, clock and timer.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/time/clock.h"
#include "exec/call/refusal.h"

namespace mayfly {

namespace resp {
class Writer;
}

struct Session;
struct TableRow;

enum class Origin : uint8_t {
  kClient,       // a client sent it
  kWoken,        // a client sent the request and had to wait
  kTransaction,  // a part of another call: cannot wait, and the outer call is the client's last command
  kScript,
  kMaster,  // a replica's master sent it: nothing but its form is a reason to refuse it
};

// True if a call may park its client.
constexpr bool MayBlock(Origin origin) noexcept {
  return origin == Origin::kClient || origin == Origin::kWoken;
}

struct Call {
  Session& session;
  resp::Writer& reply;  // for the reply: the session's, or a buffer's (exec/call/reply_buffer.h)
  Now now;              // inner calls get the outer call's time: their time stands still
  Origin origin;
  std::span<const std::string_view> arguments;  // not empty
  const TableRow* row;                          // null: the command is unknown
  // The call runs although maxmemory or a namespace's limit is exceeded. A script that has written sets this, because it
  // must not be left half done.
  bool ignores_memory_limits = false;
};

// A running call that was made by itself, not in a group of a batch. RunningCalls are linked through the stack, from the
// innermost to the outermost.
class RunningCall {
 public:
  RunningCall(const Call& running, const RunningCall*& innermost) noexcept
      : call(running), outer(innermost), innermost_(innermost) {
    innermost = this;
  }
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;
  ~RunningCall() { innermost_ = outer; }

  const Call& call;
  const RunningCall* const outer;  // null: none

 private:
  const RunningCall*& innermost_;
};

struct Outcome {
  Refusal refused = Refusal::kNone;
  uint64_t errors = 0;  // error replies, including a refusal's
};

}  // namespace mayfly
