// PING, HELLO, AUTH, SELECT and kin: login, protocol and database of the connection.
#include <optional>
#include <string>
#include <string_view>

#include "base/log/log.h"
#include "exec/acl/denials.h"
#include "exec/arguments/database_index.h"
#include "exec/dispatch/context.h"
#include "exec/info/client_names.h"
#include "exec/info/identity.h"
#include "server/acl/user.h"
#include "server/acl/users.h"
#include "server/clients/failed_logins.h"
#include "server/figures/link_figures.h"
#include "server/figures/stats.h"
#include "server/hubs/hubs.h"

namespace mayfly::connection_commands {
namespace {

constexpr std::string_view kNoPasswordSet =
    "ERR AUTH <password> called without any password configured for the default user. Are you sure your "
    "configuration is correct?";

constexpr std::string_view kHelloNeedsAuth =
    "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH "
    "<user> "
    "<pass> option can be used to authenticate the client and select the RESP protocol version at the same "
    "time";

// Lets the client in, or refuses the login; both only after the wait that follows earlier failures. Returns true if the
// client is let in. Without a password nobody can guess, and nobody waits.
bool LogIn(Context& ctx, const Args& args, std::string_view user, std::string_view password) {
  Session& session = ctx.session;
  const bool guarded = ctx.server.users.guarded();
  if (guarded && ctx.Delay(args, FailedLogins::WaitMs(session.failed_logins))) return false;
  if (const User* const found = ctx.server.users.Check(user, password)) {
    session.LogIn(found);
    session.failed_logins = 0;
    return true;
  }
  ++ctx.server.stats.failed_logins;
  NoteFailedLogin(ctx.server, session, ctx.origin, args[0], user, ctx.now);
  if (guarded) ctx.server.failed_logins.Note(session, user, ctx.now.mono_ms, ctx.server.log);
  ctx.Fail(errors::kWrongPassword);
  return false;
}

void Ping(Context& ctx, Args& args) {
  if (args.Left() > 1) return ctx.Fail(errors::WrongArity(ctx.row.full_name));
  if (ctx.session.Has(Mode::kSubscribed) && ctx.reply.version() == 2) {  // in the form of messages
    ctx.reply.Array(2);
    ctx.reply.Bulk("pong");
    return ctx.reply.Bulk(args.Done() ? "" : args.Next());
  }
  if (args.Done()) return ctx.reply.Pong();
  ctx.reply.Bulk(args.Next());
}

void Echo(Context& ctx, Args& args) { ctx.reply.Bulk(args.Next()); }

void Auth(Context& ctx, Args& args) {
  if (args.Left() > 2) return ctx.Fail(errors::kSyntax);
  if (args.Left() == 1 && ctx.server.users.default_user().needs_no_password())
    return ctx.Fail(kNoPasswordSet);
  const std::string_view user = args.Left() == 2 ? args.Next() : User::kDefaultName;
  if (LogIn(ctx, args, user, args.Next())) ctx.reply.Ok();
}

// Each argument may be a password, also in a call with a wrong number of arguments.
bool IsAuthSecret(std::span<const std::string_view>, size_t) { return true; }

// The two arguments after the word AUTH are secret, also if the version is missing.
bool IsHelloSecret(std::span<const std::string_view> call, size_t index) {
  size_t at = 1;
  while (at < index) {
    if (EqualsIgnoringCase(call[at], "AUTH")) {
      if (index <= at + 2) return true;
      at += 3;
    } else {
      at += EqualsIgnoringCase(call[at], "SETNAME") ? 2 : 1;
    }
  }
  return false;
}

// The arguments of HELLO. No argument takes effect before all arguments are known to be right.
struct HelloRequest {
  int version = 0;  // 0: unchanged
  bool with_login = false;
  std::string_view user;
  std::string_view password;
  std::optional<std::string_view> name;
};

// Returns false after an error reply.
bool ReadHello(Context& ctx, Args& args, HelloRequest& request) {
  constexpr std::string_view kBadVersion = "ERR Protocol version is not an integer or out of range";
  if (!args.Done()) {
    const std::optional<int64_t> version = args.NextInteger();
    if (!version) return ctx.Fail(kBadVersion), false;
    if (*version < 2 || *version > 3) return ctx.Fail("NOPROTO unsupported protocol version"), false;
    request.version = static_cast<int>(*version);
  }
  while (!args.Done()) {
    if (args.Accept("AUTH", 2)) {
      request.with_login = true;
      request.user = args.Next();
      request.password = args.Next();
    } else if (args.Accept("SETNAME", 1)) {
      request.name = args.Next();
      if (!IsClientName(*request.name)) return ctx.Fail(kBadClientName), false;
    } else {
      ctx.Fail("ERR Syntax error in HELLO option '" + std::string(errors::Repeated(args.Peek())) + "'");
      return false;
    }
  }
  return true;
}

void ReplyHello(Context& ctx) {
  resp::Writer& reply = ctx.reply;
  reply.Map(7);
  reply.Bulk("server");
  reply.Bulk(kServerName);
  reply.Bulk("version");
  reply.Bulk(kRedisVersion);
  reply.Bulk("proto");
  reply.Integer(reply.version());
  reply.Bulk("id");
  reply.Integer(static_cast<int64_t>(ctx.session.id));
  reply.Bulk("mode");
  reply.Bulk(ModeOf(ctx.server));
  reply.Bulk("role");
  reply.Bulk(ctx.server.link.follows() ? "replica" : "master");
  reply.Bulk("modules");
  reply.EmptyArray();
}

void Hello(Context& ctx, Args& args) {
  HelloRequest request;
  if (!ReadHello(ctx, args, request)) return;
  if (request.with_login && !LogIn(ctx, args, request.user, request.password)) return;
  if (ctx.session.user() == nullptr) return ctx.Fail(kHelloNeedsAuth);
  if (request.name) ctx.session.MutableNames().name = *request.name;
  if (request.version != 0) ctx.reply.set_version(request.version);
  ReplyHello(ctx);
}

void Select(Context& ctx, Args& args) {
  const std::string_view text = args.Next();
  if (ctx.server.cluster != nullptr && ParseInteger(text).value_or(0) != 0)
    return ctx.Fail("ERR SELECT is not allowed in cluster mode");
  const std::optional<unsigned> index = ReadDatabaseIndex(ctx, text);
  if (!index) return;
  ctx.session.db = *index;
  ctx.reply.Ok();
}

void Quit(Context& ctx, Args&) {
  ctx.reply.Ok();
  ctx.session.Set(Mode::kEnding);
}

void Reset(Context& ctx, Args&) {
  Session& session = ctx.session;
  if (session.Has(Mode::kReplica)) return ctx.Fail("ERR can only reset normal connections");
  ctx.server.hubs.client_ends.Tell(session);
  session.db = 0;
  if (!session.names().name.empty()) session.MutableNames().name.clear();
  session.no_evict = false;
  session.Clear(Mode::kNoTouch);
  session.Clear(Mode::kReadsReplica);
  if (session.replies() == Replies::kOff) {  // a reply to be skipped is RESET's own reply
    session.SetReplies(Replies::kOn);
    session.Speak();
  }
  session.LogIn(ctx.server.users.Newcomer());
  ctx.reply.set_version(2);
  ctx.reply.Simple("RESET");
}

constexpr uint32_t kAnytime = kLoading | kStale | kFast;
constexpr uint32_t kSession = kAnytime | kNoScript | kNoAuth | kAllowBusy | kEndsBatch;

constexpr Command kRows[] = {
    {.name = "auth",
     .arity = -2,
     .flags = kSession,
     .is_secret = IsAuthSecret,
     .acl = kAclConnection,
     .handler = Auth,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Logs the connection in.",
     .syntax = "[username] password",
     .argument_notes = "username@6.0.0",
     .notes = "A client that fails often has to wait."},
    {.name = "echo",
     .arity = 2,
     .flags = kAnytime,
     .acl = kAclConnection,
     .handler = Echo,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Answers with its argument.",
     .syntax = "message"},
    {.name = "hello",
     .arity = -1,
     .flags = kSession,
     .is_secret = IsHelloSecret,
     .acl = kAclConnection,
     .handler = Hello,
     .since = "6.0.0",
     .complexity = "O(1)",
     .summary =
         "Chooses the protocol version, may log in and name the connection, and introduces the server.",
     .syntax = "[protover [AUTH username password] [SETNAME clientname]]",
     .argument_notes = "protover_auth_clientname=arguments AUTH=username_password"},
    {.name = "ping",
     .arity = -1,
     .flags = kFast | kWhileSubscribed,
     .acl = kAclConnection,
     .handler = Ping,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Answers PONG, or its argument, to show that the server is alive.",
     .syntax = "[message]",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "quit",
     .arity = -1,
     .flags = kSession | kWhileSubscribed | kUnqueued,
     .acl = kAclConnection,
     .handler = Quit,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Answers OK and closes the connection.",
     .doc_flags = "deprecated",
     .deprecated_since = "7.2.0",
     .replaced_by = "closing the connection"},
    {.name = "reset",
     .arity = 1,
     .flags = kSession | kWhileSubscribed | kUnqueued,
     .acl = kAclConnection,
     .handler = Reset,
     .since = "6.2.0",
     .complexity = "O(1)",
     .summary = "Makes the connection like a new one: logged out, without a name, RESP2, database 0."},
    {.name = "select",
     .arity = 2,
     .flags = kAnytime | kEndsBatch,
     .acl = kAclConnection,
     .handler = Select,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Chooses the connection's database.",
     .syntax = "index"},
};

const CommandFamily kFamily("connection", kRows);

}  // namespace
}  // namespace mayfly::connection_commands
