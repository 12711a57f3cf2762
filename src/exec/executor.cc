#include "exec/executor.h"

#include <algorithm>
#include <new>
#include <string>

namespace mayfly {
namespace {

EvictionPolicy PolicyOf(config::EvictionPolicy policy) noexcept {
  switch (policy) {
    case config::EvictionPolicy::kNoEviction:
      return EvictionPolicy::kNoEviction;
    case config::EvictionPolicy::kAllKeysLru:
      return EvictionPolicy::kAllKeysLru;
    case config::EvictionPolicy::kVolatileLru:
      return EvictionPolicy::kVolatileLru;
    case config::EvictionPolicy::kVolatileTtl:
      return EvictionPolicy::kVolatileTtl;
    case config::EvictionPolicy::kAllKeysRandom:
      return EvictionPolicy::kAllKeysRandom;
    case config::EvictionPolicy::kVolatileRandom:
      return EvictionPolicy::kVolatileRandom;
  }
  return EvictionPolicy::kNoEviction;
}

bool MayRun(const Session& session) noexcept {
  return session.parked == nullptr && !session.close_after_reply && !session.close_now;
}

}  // namespace

Executor::Executor(Server& server) : server_(server), stale_cycles_(server.cycle_rate.ToCycles(kStaleUs)) {
  plan_.reserve(kBatchRequests);
  RefreshNow();
}

Now Executor::RefreshNow() noexcept {
  now_ = server_.clock.Read();
  refreshed_at_ = ReadCycles();
  return now_;
}

// ---- a batch

size_t Executor::Run(Session& session, std::string_view input) {
  size_t consumed = 0;
  const config::Settings& settings = server_.options.settings();
  limits_.max_bulk = settings.proto_max_bulk_len;
  session.active_mono_ms = now_.mono_ms;
  command_began_ = ReadCycles();
  while (MayRun(session)) {
    limits_.authenticated = Authenticated(session);
    const bool sound = Plan(session, input, consumed);
    if (plan_.empty() && sound) break;
    LookAhead(session);
    consumed = RunPlanned(session, consumed);
    if (!sound && MayRun(session)) {
      session.reply.Error("ERR " + session.parser.ErrorText());
      ++server_.stats.error_replies;
      session.close_after_reply = true;
      consumed = input.size();
    }
  }
  if (!session.output.empty() || session.close_after_reply || session.close_now)
    server_.sessions.MarkDirty(session);
  return consumed;
}

bool Executor::Plan(Session& session, std::string_view input, size_t from) {
  plan_.clear();
  args_.Clear();
  size_t at = from;
  // A client that has to log in is parsed one request at a time: AUTH lifts its limits.
  const size_t most = limits_.authenticated ? kBatchRequests : 1;
  while (plan_.size() < most) {
    Planned next{};
    const resp::Status status = session.parser.Next(input.substr(at), limits_, args_, next.request);
    if (status != resp::Status::kReady) return status != resp::Status::kError;
    at += next.request.size;
    next.end = at;
    if (next.request.arg_count != 0) {
      const std::span arguments(args_.data() + next.request.first_arg, next.request.arg_count);
      next.row = RowOf(arguments);
      if (next.row != nullptr) {
        const auto first = static_cast<size_t>(next.row->command->keys.first);
        if (first != 0 && first < arguments.size()) {
          const Keyspace& keyspace = server_.databases.At(session.db);
          next.hash = keyspace.KeyOf(arguments[first]).hash;
          keyspace.PrefetchGroup(next.hash);
        }
      }
    }
    plan_.push_back(next);
    if (next.row != nullptr && (next.row->command->flags & (kEndsBatch | kBlocking)) != 0) break;
  }
  return true;
}

void Executor::LookAhead(const Session& session) noexcept {
  if (plan_.size() < 2) return;
  const Keyspace& keyspace = server_.databases.At(session.db);
  for (Planned& planned : plan_) {
    if (planned.hash != 0) planned.guess = keyspace.PrefetchEntry(planned.hash);
  }
  for (const Planned& planned : plan_) {
    if (planned.guess) keyspace.PrefetchNeighbours(planned.guess);
  }
}

size_t Executor::RunPlanned(Session& session, size_t from) {
  size_t consumed = from;
  for (const Planned& planned : plan_) {
    consumed = planned.end;
    if (planned.request.arg_count == 0) continue;  // an empty line, or *0: Redis ignores them too
    const std::span arguments(args_.data() + planned.request.first_arg, planned.request.arg_count);
    Args args(arguments, planned.row != nullptr && planned.row->parent != nullptr ? 2 : 1);
    args.SetBlocks(&args_, planned.request.first_arg);
    Execute(session, args, planned.row, planned.hash, nullptr);
    if (!MayRun(session)) break;
  }
  return consumed;
}

const TableRow* Executor::RowOf(std::span<const std::string_view> arguments) const noexcept {
  const TableRow* row = server_.commands.Find(arguments[0]);
  if (row == nullptr || row->subcommands.empty() || arguments.size() < 2) return row;
  const TableRow* sub = CommandTable::FindSubcommand(*row, arguments[1]);
  return sub != nullptr ? sub : row;
}

// ---- one request

void Executor::Dispatch(Session& session, std::span<const std::string_view> arguments,
                        const Parked* resumed) {
  command_began_ = ReadCycles();
  const TableRow* row = RowOf(arguments);
  Args args(arguments, row != nullptr && row->parent != nullptr ? 2 : 1);
  Execute(session, args, row, 0, resumed);
  if (!session.output.empty() || session.close_after_reply || session.close_now)
    server_.sessions.MarkDirty(session);
}

void Executor::Resume(const Parked& parked) {
  std::vector<std::string_view> arguments(parked.arguments.begin(), parked.arguments.end());
  Dispatch(*parked.session, arguments, &parked);
}

void Executor::Execute(Session& session, Args& args, const TableRow* row, uint64_t hash,
                       const Parked* resumed) {
  const uint64_t errors_before = session.reply.errors();
  if (!Admit(session, args, row)) {
    server_.stats.error_replies += session.reply.errors() - errors_before;
    return;
  }
  ++server_.stats.commands_processed;
  session.last_command = row->full_name;
  Context context{.server = server_,
                  .session = session,
                  .row = *row,
                  .keyspace = server_.databases.At(session.db),
                  .reply = session.reply,
                  .now = now_,
                  .first_key_hash = hash,
                  .resumed = resumed};
  Call(context, args);
  if ((row->command->flags & kWrite) != 0 && server_.options.settings().maxkeys != 0)
    static_cast<void>(MakeRoom(kEvictionsPerCommand));
  const uint64_t errors = session.reply.errors() - errors_before;
  if (errors != 0) [[unlikely]] {
    server_.stats.error_replies += errors;
    ++row->calls.failed;
  }
  KeepTime(*row);
}

bool Executor::Admit(Session& session, const Args& args, const TableRow* row) {
  if (row == nullptr) [[unlikely]] {
    RejectUnknown(session, args, nullptr);
    return false;
  }
  const Command& command = *row->command;
  if (!command.subcommands.empty() && args.size() >= 2) [[unlikely]] {  // else this were the subcommand's row
    RejectUnknown(session, args, row);
    return false;
  }
  const auto count = static_cast<int>(std::min<size_t>(args.size(), INT32_MAX));
  if ((command.arity > 0 && count != command.arity) || count < -command.arity) [[unlikely]] {
    session.reply.Error(errors::WrongArity(row->full_name));
    ++row->calls.rejected;
    return false;
  }
  if ((command.flags & kNoAuth) == 0 && !Authenticated(session)) [[unlikely]] {
    session.reply.Error(errors::kNoAuth);
    ++row->calls.rejected;
    return false;
  }
  const uint64_t maxmemory = server_.options.settings().maxmemory.bytes;
  if (maxmemory != 0 && server_.memory.Data() > maxmemory) [[unlikely]] {
    if (MakeRoom(kEvictionsPerCommand) == Evictor::Outcome::kNothingToEvict &&
        (command.flags & kDenyOom) != 0) {
      session.reply.Error(errors::kOutOfMemory);
      ++row->calls.rejected;
      return false;
    }
  }
  return true;
}

// Running out of memory is an answer, not an end: handlers change nothing before they have what they need.
// Only a reply that was cut off in its middle cannot be mended, so that client is closed.
void Executor::Call(Context& context, Args& args) {
  Session& session = context.session;
  const size_t pending = session.output.size();
  try {
    context.row.command->handler(context, args);
  } catch (const std::bad_alloc&) {
    if (session.output.size() == pending) {
      session.reply.Error(errors::kOutOfMemory);
    } else {
      session.close_now = true;
    }
  }
}

void Executor::RejectUnknown(Session& session, const Args& args, const TableRow* container) {
  constexpr size_t kMostText = 128;
  if (container != nullptr) {
    std::string name = container->full_name;
    for (char& c : name) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    session.reply.Error("ERR unknown subcommand '" + std::string(errors::Repeated(args[1], kMostText)) +
                        "'. Try " + name + " HELP.");
    return;
  }
  // A browser or a forged request to this port speaks HTTP: nothing that follows may be run.
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

void Executor::KeepTime(const TableRow& row) noexcept {
  const uint64_t ended = ReadCycles();
  ++row.calls.calls;
  row.calls.cycles += ended - command_began_;
  command_began_ = ended;
  if (ended - refreshed_at_ > stale_cycles_) [[unlikely]]
    RefreshNow();
}

bool Executor::Authenticated(const Session& session) const noexcept {
  return session.authenticated || server_.options.settings().requirepass.empty();
}

// ---- memory

EvictionLimits Executor::Limits() const noexcept {
  const config::Settings& settings = server_.options.settings();
  return {.maxmemory_bytes = settings.maxmemory.bytes,
          .maxkeys = static_cast<uint64_t>(settings.maxkeys),
          .policy = PolicyOf(settings.maxmemory_policy)};
}

Evictor::Outcome Executor::MakeRoom(size_t budget) {
  return server_.evictor.Run(Limits(), now_, budget, [this] { return server_.memory.Data(); });
}

bool Executor::EvictSome(size_t budget) { return MakeRoom(budget) == Evictor::Outcome::kMore; }

}  // namespace mayfly
