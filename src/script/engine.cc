#include "script/engine.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/bits/key_slot.h"
#include "base/log/log.h"
#include "base/time/clock.h"
#include "base/time/tsc.h"
#include "cache/keyspace/databases.h"
#include "exec/call/errors.h"
#include "exec/dispatch/executor.h"
#include "exec/observe/monitors.h"
#include "server/clients/sessions.h"
#include "server/function_libraries.h"
#include "server/hubs/hubs.h"
#include "server/waiting/parking.h"

namespace mayfly::script {

// Its chunks are the engine's: the wait ends with its client, before the server.
struct Engine::Answer final : PendingWork {
  Answer(Engine& engine, int version) noexcept : reply(engine.chunks_, version) {
    reply.set_limit(engine.server_.executor->most_reply());
    reply.writer().ForgetErrors();
  }

  ReplyBuffer reply;
  bool lost = false;
  uint64_t failures = 0;
};

Engine::Engine(Server& server)
    : Step(server.sliced_work),
      server_(server),
      scripts_(server),
      libraries_(server),
      session_(chunks_),
      replies_(chunks_, 2),
      unheard_(chunks_, 2) {}

// A suspended script must reach its end before its stack goes.
Engine::~Engine() {
  while (fiber_.suspended()) {
    Kill();
    try {
      fiber_.Resume();
    } catch (const std::bad_alloc&) {  // nobody wants the answer
    }
  }
}

Engine& Engine::Of(Server& server) {
  if (server.scripts == nullptr) server.scripts = std::make_unique<Engine>(server);
  return static_cast<Engine&>(*server.scripts);
}

namespace {

FunctionLibraries* LibrariesOf(Server& server, bool make) {
  return make || server.scripts != nullptr ? &Engine::Of(server).libraries() : nullptr;
}
const FunctionLibraries::Home kHome(LibrariesOf);

}  // namespace

void Engine::Show(Context& ctx, const Args& call) {
  ctx.server.executor->monitors().Show({ctx.session, ctx.reply, ctx.now, ctx.origin, call.all(), &ctx.row});
}

// A script that writes nothing needs no room. While clients are paused, nothing is evicted.
bool Engine::HasRoom(Context& ctx, uint32_t flags) {
  if ((flags & (kNoShebang | kNoWrites)) != 0) return true;
  if (ctx.server.executor->RefusesWrites()) return ctx.Fail(errors::kReadOnly), false;
  if ((flags & kAllowOom) != 0) return true;
  if (ctx.server.parking.paused() != PauseOf::kNobody || ctx.server.executor->MakeRoom(ctx.now)) return true;
  ctx.Fail(errors::kOutOfMemory);
  return false;
}

uint32_t Engine::CommandFlagsOf(uint32_t command, uint32_t script) noexcept {
  if ((script & kNoShebang) != 0) return command;
  uint32_t flags = command & ~uint32_t{kStale | kDenyOom | kWrite | kMayReplicate};
  if ((script & (kAllowOom | kNoWrites)) == 0) flags |= kDenyOom;
  if ((script & kNoWrites) == 0) flags |= kWrite;
  if ((script & kAllowStale) != 0) flags |= kStale;
  return flags;
}

bool Engine::MayRun(Context& ctx, uint32_t flags, bool read_only) {
  const bool is_stale = (ctx.server.modes & BitOf(Mode::kNoMaster)) != 0;
  if ((flags & kNoShebang) != 0) return !is_stale || (ctx.Fail(errors::kMasterDown), false);
  if ((flags & kNoCluster) != 0 && ctx.server.cluster != nullptr) {
    ctx.Fail("ERR Can not run script on cluster, 'no-cluster' flag is set.");
    return false;
  }
  if (is_stale && (flags & kAllowStale) == 0) {
    ctx.Fail(
        "MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' and 'allow-stale' flag "
        "is not set on the script.");
    return false;
  }
  if (read_only && (flags & kNoWrites) == 0) {
    ctx.Fail("ERR Can not execute a script with write flag using *_ro command.");
    return false;
  }
  return true;
}

void Engine::RunScript(Context& ctx, const Args& call, const CachedScript& script, size_t keys,
                       bool read_only) {
  if (!MayRun(ctx, script.flags, read_only)) return;
  Job job{scripts_.interpreter(), script.function, NewRun(ctx, call, keys, script.flags, read_only)};
  job.run.name = script.sha;
  Start(ctx, call, job);
}

void Engine::RunFunction(Context& ctx, const Args& call, const Function& function, size_t keys,
                         bool read_only) {
  if (!MayRun(ctx, function.flags, read_only)) return;
  Job job{libraries_.interpreter(), function.function, NewRun(ctx, call, keys, function.flags, read_only)};
  job.run.name = function.name;
  job.run.is_eval = false;
  Start(ctx, call, job);
}

Run Engine::NewRun(Context& ctx, const Args& call, size_t keys, uint32_t flags, bool read_only) {
  constexpr size_t kFirstKey = 3;
  const auto words = call.all().subspan(kFirstKey);
  session_.LogIn(ctx.session.user());
  session_.db = ctx.session.db;
  session_.Put(Mode::kNoTouch, ctx.session.Has(Mode::kNoTouch));
  replies_.Clear();
  // A longer reply cannot become a value of Lua.
  replies_.set_limit(std::min<size_t>(server_.executor->most_reply(), LuaHeap::kMostBytes));
  replies_.writer().set_version(2);
  return {.server = server_,
          .now = ctx.now,
          .session = session_,
          .caller = ctx.session.id,
          .replies = replies_,
          .reply = &ctx.reply,
          .name = {},
          .keys = words.first(keys),
          .args = words.subspan(keys),
          .read_only = read_only || (flags & kNoWrites) != 0,
          .allow_oom = (flags & kAllowOom) != 0,
          .one_slot = (flags & (kNoShebang | kAllowCrossSlotKeys)) == 0,
          .reads_replica = ctx.session.Has(Mode::kReadsReplica),
          .is_stale = (server_.modes & BitOf(Mode::kNoMaster)) != 0,
          .slot = keys != 0 ? SlotOf(words[0]) : -1};
}

void Engine::Work(void* job) {
  Job& work = *static_cast<Job*>(job);
  work.interpreter.Call(work.run, work.function);
}

void Engine::Start(Context& ctx, const Args& call, const Job& job) {
  job_.emplace(job);
  if (!ctx.MayPark()) {
    Work(&*job_);
    return CountFailures(ctx);
  }
  job_->run.fiber = &fiber_;
  if (fiber_.Run(Work, &*job_)) return CountFailures(ctx);
  unheard_.Clear();
  unheard_.set_limit(server_.executor->most_reply());
  job_->run.reply = &unheard_.writer();
  caller_ = ctx.session.id;
  if (server_.log != nullptr)
    server_.log->Warning("a script has been running for ", BusyMs(), " ms: ", job_->run.name);
  server_.modes |= BitOf(Mode::kBusy) | (job_->run.is_eval ? 0 : BitOf(Mode::kBusyFunction));
  Announce();
  try {
    answer_ = std::make_unique<Answer>(*this, ctx.reply.version());
    ctx.Park(call, ParkingLot::kForever);
  } catch (const std::bad_alloc&) {
    answer_.reset();
    caller_ = 0;
    Kill();
    throw;
  }
  job_->run.reply = &answer_->reply.writer();
}

bool Engine::DoSome(Now, size_t) noexcept {
  server_.databases.SetClient(caller_);  // requests of other clients have run meanwhile
  try {
    if (!fiber_.Resume()) return true;
  } catch (const std::bad_alloc&) {
    if (answer_ != nullptr) answer_->lost = true;
  }
  server_.modes &= ~(BitOf(Mode::kBusy) | BitOf(Mode::kBusyFunction));
  server_.hubs.wakes.Signal();  // to parts that have waited for the end
  std::unique_ptr<Answer> answer = std::move(answer_);
  const Session* const caller = BusyClient();
  if (answer != nullptr && caller != nullptr && caller->parked != nullptr) {
    answer->failures = job_->run.failures;
    caller->parked->work = std::move(answer);
    server_.parking.Wake(*caller->parked, WakeReason::kReady);
  }
  return false;
}

void Engine::Continue(Context& ctx, const Args& call) {
  auto* const answer = static_cast<Answer*>(ctx.resumed->work.get());
  if (answer == nullptr)
    return ctx.Park(call, ParkingLot::kForever);  // it was CLIENT UNBLOCK that woke the client
  if (answer->lost) {
    if (answer->reply.writer().out().full()) throw OutputTooLong();
    throw std::bad_alloc();
  }
  const bool was_counted = answer->reply.writer().errors() == 0;
  if (answer->reply.MoveTo(ctx.reply) && was_counted) ctx.reply.ForgetErrors();
  ctx.row.calls.failed += answer->failures;
}

void Engine::AnswerKill(Context& ctx, bool of_eval) {
  if (busy() == nullptr) return ctx.Fail("NOTBUSY No scripts in execution right now.");
  if (busy()->wrote)
    return ctx.Fail(
        "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either "
        "wait the "
        "script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.");
  if (busy()->is_eval != of_eval) return ctx.Fail(of_eval ? errors::kBusyFunction : errors::kBusyScript);
  Kill();
  ctx.reply.Ok();
}

uint64_t Engine::BusyMs() const noexcept {
  return server_.cycle_rate.ToUs(ReadCycles() - job_->run.began) / kUsPerMs;
}

const Session* Engine::BusyClient() const noexcept {
  const auto found = server_.sessions.by_id().find(caller_);
  return found != server_.sessions.by_id().end() ? found->second : nullptr;
}

}  // namespace mayfly::script
