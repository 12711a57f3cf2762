// MULTI, EXEC, DISCARD, WATCH, UNWATCH: transactions. exec/dispatch/queueing.h queues the requests in between.
#include "server/clients/transaction.h"

#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "cache/keyspace/databases.h"
#include "exec/call/reply_buffer.h"
#include "exec/dispatch/context.h"
#include "exec/dispatch/discard.h"
#include "exec/values/timed_access.h"
#include "server/watch/watched_keys.h"

namespace mayfly::transaction_commands {
namespace {

constexpr std::string_view kAborted = "EXECABORT Transaction discarded because of previous errors.";

void Begin(Session& session) {
  if (session.transaction == nullptr) session.transaction = std::make_unique<Transaction>();
}

void Multi(Context& ctx, Args&) {
  if (ctx.session.Has(Mode::kTransaction)) return ctx.Fail("ERR MULTI calls can not be nested");
  Begin(ctx.session);
  ctx.session.Set(Mode::kTransaction);
  ctx.reply.Ok();
}

void DiscardQueue(Context& ctx, Args&) {
  if (!ctx.session.Has(Mode::kTransaction)) return ctx.Fail("ERR DISCARD without MULTI");
  Discard(ctx.server, ctx.session);
  ctx.reply.Ok();
}

void Watch(Context& ctx, Args& args) {
  if (ctx.session.Has(Mode::kTransaction)) return ctx.Fail("ERR WATCH inside MULTI is not allowed");
  Begin(ctx.session);
  // After a change of one key, changes of others make no difference.
  while (!args.Done() && !ctx.session.transaction->changed) {
    const std::string_view name = args.Next();
    Entry* const entry = ctx.keyspace.Peek(ctx.keyspace.KeyOf(name), ctx.now);
    ctx.server.watched_keys.Watch(ctx.session, ctx.session.db, name, entry != nullptr);
    if (entry != nullptr) entry->Set(EntryFlag::kListened);
  }
  ctx.reply.Ok();
}

// Within a transaction UNWATCH is queued, and EXEC has ended the watching before UNWATCH runs.
void Unwatch(Context& ctx, Args&) {
  if (ctx.session.transaction == nullptr || ctx.session.transaction->executing == 0)
    Discard(ctx.server, ctx.session);
  ctx.reply.Ok();
}

// Takes the queue of a client's transaction, and ends the transaction when EXEC has run. CLIENT INFO shows the transaction until then.
class Execution {
 public:
  // REQUIRES: the client is between MULTI and EXEC.
  explicit Execution(Session& session) noexcept
      : session_(session), queued_(std::move(session.transaction->queued)) {
    session.transaction->executing = queued_.size();
    session.Clear(Mode::kTransaction);
  }
  ~Execution() { session_.transaction.reset(); }
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  std::span<const Transaction::Queued> queued() const noexcept { return queued_; }

 private:
  Session& session_;
  const std::vector<Transaction::Queued> queued_;
};

// The client will be closed: the transaction's reply is longer than the client may hold, or has no memory, or a call has ended the
// connection itself. The calls from `next` on that change keys still run; nobody reads their replies.
void RunUnheard(Context& ctx, std::span<const Transaction::Queued> next) {
  ReplyBuffer unheard(ctx.session.pool(), ctx.reply.version());
  unheard.set_limit(ctx.session.output.limit());
  for (const Transaction::Queued& call : next) {
    if (call.row->only_reads) continue;
    try {
      ctx.MakeCall(call.arguments.all(), *call.row, unheard.writer(), Origin::kTransaction);
    } catch (const std::bad_alloc&) {  // OutputTooLong, too: the call has changed everything, or nothing
    }
    unheard.Clear();
  }
}

void Exec(Context& ctx, Args&) {
  Session& session = ctx.session;
  if (!session.Has(Mode::kTransaction)) return ctx.Fail("ERR EXEC without MULTI");
  if (MayHaveDue(ctx)) {
    for (const Transaction::Queued& call : session.transaction->queued)
      AwaitDue(ctx, *call.row->command, call.arguments.all());
  }
  const bool changed = ctx.server.watched_keys.Changed(session, ctx.server.databases, ctx.now);
  ctx.server.watched_keys.Forget(session);
  const bool refused = session.transaction->refused;
  const Execution execution(session);
  if (refused) return ctx.Fail(kAborted);
  if (changed) return ctx.reply.NullArray();
  const std::span<const Transaction::Queued> queued = execution.queued();
  size_t done = 0;
  try {
    ctx.reply.Array(queued.size());
    for (const Transaction::Queued& call : queued) {
      ++done;
      ctx.MakeCall(call.arguments.all(), *call.row, ctx.reply, Origin::kTransaction);
      if (session.Has(Mode::kEnding)) [[unlikely]]
        return RunUnheard(ctx, queued.subspan(done));
    }
  } catch (const OutputTooLong&) {
    RunUnheard(ctx, queued.subspan(done));
    throw;
  } catch (const std::bad_alloc&) {
    RunUnheard(ctx, queued.subspan(done));
    session.pool().NoteFailed();  // a call may have taken the note: the error would deny what is done
    throw;
  }
}

constexpr uint32_t kAnytime = kNoScript | kLoading | kStale;
constexpr uint32_t kQuick = kAnytime | kFast | kAllowBusy;

constexpr Command kRows[] = {
    {.name = "discard",
     .arity = 1,
     .flags = kQuick | kUnqueued,
     .acl = kAclTransaction,
     .handler = DiscardQueue,
     .since = "2.0.0",
     .complexity = "O(n), where n is the number of queued commands",
     .summary = "Ends a transaction without running what was queued."},
    {.name = "exec",
     .arity = 1,
     .flags = kAnytime | kSkipSlowlog | kUnqueued | kRunsQueue | kEndsBatch,
     .acl = kAclTransaction,
     .handler = Exec,
     .since = "1.2.0",
     .complexity = "that of the commands that were queued",
     .summary =
         "Runs the queued commands, with nothing of other clients in between, unless a watched key has "
         "changed."},
    {.name = "multi",
     .arity = 1,
     .flags = kQuick | kUnqueued,
     .acl = kAclTransaction,
     .handler = Multi,
     .since = "1.2.0",
     .complexity = "O(1)",
     .summary = "Begins a transaction: further commands are queued until EXEC."},
    {.name = "unwatch",
     .arity = 1,
     .flags = kQuick,
     .acl = kAclTransaction,
     .handler = Unwatch,
     .since = "2.2.0",
     .complexity = "O(1)",
     .summary = "Watches no key any more."},
    {.name = "watch",
     .arity = -2,
     .flags = kQuick | kUnqueued,
     .keys = {1, -1, 1, kKeyRO},
     .acl = kAclTransaction,
     .handler = Watch,
     .since = "2.2.0",
     .complexity = "O(1) for each key",
     .summary = "The next EXEC runs nothing if one of these keys has changed by then.",
     .syntax = "key [key ...]"},
};

const CommandFamily kFamily("transactions", kRows);

}  // namespace
}  // namespace mayfly::transaction_commands
