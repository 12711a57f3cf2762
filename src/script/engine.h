// The scripts and functions of one server: storage, states of Lua, and the session of their calls.
//
// A script's calls have a session of their own, with its caller's user and database: a SELECT in a script ends with
// it. Each run begins with RESP2.
//
// A script that runs for longer than busy-reply-threshold does not hold up the loop. It has a stack of its own
// (base/fiber.h), on which it stops; its client is parked, and the script goes on in slices like other long work:
//
//   EVAL --Run--> script ... limit: Suspend --> client is parked, Mode::kBusy
//                                                  |
//                  slice: Resume --> ... Suspend <-+-> other clients get BUSY; SCRIPT KILL ends it
//                                                  |
//                  slice: Resume --> ... end ------+-> client is woken and gets the reply
//
// Meanwhile nothing is expired or evicted but by the script's own calls, so it still sees one moment of time. Within
// a transaction a script cannot be parked, and is stopped with an error instead.
//
// What a script says of itself is looked at before it runs: CommandFlagsOf.
//
// Made by the first command that needs it; lives in Server::scripts. Loop thread only.
#pragma once

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

  // Shows a call that is about to run a script, or to fail, to those who monitor: before the calls that it makes.
  static void Show(Context& ctx, const Args& call);
  // Whether there is memory for a script with these flags (ScriptFlag); if not, the error is written.
  static bool HasRoom(Context& ctx, uint32_t flags);
  // The flags of a call whose command has those of `command` and which runs a script with those of `script`.
  static uint32_t CommandFlagsOf(uint32_t command, uint32_t script) noexcept;

  // Runs a script and writes its reply, or the error why it may not run. The first `keys` arguments after the
  // number of keys are keys. The client may be parked afterwards.
  // REQUIRES: HasRoom.
  void RunScript(Context& ctx, const Args& call, const CachedScript& script, size_t keys, bool read_only);
  void RunFunction(Context& ctx, const Args& call, const Function& function, size_t keys, bool read_only);
  // The rest of a call that was parked: writes the reply if its script has ended.
  // REQUIRES: ctx.resumed is not null.
  void GoOn(Context& ctx, const Args& call);

  // DEBUG SET-DISABLE-DENY-SCRIPTS: whether scripts may call CONFIG, DEBUG, LATENCY and SLOWLOG.
  bool allows_tools() const noexcept { return allows_tools_; }
  void set_allows_tools(bool allows) noexcept { allows_tools_ = allows; }

  // The script that has been running for too long; null: there is none.
  const Run* busy() const noexcept { return fiber_.suspended() ? &job_->run : nullptr; }
  // For how long it has been running.
  uint64_t BusyMs() const noexcept;
  // The client that called it; null if that is gone.
  const Session* BusyClient() const noexcept;
  // SCRIPT KILL and FUNCTION KILL: ends it at its next instruction, unless it has written something.
  void AnswerKill(Context& ctx, bool of_eval);

 private:
  struct Job {
    Interpreter& interpreter;
    FunctionRef function;
    Run run;
  };

  // REQUIRES: busy() is not null.
  void Kill() noexcept { job_->run.killed = true; }
  // Goes on with the script that was suspended.
  bool DoSome(Now now, size_t budget) noexcept override;
  // Whether what has these flags may run now; if not, the error is written.
  static bool MayRun(Context& ctx, uint32_t flags, bool read_only);
  // With the session as its caller's is.
  Run NewRun(Context& ctx, const Args& call, size_t keys, uint32_t flags, bool read_only);
  void Start(Context& ctx, const Args& call, const Job& job);
  // After a run whose reply is written.
  void CountInnerErrors(const Context& ctx) const noexcept {
    if (job_->run.inner_errors != 0) ++ctx.row.calls.failed;
  }
  static void Work(void* job);

  Server& server_;
  ScriptCache scripts_;
  LibraryStore libraries_;
  ChunkPool chunks_{2};
  Session session_;
  ReplyBuffer replies_;
  ReplyBuffer answer_;  // of the script that was suspended
  bool answer_lost_ = false;
  std::optional<Job> job_;  // of fiber_
  Fiber fiber_;
  uint64_t caller_ = 0;    // id of the session whose script is or was suspended
  uint64_t answered_ = 0;  // of the one whose answer is there
  bool allows_tools_ = false;
};

}  // namespace mayfly::script
