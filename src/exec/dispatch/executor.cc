#include "exec/dispatch/executor.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/log/log.h"
#include "base/time/clock.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/acl/denials.h"
#include "exec/acl/permission.h"
#include "exec/call/command_table.h"
#include "exec/cluster/redirect.h"
#include "exec/dispatch/client_modes.h"
#include "exec/dispatch/discard.h"
#include "exec/dispatch/lease_pushes.h"
#include "exec/dispatch/queueing.h"
#include "exec/dispatch/refuse.h"
#include "exec/observe/incident_lines.h"
#include "server/acl/user.h"
#include "server/acl/users.h"
#include "server/clients/transaction.h"
#include "server/figures/incidents.h"
#include "server/figures/stats.h"
#include "server/hubs/hubs.h"
#include "server/waiting/leases.h"
#include "server/watch/event_log.h"
#include "server/watch/tracking.h"

namespace mayfly {
namespace {

// HTTP, from a browser or a forged cross-site request: nothing that follows may run.
bool SpeaksHttp(const Args& args) noexcept {
  return EqualsIgnoringCase(args[0], "POST") || EqualsIgnoringCase(args[0], "HOST:");
}

}  // namespace

Executor::Executor(Server& server)
    : Listener(server.hubs.client_ends),
      server_(server),
      batch_(server.commands, server.databases),
      gate_(server),
      observers_(server),
      monitors_(server, observers_),
      slow_calls_(server),
      hot_keys_(server.clock.Read().mono_ms),
      old_clock_cycles_(server.cycle_rate.ToCycles(kOldClockUs)) {
  server.executor = this;
  server.users.Begin(server.commands.catalogue());
  server.event_log.TakeTimeFrom(now_);
  FollowOptions();
  server.modes &= ~BitOf(Mode::kNewRules);  // nothing was planned by the old ones
  RefreshNow();
}

Now Executor::RefreshNow() noexcept {
  now_ = server_.clock.Read();
  refreshed_at_ = ReadCycles();
  return now_;
}

void Executor::Join(Cluster& cluster) {
  server_.cluster = &cluster;
  cluster.Follow(server_.options.settings());
  if (!cluster.emulated()) server_.modes |= BitOf(Mode::kClustered);
  server_.databases.task_settings().by_slots = !cluster.emulated();
}

void Executor::OnClientEnd(Session& session) noexcept {
  Discard(server_, session);
  monitors_.Remove(session);
}

void Executor::EndTurn() noexcept {
  if (server_.leases.any()) [[unlikely]]
    TellOfEndedLeases(server_, now_);
  if (server_.incidents.refuses_writes()) [[unlikely]]
    server_.incidents.LookForRoom(now_.mono_ms, server_.log, gate_.HasRoom());
  server_.tracking.EndTurn();
  server_.hubs.turn_ends.Tell(now_);
}

uint32_t Executor::ModesOfAll() const noexcept {
  const ParkingLot& parking = server_.parking;
  return server_.modes | (parking.paused() != PauseOf::kNobody ? BitOf(Mode::kPaused) : 0) |
         (parking.held().any() ? BitOf(Mode::kKeysHeld) : 0);
}

// ---- a batch

void Executor::Run(std::span<Feed> feeds) {
  server_.modes &= ~BitOf(Mode::kNewRules);  // nothing is planned
  if (batch_limits_.small_bytes == 0 && !slow_calls_.RecordsAlone(now_)) [[unlikely]]
    batch_limits_.small_bytes = Batch::kSmallBytes;
  for (std::span<Feed> left = feeds; !left.empty() && batch_.Plan(left, batch_limits_);) {
    hot_keys_.Pass(batch_.requests().size(), [this](size_t at) { CountKey(batch_.requests()[at]); });
    RunPlanned();
    while (!left.empty() && left.front().state > Feed::State::kPaused) left = left.subspan(1);
  }
  batch_.Clear();
  for (Feed& feed : feeds) {
    Session& session = *feed.session;
    session.active_mono_ms = now_.mono_ms;
    // Requests were parsed ahead, and an earlier one has to wait: parsing will start again from that one.
    if (feed.consumed != feed.planned) session.parser.Forget();
    if (feed.state == Feed::State::kBroken && session.MayRun()) AnswerBroken(feed);
    MarkIfDirty(session);
  }
}

[[gnu::always_inline]] inline void Executor::CountRun(CallTimer& timer, const TableRow& row,
                                                      const Planned& planned) noexcept {
  const bool alone = !row.constant_time || !planned.small;
  if (alone && planned.feed->session->parked != nullptr) [[unlikely]] {
    timer.RecordOne(row, /*begins=*/true, /*ends=*/false);
  } else {
    timer.Count(row);
    if (alone) Record(timer, &planned + 1);
  }
}

void Executor::RunPlanned() {
  gate_.ForgetCeiling();
  // A plain request that changes the server's modes ends the batch (kEndsTurn).
  uint32_t modes_of_all = ModesOfAll();
  CallTimer timer(server_.stats, track_latency_);
  const std::string_view* next_call = batch_.args().data();
  for (const Planned& planned : batch_.requests()) {
    const std::span<const std::string_view> call(next_call, planned.arg_count);
    next_call += planned.arg_count;
    Session& session = *planned.feed->session;
    const TableRow* const row = planned.row;
    const uint32_t modes = session.modes | modes_of_all;
    if ((modes != 0 || !planned.plain) && !RunsPlainly(planned, modes, call)) [[unlikely]] {
      Record(timer, &planned);
      if (!session.MayRun()) continue;
      planned.feed->consumed = planned.end;
      Args args(call, row != nullptr ? row->cursor : 1);
      args.SetList(batch_.args());
      RunWithModes(session, args, row, {planned.hash, planned.guess}, nullptr);
      modes_of_all = ModesOfAll();  // a transaction may change them
      timer.Restart();
    } else {
      assert(row != nullptr);
      planned.feed->consumed = planned.end;
      if (row != timer.row()) Record(timer, &planned);
      Args args(call, row->cursor);
      args.SetList(batch_.args());
      bool admitted = row->Takes(call.size());
      if (row->writes) admitted = admitted && gate_.MakeRoomFor(*row, now_);
      if (!admitted) [[unlikely]] {
        if (const Refusal why = WhyRefused(server_, session, 0, args, row, &gate_, now_);
            why != Refusal::kNone) {
          Record(timer, &planned);
          RefuseClient(why, session, args, row);
          continue;
        }
      }
      session.last_command = &row->full_name;
      Context context{.server = server_,
                      .session = session,
                      .row = *row,
                      .keyspace = server_.databases.At(session.db),
                      .reply = session.reply,
                      .now = now_,
                      .origin = Origin::kClient,
                      .first_key = {planned.hash, planned.guess}};
      if (row->reads_quickly) [[likely]] {
        Carry<Way::kQuickRead>(context, args);
        ++session.commands;
        if (planned.small) [[likely]] {
          timer.Count(*row);
          continue;
        }
      } else {
        only_quick_reads_ = false;
        Carry<Way::kPlain>(context, args);
        ++session.commands;
      }
      CountRun(timer, *row, planned);
      if (!row->writes) modes_of_all |= server_.modes;  // a script may be busy now
    }
    if (server_.parking.AnyReady()) [[unlikely]] {
      Record(timer, &planned + 1);
      ServeReady();
      timer.Restart();
    }
  }
  Record(timer, batch_.requests().data() + batch_.requests().size());
}

// Allows most requests of a user with rules, and most requests in a cluster, whose keys are mostly this node's.
[[gnu::always_inline]] inline bool Executor::RunsPlainly(
    const Planned& planned, uint32_t modes, std::span<const std::string_view> call) const noexcept {
  constexpr uint32_t kLookedAt =
      BitOf(Mode::kRestricted) | BitOf(Mode::kClustered) | BitOf(Mode::kReadsReplica);
  if ((modes & ~kLookedAt) != 0 || !planned.plain) return false;
  const Session& session = *planned.feed->session;
  const TableRow& row = *planned.row;
  if ((modes & BitOf(Mode::kRestricted)) != 0 && !IsQuicklyGranted(*session.user(), row, call)) return false;
  return (modes & BitOf(Mode::kClustered)) == 0 ||
         (row.Takes(call.size()) && RunsHere(server_, session, row, call));
}

// Clients that have yet to log in name no keys: their requests are refused.
[[gnu::noinline]] void Executor::CountKey(const Planned& request) noexcept {
  if (request.keyspace == nullptr || request.feed->session->user() == nullptr) return;
  hot_keys_.Count(request.keyspace->database(), request.hash, now_.mono_ms,
                  [&] { return ArgumentsOf(request)[request.row->first_key]; });
}

std::span<const std::string_view> Executor::ArgumentsOf(const Planned& request) const noexcept {
  size_t before = 0;
  for (const Planned* at = batch_.requests().data(); at != &request; ++at) before += at->arg_count;
  return {batch_.args().data() + before, request.arg_count};
}

[[gnu::noinline, gnu::cold]] void Executor::RecordLate(const TableRow* row, uint64_t calls, uint64_t cycles,
                                                       uint64_t ended, const Planned* end) noexcept {
  if (ended - refreshed_at_ > old_clock_cycles_) RefreshNow();
  if (row == nullptr || cycles < slow_calls_.least_cycles()) return;
  if (calls > 1) {
    slow_calls_.NoteGroup(*row, calls, cycles, now_);
    if (slow_calls_.RecordsAlone(now_)) batch_limits_.small_bytes = 0;
    return;
  }
  const Planned& request = end[-1];
  Session& session = *request.feed->session;
  slow_calls_.Note({session, session.reply, now_, Origin::kClient, ArgumentsOf(request), row}, cycles, now_);
}

[[gnu::noinline]] void Executor::RunWithModes(Session& session, Args& args, const TableRow* row,
                                              FirstKey first_key, Parked* resumed) {
  only_quick_reads_ = false;
  const uint32_t modes = session.modes | ModesOfAll();
  const ReplyScope scope(session);
  const PushScope pushes(session);
  // An empty line, or *0: Redis too ignores them, except that they end a CLIENT REPLY SKIP.
  if (args.size() == 0) return;
  const bool was_held_back = resumed != nullptr && resumed->paused;
  // A script that was suspended has run: its client gets the script's answer. What was parked has a row.
  const auto is_script = [row] { return (row->command->flags & kSkipMonitor) != 0; };
  const bool has_run = resumed != nullptr && !was_held_back && is_script();
  const Refusal why = has_run ? Refusal::kNone : WhyRefused(server_, session, modes, args, row, &gate_, now_);
  if (why != Refusal::kNone) {
    RefuseClient(why, session, args, row);
    if (session.tracking != nullptr) EndTrackedRequest(session, row);
    return;
  }
  if ((resumed == nullptr || was_held_back) && HoldBack(server_, session, args, *row)) return;
  session.last_command = &row->full_name;
  if (MustQueue(session, *row)) return QueueRequest(session, args, *row);
  Parked* const blocked = was_held_back ? nullptr : resumed;
  Perform(
      {session, session.reply, now_, blocked != nullptr ? Origin::kWoken : Origin::kClient, args.all(), row},
      args, first_key, blocked);
  // A suspended script still reads keys.
  const bool goes_on = session.parked != nullptr && (session.parked->paused || is_script());
  if (session.tracking != nullptr && !goes_on) EndTrackedRequest(session, row);
  if (blocked == nullptr) ++session.commands;
}

void Executor::AnswerBroken(Feed& feed) noexcept {
  only_quick_reads_ = false;
  Session& session = *feed.session;
  feed.consumed = feed.input.size();
  session.Set(Mode::kEnding);
  try {
    session.reply.Error("ERR " + session.parser.ErrorText());
    CountErrors(session.reply);
  } catch (const std::bad_alloc&) {
    CloseForMemory(session);
  }
}

void Executor::MarkIfDirty(Session& session) noexcept {
  if (session.attached() && (!session.output.empty() || session.closes()))
    server_.sessions.MarkDirty(session);
}

// ---- one call

Outcome Executor::MakeCall(const Call& call) {
  Args args(call.arguments, call.row != nullptr ? call.row->cursor : 1);
  gate_.ForgetCeiling();
  const bool in_transaction = call.origin == Origin::kTransaction;
  // EXEC was not refused, and its parts are not requests of their own. But the user's permissions may have changed,
  // or the user may be gone.
  // A script itself does not write, so its calls are refused while nothing can be saved, or replicas are too few.
  const bool by_master = call.origin == Origin::kMaster;
  uint32_t modes = call.session.modes;
  if (in_transaction) modes &= BitOf(Mode::kStranger);
  if (!in_transaction && !by_master)
    modes |= server_.modes & (BitOf(Mode::kUnsaved) | BitOf(Mode::kFewReplicas));
  MemoryGate* const gate = call.ignores_memory_limits || by_master ? nullptr : &gate_;
  const Refusal why = WhyRefused(server_, call.session, modes, args, call.row, gate, call.now);
  if (why != Refusal::kNone) return {why, Refuse(why, call.session, call.reply, call.origin, args, call.row)};
  assert(call.row != nullptr);
  return {why, Perform(call, args, {}, nullptr)};
}

uint64_t Executor::Perform(const Call& call, Args& args, FirstKey first_key, Parked* resumed) {
  only_quick_reads_ = false;
  const RunningCall running(call, running_);
  CallTimer timer(server_.stats, track_latency_);
  const bool observed = (server_.modes & BitOf(Mode::kObserved)) != 0;
  Context context{.server = server_,
                  .session = call.session,
                  .row = *call.row,
                  .keyspace = server_.databases.At(call.session.db),
                  .reply = call.reply,
                  .now = call.now,
                  .origin = call.origin,
                  .first_key = first_key,
                  .resumed = resumed};
  const uint64_t errors = Carry<Way::kWithModes>(context, args);
  if (call.session.tracking != nullptr) RememberReads(server_, call.session, call, context.keyspace);
  const bool waits = call.session.parked != nullptr;
  const bool postponed = waits && call.session.parked->paused;
  const CallTimer::Group recorded =
      timer.RecordOne(*call.row, /*begins=*/resumed == nullptr && !postponed, /*ends=*/!waits);
  if (MayBlock(call.origin) && recorded.ended - refreshed_at_ > old_clock_cycles_)
    RefreshNow();  // for an inner call time stands still
  if (!waits && recorded.cycles >= slow_calls_.least_cycles()) slow_calls_.Note(call, recorded.cycles, now_);
  if (observed && !postponed) observers_.Tell(call);
  return errors;
}

uint64_t Executor::ExecuteInMode(Context& context, Args& args) {
  const TraceScope trace(server_, context.session, context.row);
  return Execute(context, args);
}

template <Executor::Way kWay>
[[gnu::always_inline]] inline uint64_t Executor::Carry(Context& context, Args& args) {
  if constexpr (kWay == Way::kQuickRead) return Execute(context, args);
  const TableRow& row = context.row;
  // The changes of an inner call, in a transaction or a script, belong to the client of the outer call.
  if (MayBlock(context.origin)) server_.databases.SetClient(context.session.id);
  const uint64_t errors = kWay == Way::kPlain ? Execute(context, args) : ExecuteInMode(context, args);
  if (row.writes) gate_.HoldKeys(context.now);
  return errors;
}

[[gnu::always_inline]] inline uint64_t Executor::Execute(Context& context, Args& args) {
  const TableRow& row = context.row;
  resp::Writer& reply = context.reply;
  const char* const end = reply.out().end();
  // A handler that runs out of memory is answered with an error: handlers change nothing before they have all
  // the memory they need.
  try {
    row.command->handler(context, args);
  } catch (const OutputTooLong&) {
    EndTooLong(context.session, context.origin);
  } catch (const OwnersExhausted&) {
    AnswerFailure(errors::kOwnersExhausted, context.session, reply, context.origin, end);
  } catch (const std::bad_alloc&) {
    TellOfNoMemory(server_, context.session, now_);
    AnswerFailure(errors::kOutOfMemory, context.session, reply, context.origin, end);
  } catch (const TtlRequired&) {
    AnswerFailure(errors::kTtlRequired, context.session, reply, context.origin, end);
  } catch (const RequestPostponed&) {
    assert(reply.out().end() == end);
    Postpone(context, args);
  }
  if (reply.errors() == 0) [[likely]]
    return 0;
  ++row.calls.failed;
  return CountErrors(reply);
}

uint64_t Executor::Refuse(Refusal why, Session& session, resp::Writer& reply, Origin origin, const Args& args,
                          const TableRow* row) {
  if (why == Refusal::kUnknownCommand && &reply == &session.reply && SpeaksHttp(args)) {
    session.Set(Mode::kDropped);
    TellOfHttp(server_, session, now_);
    return 0;
  }
  const bool in_transaction = origin == Origin::kTransaction;
  if (IsDenial(why)) {
    if (MayBlock(origin)) session.last_command = &row->full_name;  // which its entry of ACL LOG shows
    NoteDenial(server_, {session, session, WhereIs(session, origin), *row, args.all()},
               FindPermission(*session.user(), *row, args.all()), now_);
  }
  TellOfRefusal(why, server_, session, args, now_);
  if (why != Refusal::kUnknownCommand && why != Refusal::kUnknownSubcommand) ++row->calls.rejected;
  std::string text = in_transaction ? ExplainInTransaction(why, server_, session, args, row)
                                    : Explain(why, server_, session, args, row);
  if (origin == Origin::kClient) text.append(FurtherReason(why, server_));
  reply.Error(NoteRefusal(why, server_, session, row, std::move(text)));
  return CountErrors(reply);
}

[[gnu::noinline, gnu::cold]] void Executor::RefuseClient(Refusal why, Session& session, const Args& args,
                                                         const TableRow* row) noexcept {
  only_quick_reads_ = false;
  Answer(session, [&] {
    try {
      Refuse(why, session, session.reply, Origin::kClient, args, row);
    } catch (...) {
      if (session.Has(Mode::kTransaction)) session.transaction->refused = true;
      throw;
    }
  });
}

void Executor::QueueRequest(Session& session, const Args& args, const TableRow& row) noexcept {
  Answer(session, [&] {
    try {
      Queue(server_, session, args, row);
    } catch (...) {
      session.transaction->refused = true;
      throw;
    }
    session.reply.Queued();
  });
}

template <typename Write>
void Executor::Answer(Session& session, Write&& write) noexcept {
  const char* const end = session.reply.out().end();
  try {
    write();
  } catch (const std::bad_alloc&) {
    try {
      AnswerFailure(errors::kOutOfMemory, session, session.reply, Origin::kClient, end);
    } catch (const std::bad_alloc&) {  // not for a client
    }
  }
}

[[gnu::noinline, gnu::cold]] uint64_t Executor::CountErrors(resp::Writer& reply) noexcept {
  only_quick_reads_ = false;
  const uint64_t errors = reply.errors();
  if (errors == 0) return 0;
  reply.ForgetErrors();
  server_.stats.error_replies += errors;
  try {
    server_.stats.errors.Count(reply.last_error_code(), errors);
  } catch (const std::bad_alloc&) {  // no memory to count a new code: it goes uncounted
  }
  return errors;
}

// An error reply says that nothing was done. If the reply itself found no memory, or a part of it is written
// already, an error would be false or would break the protocol, so the client is closed instead. The same
// happens if there is no memory for the error. An inner call leaves that to the outer one.
[[gnu::noinline, gnu::cold]] void Executor::AnswerFailure(std::string_view error, Session& session,
                                                          resp::Writer& reply, Origin origin,
                                                          const char* end_before) {
  only_quick_reads_ = false;
  if (reply.out().full()) return EndTooLong(session, origin);
  const bool half_written = session.pool().TakeFailed() || reply.out().end() != end_before;
  try {
    if (half_written) throw std::bad_alloc();
    reply.Error(error);
  } catch (const OutputTooLong&) {
    EndTooLong(session, origin);
  } catch (const std::bad_alloc&) {
    if (MayBlock(origin)) return CloseForMemory(session);
    // What the inner call has done stays done, so the outer one must not deny it.
    session.pool().NoteFailed();
    throw;
  }
}

// The reply is longer than its client may hold. The client is closed, as if the whole reply had been written and not read; an
// inner call leaves that to the outer one.
[[gnu::noinline, gnu::cold]] void Executor::EndTooLong(Session& session, Origin origin) {
  if (!MayBlock(origin)) throw OutputTooLong();
  if (session.attached()) server_.sessions.MarkDirty(session);  // though it may have nothing to write
  if (session.output.full()) return;                            // its writer closes the client
  session.Set(Mode::kDropped);
  ++server_.stats.output_limit_disconnections;
  server_.incidents.Tell(Incidents::Kind::kUnreadReplies, now_.mono_ms, server_.log, "closing client ",
                         session.peer, ": a reply to it is longer than it may hold");
}

[[gnu::noinline, gnu::cold]] void Executor::CloseForMemory(Session& session) noexcept {
  if (session.output.full()) return;  // not for lack of memory
  session.Set(Mode::kDropped);
  static_cast<void>(session.pool().TakeFailed());  // or the next client to lack memory would be closed, too
  server_.incidents.Tell(Incidents::Kind::kNoMemory, now_.mono_ms, server_.log, "closing client ",
                         session.peer, ": out of memory for its reply");
}

}  // namespace mayfly
