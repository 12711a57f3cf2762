#include "exec/dispatch/refuse.h"

#include <array>
#include <cassert>

#include "base/eviction_policy.h"
#include "base/text/ascii.h"
#include "config/sources/options.h"
#include "exec/acl/permission.h"
#include "exec/call/errors.h"
#include "exec/call/usage.h"
#include "exec/cluster/redirect.h"
#include "exec/dispatch/queueing.h"
#include "exec/memory/memory_gate.h"
#include "server/acl/user.h"

namespace mayfly {
namespace {

// Between the two parts stands the command's name, unless the second one is empty.
struct Text {
  Refusal why;
  std::string_view before;
  std::string_view after = {};
};

constexpr std::array<Text, 17> kTexts = {{
    {Refusal::kArity, "ERR wrong number of arguments for '", "' command"},
    {Refusal::kLogin, errors::kNoAuth},
    {Refusal::kNoMulti, "ERR Command not allowed inside a transaction"},
    {Refusal::kPermission, "NOPERM this user has no permissions to run the '", "' command"},
    {Refusal::kKey, "NOPERM this user has no permissions to access one of the keys used as arguments"},
    {Refusal::kChannel,
     "NOPERM this user has no permissions to access one of the channels used as arguments"},
    {Refusal::kMemory, errors::kOutOfMemory},
    {Refusal::kNamespace, errors::kOutOfMemory},
    {Refusal::kUnsaved, errors::kUnsaved},
    {Refusal::kFewReplicas, errors::kFewReplicas},
    {Refusal::kReadOnly, errors::kReadOnly},
    {Refusal::kSubscriber, "ERR Can't execute '",
     "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"},
    {Refusal::kMasterDown, errors::kMasterDown},
    {Refusal::kLoading, errors::kLoading},
    {Refusal::kBusy, errors::kBusyScript},
    {Refusal::kBusyFunction, errors::kBusyFunction},
    {Refusal::kMonitor, "ERR Replica can't interact with the keyspace"},
}};

constexpr size_t kMostText = 128;

std::string UnknownCommand(const Args& args) {
  std::string text = "ERR unknown command '" + std::string(errors::Repeated(args[0], kMostText)) +
                     "', with args beginning with: ";
  std::string shown;
  for (size_t i = 1; i < args.size() && shown.size() < kMostText; ++i)
    shown += "'" + std::string(errors::Repeated(args[i], kMostText - shown.size())) + "' ";
  return text + shown;
}

std::string UnknownSubcommand(const Args& args) {
  const std::string name = UpperCase(errors::Repeated(args[0], kMostText));
  return "ERR unknown subcommand '" + std::string(errors::Repeated(args[1], kMostText)) + "'. Try " + name +
         " HELP.";
}

Refusal RefusalOf(Denial denial) noexcept {
  switch (denial) {
    case Denial::kNone:
      return Refusal::kNone;
    case Denial::kKey:
      return Refusal::kKey;
    case Denial::kChannel:
      return Refusal::kChannel;
    case Denial::kCommand:
      break;
  }
  return Refusal::kPermission;
}

bool Has(uint32_t modes, Mode mode) noexcept { return (modes & BitOf(mode)) != 0; }

// The same whether the command runs or is queued: so when memory is full, a transaction may still be made that frees some.
bool HasRoom(uint32_t flags, const TableRow& row, MemoryGate& gate, Now now) {
  if (!row.writes && (flags & kDenyOom) == 0) return true;
  return gate.MakeRoom((flags & kDenyOom) != 0, now);
}

}  // namespace

Refusal WhyRefused(Server& server, const Session& session, uint32_t modes, const Args& args,
                   const TableRow* row, MemoryGate* gate, Now now) {
  if (row == nullptr) return Refusal::kUnknownCommand;
  // A subcommand that is known has a row of its own.
  if (!row->subcommands.empty() && args.size() >= 2) return Refusal::kUnknownSubcommand;
  if (!row->Takes(args.size())) return Refusal::kArity;
  const uint32_t flags = row->command->flags;
  if (Has(modes, Mode::kStranger) && row->needs_login) return Refusal::kLogin;
  if (Has(modes, Mode::kTransaction) && (flags & kNoMulti) != 0) return Refusal::kNoMulti;
  if (session.restricted()) {
    const Permission permission = FindPermission(*session.user(), *row, args.all());
    if (!permission.granted()) return RefusalOf(permission.denial);
  }
  if (Has(modes, Mode::kClustered) && !RunsHere(server, session, *row, args.all()))
    return Refusal::kElsewhere;
  const uint32_t flags_of_call = FlagsIfReadable(server, session, *row, args);
  const bool read_only = gate != nullptr && gate->RefusesWrites();
  if (gate != nullptr && !Has(modes, Mode::kPaused) && !read_only) {
    if (!HasRoom(flags_of_call, *row, *gate, now)) return Refusal::kMemory;
    if (!gate->KeysFit(*row, args.all(), now)) return Refusal::kNamespace;
  }
  const bool writes = row->writes || (flags_of_call & kWrite) != 0;
  // As in Redis, PING tells health checks.
  if (Has(modes, Mode::kUnsaved) && (writes || row->full_name == "ping")) return Refusal::kUnsaved;
  if (read_only && writes) return Refusal::kReadOnly;
  if (Has(modes, Mode::kFewReplicas) && writes) return Refusal::kFewReplicas;
  if (Has(modes, Mode::kSubscribed) && session.reply.version() == 2 && (flags & kWhileSubscribed) == 0)
    return Refusal::kSubscriber;
  const uint32_t permits = PermittingFlagsOf(flags_of_call, session, *row);
  if (Has(modes, Mode::kNoMaster) && (permits & kStale) == 0) return Refusal::kMasterDown;
  if (Has(modes, Mode::kLoading) && (permits & kLoading) == 0) return Refusal::kLoading;
  if (Has(modes, Mode::kBusy) && (flags & kAllowBusy) == 0)
    return Has(modes, Mode::kBusyFunction) ? Refusal::kBusyFunction : Refusal::kBusy;
  if (Has(modes, Mode::kMonitor) && (flags_of_call & (kReadOnly | kWrite | kMayReplicate)) != 0)
    return Refusal::kMonitor;
  return Refusal::kNone;
}

std::string Explain(Refusal why, Server& server, const Session& session, const Args& args,
                    const TableRow* row) {
  assert(why != Refusal::kNone && (row != nullptr || why == Refusal::kUnknownCommand));
  if (why == Refusal::kUnknownCommand) return UnknownCommand(args);
  if (why == Refusal::kUnknownSubcommand) return UnknownSubcommand(args);
  if (why == Refusal::kElsewhere)
    return RedirectText(*server.cluster, session, DirectionOf(server, session, *row, args.all()));
  for (const Text& text : kTexts) {
    if (text.why != why) continue;
    std::string error(text.before);
    if (!text.after.empty()) error.append(row->full_name).append(text.after);
    if (why == Refusal::kArity && IsOfMayflyAlone(*row) && row->subcommands.empty())
      error.append(": ").append(UsageOf(*row));
    return error;
  }
  assert(false);
  return {};
}

std::string_view FurtherReason(Refusal why, const Server& server) noexcept {
  if (why != Refusal::kMemory) return {};
  switch (server.options.settings().maxmemory_policy) {
    case EvictionPolicy::kVolatileLru:
    case EvictionPolicy::kVolatileLfu:
    case EvictionPolicy::kVolatileRandom:
    case EvictionPolicy::kVolatileTtl:
    case EvictionPolicy::kVolatileS3Fifo:
      return " The volatile maxmemory-policy finds no key with a TTL to evict.";
    default:
      return {};
  }
}

std::string ExplainInTransaction(Refusal why, Server& server, const Session& session, const Args& args,
                                 const TableRow* row) {
  if (!IsDenial(why)) return Explain(why, server, session, args, row);
  std::string text =
      "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This "
      "command is no longer allowed for the following reason: ";
  if (why == Refusal::kKey) return text + "no permission to touch the specified keys";
  if (why == Refusal::kChannel) return text + "no permission to access one of the channels used as arguments";
  return text + "no permission to execute the command or subcommand";
}

}  // namespace mayfly
