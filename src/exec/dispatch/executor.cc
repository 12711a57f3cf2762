#include "exec/dispatch/executor.h"

#include <algorithm>
#include <new>
#include <string>
#include <type_traits>

#include "base/clock.h"
#include "base/log.h"
#include "cache/databases.h"
#include "config/options.h"
#include "exec/dispatch/client_modes.h"
#include "exec/dispatch/command_table.h"
#include "exec/dispatch/memory_meter.h"
#include "exec/dispatch/resident_guard.h"
#include "server/sessions.h"
#include "server/stats.h"

namespace mayfly {
namespace {

AccessTracking AccessTrackingOf(EvictionPolicy policy) noexcept {
  switch (policy) {
    case EvictionPolicy::kAllKeysSieve:
      return AccessTracking::kVisitedBit;
    case EvictionPolicy::kAllKeysLfu:
    case EvictionPolicy::kVolatileLfu:
      return AccessTracking::kFrequency;
    default:
      return AccessTracking::kRecency;
  }
}

}  // namespace

Executor::Executor(Server& server)
    : server_(server),
      batch_(server.commands, server.databases),
      stale_cycles_(server.cycle_rate.ToCycles(kStaleUs)) {
  const auto track = [&server](const config::Settings& settings) {
    server.databases.TrackAccesses(AccessTrackingOf(settings.maxmemory_policy),
                                   {.log_factor = settings.lfu_log_factor,
                                    .decay_minutes = settings.lfu_decay_time_minutes,
                                    .random = &server.random});
  };
  track(server.options.settings());
  FollowOptions();
  server.options.OnChange(
      [this, track, &commands = server.commands](const config::Settings& settings, std::string_view name) {
        if (name == "maxmemory-policy" || name == "lfu-log-factor" || name == "lfu-decay-time")
          track(settings);
        if (name == "latency-tracking" && !settings.latency_tracking) commands.ForgetLatencies();
        if (name == "maxmemory" || name == "maxkeys") Settle();
        FollowOptions();
      });
  RefreshNow();
  Settle();
}

Now Executor::RefreshNow() noexcept {
  now_ = server_.clock.Read();
  refreshed_at_ = ReadCycles();
  return now_;
}

// ---- a batch

void Executor::Run(std::span<Feed> feeds) {
  for (std::span<Feed> left = feeds; batch_.Plan(left, batch_limits_);) {
    AnyModes(server_) ? RunPlanned<true>() : RunPlanned<false>();
    while (!left.empty() && left.front().state > Feed::State::kPaused) left = left.subspan(1);
  }
  for (Feed& feed : feeds) {
    Session& session = *feed.session;
    session.active_mono_ms = now_.mono_ms;
    // Requests were parsed ahead, and an earlier one has to wait: parsing will start again from that one.
    if (feed.consumed != feed.planned) session.parser.Forget();
    if (feed.state == Feed::State::kBroken && session.MayRun()) AnswerBroken(feed);
    MarkIfDirty(session);
  }
}

template <bool kWithModes>
void Executor::RunPlanned() {
  const resp::ArgList& arguments = batch_.args();
  command_began_ = ReadCycles();
  SetMemoryCeiling();
  const std::string_view* next_call = arguments.data();
  for (const Planned& planned : batch_.requests()) {
    const std::span<const std::string_view> call(next_call, planned.arg_count);
    next_call += planned.arg_count;
    Session& session = *planned.feed->session;
    if (!session.MayRun()) [[unlikely]]
      continue;
    planned.feed->consumed = planned.end;
    const TableRow* row = planned.row;
    const std::conditional_t<kWithModes, ModeScope, NoModeScope> scope(server_, session, row);
    if (row == nullptr && planned.arg_count == 0) [[unlikely]]
      continue;  // an empty line, or *0: Redis too ignores them, except that they end a CLIENT REPLY SKIP
    if (row != timed_row_) RecordCallTime();
    if (row == nullptr) [[unlikely]] {
      Reject(session, Args(call, 1), nullptr);
      continue;
    }
    Args args(call, row->cursor);
    args.SetList(arguments);
    if (kWithModes && HoldBack(server_, session, args, *row)) continue;
    if (!Execute(session, args, *row, {planned.hash, planned.guess}, nullptr)) continue;
    timed_row_ = row;
    ++timed_calls_;
    if (!row->constant_time || !planned.small) RecordCallTime();
  }
  RecordCallTime();
}

void Executor::FollowOptions() noexcept {
  const config::Settings& settings = server_.options.settings();
  output_pool_ = OutputPool::Of(settings.maxmemory, server_.options.memory_bytes());
  const uint64_t hard = settings.client_output_buffer_limit.normal.hard_bytes;
  const uint64_t most = output_pool_.most_bytes;
  batch_limits_ = {.max_bulk = settings.proto_max_bulk_len,
                   .most_output = hard == 0 ? most : std::min(hard, most),
                   .open_door = settings.requirepass.empty()};
}

void Executor::AnswerBroken(Feed& feed) noexcept {
  Session& session = *feed.session;
  const uint64_t errors_before = session.reply.errors();
  feed.consumed = feed.input.size();
  session.close_after_reply = true;
  try {
    session.reply.Error("ERR " + session.parser.ErrorText());
    CountErrors(session, errors_before);
  } catch (const std::bad_alloc&) {
    CloseForMemory(session);
  }
}

void Executor::MarkIfDirty(Session& session) noexcept {
  if (!session.output.empty() || session.close_after_reply || session.close_now)
    server_.sessions.MarkDirty(session);
}

// ---- one request

void Executor::Dispatch(Session& session, std::span<const std::string_view> arguments,
                        const Parked* resumed) {
  command_began_ = ReadCycles();
  SetMemoryCeiling();
  const TableRow* row = server_.commands.FindCall(arguments);
  Args args(arguments, row != nullptr ? row->cursor : 1);
  if (row == nullptr) {
    Reject(session, args, nullptr);
  } else if (Execute(session, args, *row, {}, resumed) && resumed == nullptr) {  // else it was counted before
    timed_row_ = row;
    timed_calls_ = 1;
    RecordCallTime();
  }
  MarkIfDirty(session);
}

void Executor::Resume(const Parked& parked) noexcept {
  try {
    RunAgain(parked);
  } catch (const std::bad_alloc&) {
    CloseForMemory(*parked.session);
    MarkIfDirty(*parked.session);
  }
}

// A request that a pause held back begins now, unless there is another pause.
void Executor::RunAgain(const Parked& parked) {
  const std::vector<std::string_view> arguments(parked.arguments.begin(), parked.arguments.end());
  const TableRow* row = server_.commands.FindCall(arguments);
  Session& session = *parked.session;
  const ModeScope scope(server_, session, row);
  if (parked.paused && row != nullptr && HoldBack(server_, session, Args(arguments, row->cursor), *row))
    return;
  Dispatch(session, arguments, parked.paused ? nullptr : &parked);
}

[[gnu::always_inline]] inline bool Executor::Execute(Session& session, Args& args, const TableRow& row,
                                                     FirstKey first_key, const Parked* resumed) {
  if (!Admit(session, args, row)) [[unlikely]]
    return false;
  const uint64_t errors_before = session.reply.errors();
  session.last_command = &row.full_name;
  Context context{.server = server_,
                  .session = session,
                  .row = row,
                  .keyspace = server_.databases.At(session.db),
                  .reply = session.reply,
                  .now = now_,
                  .first_key = first_key,
                  .resumed = resumed};
  Call(context, args);
  if (resumed == nullptr) ++session.commands;
  if (row.writes && server_.options.settings().maxkeys != 0) [[unlikely]]
    static_cast<void>(MakeRoomForCommand());
  const uint64_t errors = session.reply.errors() - errors_before;
  if (errors != 0) [[unlikely]] {
    CountErrors(session, errors_before);
    ++row.calls.failed;
  }
  return true;
}

[[gnu::always_inline]] inline bool Executor::Admit(Session& session, const Args& args, const TableRow& row) {
  const bool welcome = row.Takes(args.size()) && (session.authenticated || !row.needs_login ||
                                                  server_.options.settings().requirepass.empty());
  if (welcome && (!row.writes || MakeRoomFor(row))) [[likely]]
    return true;
  Reject(session, args, &row);
  return false;
}

// Only commands that write evict before they run. What other commands leave above the limit (buffers) is
// evicted by the turns of the loop.
[[gnu::always_inline]] inline bool Executor::MakeRoomFor(const TableRow& row) {
  return server_.memory.All() <= memory_ceiling_ || MakeRoomSlowly(row);
}

bool Executor::MakeRoomSlowly(const TableRow& row) {
  SetMemoryCeiling();
  return server_.memory.All() <= memory_ceiling_ ||
         MakeRoomForCommand() != Evictor::Outcome::kNothingToEvict || (row.command->flags & kDenyOom) == 0;
}

// The ceiling includes buffers of clients and memory that waits to be freed. Both change little within a
// batch, and only in the direction that makes the ceiling too low, which costs no more than a second look.
void Executor::SetMemoryCeiling() noexcept {
  const uint64_t maxmemory = Limits().maxmemory_bytes;
  memory_ceiling_ = maxmemory == 0 ? UINT64_MAX : server_.memory.AllWith(maxmemory);
}

// Replies with the reason why a request cannot run. `row`: null if the command is unknown.
[[gnu::noinline, gnu::cold]] void Executor::Reject(Session& session, const Args& args,
                                                   const TableRow* row) noexcept {
  const char* const end = session.reply.out().end();
  try {
    AnswerRefusal(session, args, row);
  } catch (const std::bad_alloc&) {
    AnswerNoMemory(session, end);
  }
}

void Executor::AnswerRefusal(Session& session, const Args& args, const TableRow* row) {
  const uint64_t errors_before = session.reply.errors();
  // A subcommand that is known has a row of its own.
  if (row == nullptr || (!row->subcommands.empty() && args.size() >= 2)) {
    RejectUnknown(session, args, row);
  } else {
    ++row->calls.rejected;
    if (!row->Takes(args.size()))
      session.reply.Error(errors::WrongArity(row->full_name));
    else if (row->needs_login && !session.authenticated && !server_.options.settings().requirepass.empty())
      session.reply.Error(errors::kNoAuth);
    else
      session.reply.Error(errors::kOutOfMemory);
  }
  CountErrors(session, errors_before);
}

[[gnu::noinline, gnu::cold]] void Executor::CountErrors(const Session& session, uint64_t before) noexcept {
  const uint64_t errors = session.reply.errors() - before;
  if (errors == 0) return;
  server_.stats.error_replies += errors;
  try {
    server_.stats.errors.Count(session.reply.last_error_code(), errors);
  } catch (const std::bad_alloc&) {  // no memory to count a new code: it goes uncounted
  }
}

// A handler that runs out of memory is answered with an error: handlers change nothing before they have all
// the memory they need.
[[gnu::always_inline]] inline void Executor::Call(Context& context, Args& args) {
  Session& session = context.session;
  const char* const end = session.reply.out().end();
  try {
    context.row.command->handler(context, args);
  } catch (const std::bad_alloc&) {
    AnswerNoMemory(session, end);
  }
}

// An error reply says that nothing was done. If the reply itself found no memory, or a part of it is written
// already, an error would be false or would break the protocol, so the client is closed instead. The same
// happens if there is no memory for the error.
[[gnu::noinline, gnu::cold]] void Executor::AnswerNoMemory(Session& session,
                                                           const char* end_before) noexcept {
  if (session.pool.TakeFailed() || session.reply.out().end() != end_before) return CloseForMemory(session);
  try {
    session.reply.Error(errors::kOutOfMemory);
  } catch (const std::bad_alloc&) {
    CloseForMemory(session);
  }
}

[[gnu::noinline, gnu::cold]] void Executor::CloseForMemory(Session& session) noexcept {
  session.close_now = true;
  static_cast<void>(session.pool.TakeFailed());  // or the next client to lack memory would be closed, too
  if (server_.log != nullptr)
    server_.log->Warning("closing client ", session.peer, ": out of memory for its reply");
}

void Executor::RejectUnknown(Session& session, const Args& args, const TableRow* container) {
  constexpr size_t kMostText = 128;
  if (container != nullptr) {
    std::string name(errors::Repeated(args[0], kMostText));
    for (char& c : name) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    session.reply.Error("ERR unknown subcommand '" + std::string(errors::Repeated(args[1], kMostText)) +
                        "'. Try " + name + " HELP.");
    return;
  }
  // HTTP, from a browser or a forged cross-site request: nothing that follows may run.
  if (EqualsIgnoringCase(args[0], "POST") || EqualsIgnoringCase(args[0], "HOST:")) {
    session.close_now = true;
    return;
  }
  std::string text = "ERR unknown command '" + std::string(errors::Repeated(args[0], kMostText)) +
                     "', with args beginning with: ";
  std::string shown;
  for (size_t i = 1; i < args.size() && shown.size() < kMostText; ++i)
    shown += "'" + std::string(errors::Repeated(args[i], kMostText - shown.size())) + "' ";
  session.reply.Error(text + shown);
}

// Adds the time since the last record to the calls since then, which are all of one command.
void Executor::RecordCallTime() noexcept {
  if (timed_row_ == nullptr) return;
  const uint64_t ended = ReadCycles();
  const uint64_t cycles = ended - command_began_;
  timed_row_->calls.calls += timed_calls_;
  server_.stats.commands_processed += timed_calls_;
  timed_row_->calls.cycles += cycles;
  if (Histogram* latency = timed_row_->latency.get(); latency != nullptr) [[likely]]
    latency->Add(timed_calls_ == 1 ? cycles : cycles / timed_calls_, timed_calls_);
  else
    TrackLatency(*timed_row_);
  command_began_ = ended;
  timed_row_ = nullptr;
  timed_calls_ = 0;
  if (ended - refreshed_at_ > stale_cycles_) [[unlikely]]
    RefreshNow();
}

// Latencies are recorded from the next call on; a row that is never called needs no histogram.
[[gnu::noinline, gnu::cold]] void Executor::TrackLatency(const TableRow& row) noexcept {
  if (server_.options.settings().latency_tracking) row.latency.reset(new (std::nothrow) Histogram);
}

// ---- memory

EvictionLimits Executor::Limits() const noexcept {
  const config::Settings& settings = server_.options.settings();
  return {.maxmemory_bytes = server_.resident.Allowed(settings.maxmemory.bytes),
          .maxkeys = static_cast<uint64_t>(settings.maxkeys),
          .policy = settings.maxmemory_policy,
          .samples = static_cast<size_t>(settings.maxmemory_samples)};
}

Evictor::Outcome Executor::MakeRoomForCommand() noexcept {
  return MakeRoom(kEvictionsPerCommand, OwedByCommand());
}

Evictor::Outcome Executor::MakeRoom(size_t budget, const EvictionOwed& owed) noexcept {
  const uint64_t churned = server_.databases.heap().ChurnedBytes();
  if (server_.resident.Due(churned)) [[unlikely]]
    server_.resident.Look(churned, server_.memory.All(), server_.options.settings().maxmemory.bytes);
  const Evictor::Outcome outcome = server_.evictor.Run(
      Limits(), now_, budget, [this] { return server_.memory.Data(); }, owed);
  short_of_room_ = outcome == Evictor::Outcome::kMore;
  Settle();
  return outcome;
}

EvictionOwed Executor::OwedByCommand() const noexcept {
  const uint64_t settled = settled_.bytes + server_.stats.arriving_bytes;
  const uint64_t data = server_.memory.Data();
  if (!server_.resident.pressed() || data <= settled) return {settled, settled_.keys};
  return {settled - std::min(settled, (data - settled) * (kPressedFactor - 1)), settled_.keys};
}

void Executor::Settle() noexcept {
  const EvictionLimits limits = Limits();
  if (limits.maxmemory_bytes != 0) {
    const uint64_t arriving = server_.stats.arriving_bytes;
    const uint64_t bytes = std::max(limits.maxmemory_bytes, server_.memory.Data());
    settled_.bytes = bytes - std::min(arriving, bytes);
  }
  if (limits.maxkeys != 0) settled_.keys = std::max<uint64_t>(limits.maxkeys, server_.databases.total_keys());
}

bool Executor::EvictSome(size_t budget) { return MakeRoom(budget) == Evictor::Outcome::kMore; }

}  // namespace mayfly
