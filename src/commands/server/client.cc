// CLIENT: names and modes of a client, lists of clients, and actions on other clients.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "exec/dispatch/context.h"
#include "exec/docs/command_help.h"
#include "exec/info/client_filter.h"
#include "exec/info/client_names.h"
#include "exec/observe/client_info.h"
#include "server/clients/sessions.h"
#include "server/waiting/parking.h"

namespace mayfly::client_commands {
namespace {

void ClientId(Context& ctx, Args&) { ctx.reply.Integer(static_cast<int64_t>(ctx.session.id)); }

void ClientGetName(Context& ctx, Args&) {
  const std::string& name = ctx.session.names().name;
  if (name.empty()) return ctx.reply.Null();
  ctx.reply.Bulk(name);
}

// The empty name removes the name.
void ClientSetName(Context& ctx, Args& args) {
  const std::string_view name = args.Next();
  if (!IsClientName(name)) return ctx.Fail(kBadClientName);
  ctx.session.MutableNames().name = name;
  ctx.reply.Ok();
}

void ClientSetInfo(Context& ctx, Args& args) {
  const std::string_view attribute = args.Next();
  const std::string_view value = args.Next();
  const bool is_name = EqualsIgnoringCase(attribute, "LIB-NAME");
  if (!is_name && !EqualsIgnoringCase(attribute, "LIB-VER"))
    return ctx.Fail("ERR Unrecognized option '" + std::string(errors::Repeated(attribute)) + "'");
  if (!IsClientName(value))
    return ctx.Fail("ERR " + std::string(attribute) +
                    " cannot contain spaces, newlines or special characters.");
  ClientNames& names = ctx.session.MutableNames();
  (is_name ? names.lib_name : names.lib_version) = value;
  ctx.reply.Ok();
}

// ---- information for the client

void ClientInfo(Context& ctx, Args&) {
  std::string text;
  AppendClientLine(text, ctx.session, ctx.now);
  ctx.reply.Verbatim("txt", text);
}

void ClientList(Context& ctx, Args& args) {
  ClientFilter filter;
  if (!ReadClientFilter(ctx, args, IdRule::kList, filter)) return;
  std::string text;
  ForEachMatch(ctx, filter, [&](const Session& session) { AppendClientLine(text, session, ctx.now); });
  ctx.reply.Verbatim("txt", text);
}

// ---- modes of the client

std::optional<bool> OnOrOff(std::string_view word) noexcept {
  if (EqualsIgnoringCase(word, "ON")) return true;
  if (EqualsIgnoringCase(word, "OFF")) return false;
  return std::nullopt;
}

void ClientNoEvict(Context& ctx, Args& args) {
  const std::optional<bool> on = OnOrOff(args.Next());
  if (!on) return ctx.Fail(errors::kSyntax);
  ctx.session.no_evict = *on;
  ctx.reply.Ok();
}

void ClientNoTouch(Context& ctx, Args& args) {
  const std::optional<bool> on = OnOrOff(args.Next());
  if (!on) return ctx.Fail(errors::kSyntax);
  ctx.session.Put(Mode::kNoTouch, *on);
  ctx.reply.Ok();
}

// OFF and SKIP get no reply.
void ClientReply(Context& ctx, Args& args) {
  Session& session = ctx.session;
  const std::string_view wanted = args.Next();
  if (EqualsIgnoringCase(wanted, "ON")) {
    session.SetReplies(Replies::kOn);
    session.Speak();
  } else if (EqualsIgnoringCase(wanted, "OFF")) {
    session.Silence();
    session.SetReplies(Replies::kOff);
  } else if (!EqualsIgnoringCase(wanted, "SKIP")) {
    return ctx.Fail(errors::kSyntax);
  } else if (session.replies() != Replies::kOff) {
    session.Silence();
    session.SetReplies(Replies::kSkipNext);
  }
  if (session.replies() == Replies::kOn) ctx.reply.Ok();
}

// ---- actions on other clients

// A client that kills itself still gets its reply; any other client gets nothing more.
void Kill(Context& ctx, Session& session) {
  if (&session == &ctx.session) {
    session.Set(Mode::kEnding);
  } else {
    session.Set(Mode::kDropped);
    if (!session.Has(Mode::kMaster)) ctx.server.sessions.MarkDirty(session);
  }
}

// Counts each killed client once. A client killed earlier in the same turn does not count.
int64_t KillAll(Context& ctx, const ClientFilter& filter) {
  int64_t killed = 0;
  ForEachMatch(ctx, filter, [&](Session& session) {
    if (session.Has(Mode::kDropped) || (&session == &ctx.session && session.Has(Mode::kEnding))) return;
    Kill(ctx, session);
    ++killed;
  });
  return killed;
}

void ClientKill(Context& ctx, Args& args) {
  ClientFilter filter;
  if (args.Left() == 1) {  // the old form: an address, perhaps the client's own
    filter.address = args.Next();
    if (KillAll(ctx, filter) == 0) return ctx.Fail("ERR No such client");
    return ctx.reply.Ok();
  }
  filter.skip_me = true;
  if (!ReadClientFilter(ctx, args, IdRule::kKill, filter)) return;
  ctx.reply.Integer(KillAll(ctx, filter));
}

void FailOnSyntaxOf(Context& ctx, const Args& args) { ctx.Fail(errors::WrongSubcommand("CLIENT", args[1])); }

void ClientPause(Context& ctx, Args& args) {
  if (args.Left() > 2) return FailOnSyntaxOf(ctx, args);
  const std::string_view timeout = args.Next();
  PauseOf whom = PauseOf::kEverybody;
  if (!args.Done()) {
    if (args.Accept("WRITE")) {
      whom = PauseOf::kWriters;
    } else if (!args.Accept("ALL")) {
      return ctx.Fail("ERR CLIENT PAUSE mode must be WRITE or ALL");
    }
  }
  const std::optional<int64_t> timeout_ms = ParseInteger(timeout);
  if (!timeout_ms) return ctx.Fail("ERR timeout is not an integer or out of range");
  if (*timeout_ms < 0) return ctx.Fail("ERR timeout is negative");
  const uint64_t longest = ParkingLot::kForever - ctx.now.mono_ms;
  const uint64_t length_ms = std::min(static_cast<uint64_t>(*timeout_ms), longest);
  if (length_ms != 0) ctx.server.parking.Pause(whom, ctx.now.mono_ms + length_ms);
  ctx.reply.Ok();
}

void ClientUnpause(Context& ctx, Args&) {
  ctx.server.parking.Unpause();
  ctx.reply.Ok();
}

// Ends another client's wait, as if the timeout had come, or with an error. Clients held back by CLIENT PAUSE are not
// blocked clients, nor are clients with a delayed login.
void ClientUnblock(Context& ctx, Args& args) {
  if (args.Left() > 2) return FailOnSyntaxOf(ctx, args);
  const std::string_view number = args.Next();
  WakeReason reason = WakeReason::kTimeout;
  if (!args.Done()) {
    if (args.Accept("ERROR")) {
      reason = WakeReason::kUnblocked;
    } else if (!args.Accept("TIMEOUT")) {
      return ctx.Fail("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
    }
  }
  const std::optional<int64_t> id = ParseInteger(number);
  if (!id) return ctx.Fail(errors::kNotInteger);
  const auto& sessions = ctx.server.sessions.by_id();
  const auto found = sessions.find(static_cast<uint64_t>(*id));
  Parked* const parked = found != sessions.end() ? found->second->parked : nullptr;
  if (parked == nullptr || parked->paused || parked->delayed) return ctx.reply.Integer(0);
  ctx.server.parking.Wake(*parked, reason);
  if (parked->reason == WakeReason::kReady) parked->reason = reason;  // woken before, perhaps in vain
  ctx.reply.Integer(1);
}

constexpr uint32_t kFlags = kNoScript | kLoading | kStale;
constexpr uint32_t kAdminFlags = kFlags | kAdmin;

constexpr Command kClientRows[] = {
    {.name = "getname",
     .arity = 2,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = ClientGetName,
     .since = "2.6.9",
     .complexity = "O(1)",
     .summary = "Answers with the connection's name, or nil."},
    HelpRow("5.0.0", kAclConnection),
    {.name = "id",
     .arity = 2,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = ClientId,
     .since = "5.0.0",
     .complexity = "O(1)",
     .summary = "Answers with the connection's number, which no other connection ever gets."},
    {.name = "info",
     .arity = 2,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = ClientInfo,
     .since = "6.2.0",
     .complexity = "O(1)",
     .summary = "Shows about this connection what CLIENT LIST shows about all.",
     .tips = "nondeterministic_output"},
    {.name = "kill",
     .arity = -3,
     .flags = kAdminFlags | kUnpaused,
     .acl = kAclConnection,
     .handler = ClientKill,
     .since = "2.4.0",
     .complexity = "O(N) where N is the number of client connections",
     .summary = "Closes the connections that meet all conditions, or the one with an address.",
     .syntax =
         "<ip:port | <ID client-id [client-id ...] | TYPE <NORMAL | MASTER | SLAVE | REPLICA | PUBSUB> | "
         "USER username | ADDR ip:port | LADDR ip:port | SKIPME <YES | NO> | MAXAGE maxage | NAME name | "
         "IDLE idle | FLAGS flags | LIB-NAME lib-name | LIB-VER lib-ver | DB db | IP ip> ...>",
     .argument_notes = "option=filter option=new-format ID@2.8.12 TYPE=normal_master_slave_pubsub@2.8.12 "
                       "MASTER@3.2.0 REPLICA@5.0.0 LADDR@6.2.0 MAXAGE@7.4.0",
     .notes = "Several client-ids and the filters from NAME on are those of Valkey 9."},
    {.name = "list",
     .arity = -2,
     .flags = kAdminFlags,
     .acl = kAclConnection,
     .handler = ClientList,
     .since = "2.4.0",
     .complexity = "O(N) where N is the number of client connections",
     .summary = "Shows connections, a line for each.",
     .syntax = "[TYPE <NORMAL | MASTER | REPLICA | PUBSUB>] [ID client-id [client-id ...]] [USER username] "
               "[ADDR ip:port] [LADDR ip:port] [SKIPME <YES | NO>] [MAXAGE maxage] [NAME name] [IDLE idle] "
               "[FLAGS flags] [LIB-NAME lib-name] [LIB-VER lib-ver] [DB db] [IP ip]",
     .argument_notes = "TYPE=normal_master_replica_pubsub@5.0.0 ID@6.2.0",
     .tips = "nondeterministic_output",
     .notes = "Takes the filters of CLIENT KILL in any number, as Valkey 9 does; Redis takes TYPE or ID."},
    {.name = "no-evict",
     .arity = 3,
     .flags = kAdminFlags,
     .acl = kAclConnection,
     .handler = ClientNoEvict,
     .since = "7.0.0",
     .complexity = "O(1)",
     .summary = "Excludes this connection from those that maxmemory-clients closes.",
     .syntax = "<ON | OFF>",
     .argument_notes = "condition=enabled"},
    {.name = "no-touch",
     .arity = 3,
     .flags = kFlags | kEndsBatch,
     .acl = kAclConnection,
     .handler = ClientNoTouch,
     .since = "7.2.0",
     .complexity = "O(1)",
     .summary = "Lets this connection read keys without counting as an access; TOUCH still counts.",
     .syntax = "<ON | OFF>",
     .argument_notes = "condition=enabled"},
    {.name = "pause",
     .arity = -3,
     .flags = kAdminFlags | kEndsBatch | kEndsTurn | kUnpaused,
     .acl = kAclConnection,
     .handler = ClientPause,
     .since = "2.9.50",
     .complexity = "O(1)",
     .summary = "Holds back all requests for a time, or only those that write.",
     .syntax = "timeout [WRITE | ALL]",
     .argument_notes = "condition=mode@6.2.0",
     .notes = "Keys expire during a pause too, and CLIENT KILL, PAUSE and UNPAUSE are never held back."},
    {.name = "reply",
     .arity = 3,
     .flags = kFlags | kEndsBatch,
     .acl = kAclConnection,
     .handler = ClientReply,
     .since = "3.2.0",
     .complexity = "O(1)",
     .summary = "Turns this connection's replies on or off, or omits the next one.",
     .syntax = "<ON | OFF | SKIP>",
     .argument_notes = "condition=on_off_skip",
     .notes = "QUIT closes the connection even if its reply is turned off; Redis leaves it open."},
    {.name = "setinfo",
     .arity = 4,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = ClientSetInfo,
     .since = "7.2.0",
     .complexity = "O(1)",
     .summary = "Stores the name or version of the client library, for CLIENT LIST.",
     .syntax = "<LIB-NAME libname | LIB-VER libver>",
     .argument_notes = "option=attr",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
    {.name = "setname",
     .arity = 3,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = ClientSetName,
     .since = "2.6.9",
     .complexity = "O(1)",
     .summary = "Names the connection; an empty name removes the name.",
     .syntax = "connection-name",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
    {.name = "unblock",
     .arity = -3,
     .flags = kAdminFlags,
     .acl = kAclConnection,
     .handler = ClientUnblock,
     .since = "5.0.0",
     .complexity = "O(log N) where N is the number of client connections",
     .summary = "Ends another connection's wait, as if its timeout had come or with an error.",
     .syntax = "client-id [TIMEOUT | ERROR]",
     .argument_notes = "condition=timeout_error"},
    {.name = "unpause",
     .arity = 2,
     .flags = kAdminFlags | kUnpaused,
     .acl = kAclConnection,
     .handler = ClientUnpause,
     .since = "6.2.0",
     .complexity = "O(N) where N is the number of connections held back",
     .summary = "Ends a pause: requests that were held back run."},
};

constexpr Command kRows[] = {
    {.name = "client",
     .arity = -2,
     .since = "2.4.0",
     .complexity = "Depends on subcommand.",
     .summary = "A container for commands about connections.",
     .subcommands = kClientRows},
};

const CommandFamily kFamily("connection", kRows);

}  // namespace
}  // namespace mayfly::client_commands
