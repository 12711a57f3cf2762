// The scripts and functions of one server: storage, states of Lua, and the session of their calls.
//
// The calls of a script have a session of their own, with the user and the database of the script's caller: a SELECT in a
// script ends with the script. Each run begins with RESP2.
//
// A script that runs for longer than busy-reply-threshold does not hold up the loop. Scripts run on a stack of their own
// (base/fiber.h). A long script stops on that stack, its client is parked, and the script goes on in slices like other long
// work:
//
//   EVAL --Run--> script ... limit: Suspend --> client is parked, Mode::kBusy
//                                                  |
//                  slice: Resume --> ... Suspend <-+-> other clients get BUSY; SCRIPT KILL ends it
//                                                  |
//                  slice: Resume --> ... end ------+-> client is woken and gets the reply
//
// Meanwhile nothing is expired or evicted but by the script's own calls, so the script still sees one moment of time. Within
// a transaction a script cannot be parked, and is stopped with an error instead.
//
// The flags in a script's first line are checked before the script runs: CommandFlagsOf.
//
// Made by the first command that uses scripts; lives in Server::scripts. Loop thread only.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/fiber.h"
#include "base/memory/output.h"
#include "exec/call/reply_buffer.h"
#include "exec/dispatch/context.h"
#include "script/interpreter.h"
#include "script/library_store.h"
#include "script/script_cache.h"
#include "server/sliced_work.h"

namespace mayfly::script {

class Engine : public LatePart, private SlicedWork::Step {
 public:
  explicit Engine(Server& server);
  ~Engine() override;
  static Engine& Of(Server& server);

  ScriptCache& scripts() noexcept { return scripts_; }
  LibraryStore& libraries() noexcept { return libraries_; }

  // Shows monitors a call that is about to run a script, or to fail, before they see the script's own calls.
  static void Show(Context& ctx, const Args& call);
  // Returns true if memory is left for a script with these flags (ScriptFlag); otherwise writes the error.
  static bool HasRoom(Context& ctx, uint32_t flags);
  // The flags of a call with a row of flags `command`, if the call runs a script with the flags `script`.
  static uint32_t CommandFlagsOf(uint32_t command, uint32_t script) noexcept;

  // Runs a script and writes its reply, or the reason why the script may not run. The first `keys` arguments after the
  // number of keys are keys. The client may be parked afterwards.
  // REQUIRES: HasRoom.
  void RunScript(Context& ctx, const Args& call, const CachedScript& script, size_t keys, bool read_only);
  void RunFunction(Context& ctx, const Args& call, const Function& function, size_t keys, bool read_only);
  // Continues a call that was parked: writes the reply if the script has ended.
  // REQUIRES: ctx.resumed is not null.
  void Continue(Context& ctx, const Args& call);

  // DEBUG SET-DISABLE-DENY-SCRIPTS: whether scripts may call CONFIG, DEBUG, LATENCY and SLOWLOG.
  bool allows_tools() const noexcept { return allows_tools_; }
  void set_allows_tools(bool allows) noexcept { allows_tools_ = allows; }

  // The run of the script that has been running for too long; null without such a script.
  const Run* busy() const noexcept { return fiber_.suspended() ? &job_->run : nullptr; }
  // The time for which the busy script has been running.
  uint64_t BusyMs() const noexcept;
  // The client that called the busy script; null if the client has left.
  const Session* BusyClient() const noexcept;
  // SCRIPT KILL and FUNCTION KILL: ends the busy script at its next instruction, unless the script has written something.
  void AnswerKill(Context& ctx, bool of_eval);

 private:
  struct Job {
    Interpreter& interpreter;
    FunctionRef function;
    Run run;
  };

  // The reply of a script that was suspended. From the script's end on it belongs to the caller's wait: before the caller runs again,
  // another client's script may be suspended.
  struct Answer;

  // REQUIRES: busy() is not null.
  void Kill() noexcept { job_->run.killed = true; }
  // Goes on with the suspended script.
  bool DoSome(Now now, size_t budget) noexcept override;
  // Returns true if a script with these flags may run now; otherwise writes the error.
  static bool MayRun(Context& ctx, uint32_t flags, bool read_only);
  // Gives the scripts' session the user, the database and the mode of the caller.
  Run NewRun(Context& ctx, const Args& call, size_t keys, uint32_t flags, bool read_only);
  void Start(Context& ctx, const Args& call, const Job& job);
  // Call after the reply of the run is written.
  void CountFailures(const Context& ctx) const noexcept { ctx.row.calls.failed += job_->run.failures; }
  static void Work(void* job);

  Server& server_;
  ScriptCache scripts_;
  LibraryStore libraries_;
  ChunkPool chunks_{2};
  Session session_;
  ReplyBuffer replies_;
  std::unique_ptr<Answer> answer_;  // of the suspended script; at its end the caller's
  ReplyBuffer unheard_;             // the reply of a suspended script that found no memory for an answer
  std::optional<Job> job_;          // of fiber_
  Fiber fiber_;
  uint64_t caller_ = 0;  // id of the session that called the suspended script; not cleared at the end
  bool allows_tools_ = false;
};

}  // namespace mayfly::script
