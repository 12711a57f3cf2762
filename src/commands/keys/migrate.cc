// MIGRATE: moves keys to another server, while the client waits and others are served (snapshot/migration.h).
//
// In Redis everybody waits. Here the client is a blocked client: CLIENT UNBLOCK, CLIENT KILL or its end give the migration up,
// as the timeout does. Within a transaction or a script nothing can wait, and there is an error.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "config/sources/options.h"
#include "exec/dispatch/context.h"
#include "server/waiting/parking.h"
#include "snapshot/migration.h"

namespace mayfly::migrate_commands {
namespace {

constexpr uint64_t kDefaultTimeoutMs = 1000;
constexpr uint64_t kMostTimeoutMs = uint64_t{1} << 52;

// The arguments before the options.
enum Place : size_t { kHost = 1, kPort, kKey, kDatabase, kTimeout, kOptions };

// Returns false after an error reply. `names` are the keys.
bool ReadOptions(Context& ctx, Args& args, MigrationOrder& order, std::span<const std::string_view>& names) {
  names = args.all().subspan(kKey, 1);
  args.Skip(kOptions - 1);
  Route& route = order.route;
  route.by_tls = ctx.server.options.settings().tls_cluster;  // as in Redis, without a cluster too
  while (!args.Done()) {
    if (args.Accept("COPY")) {
      order.copy = true;
    } else if (args.Accept("REPLACE")) {
      order.replace = true;
    } else if (args.Accept("AUTH", 1)) {
      route.logs_in = true;
      route.password = args.Next();
    } else if (args.Accept("AUTH2", 2)) {
      route.logs_in = true;
      route.user = args.Next();
      route.password = args.Next();
    } else if (args.Accept("KEYS")) {
      if (!args[kKey].empty())
        return ctx.Fail(
                   "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string"),
               false;
      names = args.Rest();
      return true;
    } else {
      return ctx.Fail(errors::kSyntax), false;
    }
  }
  return true;
}

// Returns false after an error reply.
bool ReadOrder(Context& ctx, Args& args, MigrationOrder& order, std::span<const std::string_view>& names) {
  if (!ReadOptions(ctx, args, order, names)) return false;
  const std::optional<int64_t> timeout_ms = ParseInteger(args[kTimeout]);
  const std::optional<int64_t> database = timeout_ms ? ParseInteger(args[kDatabase]) : std::nullopt;
  if (!database) return ctx.Fail(errors::kNotInteger), false;
  order.database = *database;
  order.timeout_ms = *timeout_ms <= 0 ? kDefaultTimeoutMs : std::min<uint64_t>(*timeout_ms, kMostTimeoutMs);
  return true;
}

// As one who reads it and waits no longer.
void Continue(Context& ctx, const Args& args, std::unique_ptr<PendingWork>& work) {
  auto& migration = static_cast<Migration&>(*work);
  if (migration.Continue(ctx)) {
    const bool ended_by_operator =
        ctx.wake() == WakeReason::kTimeout && ctx.now.mono_ms < ctx.resumed->deadline_mono_ms;
    if (!ended_by_operator) return ctx.Await(args, migration.deadline_mono_ms(), work);
    migration.GiveUp();
  }
  if (!migration.error().empty()) return ctx.Fail(migration.error());
  migration.any_moved() ? ctx.reply.Ok() : ctx.reply.Simple("NOKEY");
}

void Migrate(Context& ctx, Args& args) {
  if (ctx.wake() == WakeReason::kUnblocked) return ctx.Fail("UNBLOCKED client unblocked via CLIENT UNBLOCK");
  if (ctx.resumed != nullptr) return Continue(ctx, args, ctx.resumed->work);
  MigrationOrder order;
  std::span<const std::string_view> names;
  if (!ReadOrder(ctx, args, order, names)) return;
  for (const std::string_view name : names) {
    if (ctx.Read(ctx.keyspace.KeyOf(name)) != nullptr) order.keys.emplace_back(name);
  }
  if (order.keys.empty()) return ctx.reply.Simple("NOKEY");
  const std::optional<int64_t> port = ParseInteger(args[kPort]);
  if (!port || *port < 0 || *port > UINT16_MAX)
    return ctx.Fail("IOERR error or timeout connecting to the client");
  if (!ctx.MayPark())
    return ctx.Fail("ERR MIGRATE waits for another server, and cannot do that in a transaction or a script");
  order.route.host = args[kHost];
  order.route.port = static_cast<uint16_t>(*port);
  std::unique_ptr<PendingWork> work = std::make_unique<Migration>(ctx, std::move(order));
  Continue(ctx, args, work);
}

// The password, and for AUTH2 the user.
bool IsLogin(std::span<const std::string_view> call, size_t index) {
  for (size_t at = kOptions; at < call.size() && at < index; ++at) {
    if (EqualsIgnoringCase(call[at], "KEYS")) return false;
    const size_t secrets = EqualsIgnoringCase(call[at], "AUTH")    ? 1
                           : EqualsIgnoringCase(call[at], "AUTH2") ? 2
                                                                   : 0;
    if (index <= at + secrets) return true;
    at += secrets;
  }
  return false;
}

constexpr std::string_view kKeysWord[] = {"KEYS"};
constexpr KeyAfterWord::Skipped kLogins[] = {{"AUTH", 1}, {"AUTH2", 2}};
constexpr uint16_t kMoved = kKeyRW | kKeyAccess | kKeyDelete;

constexpr Command kRows[] = {
    {.name = "migrate",
     .arity = -6,
     .flags = kWrite,
     .keys = {kKey, kKey, 1, kMoved},
     .key_after_word = {.words = kKeysWord,
                        .from = kOptions,
                        .use = kMoved | kKeyIncomplete,
                        .skipped = kLogins,
                        .rest = true},
     .is_secret = IsLogin,
     .acl = kAclKeyspace | kAclDangerous,
     .handler = Migrate,
     .since = "2.6.0",
     .complexity = "that of DUMP, RESTORE and DEL for each key, and the time to send the values",
     .summary = "Moves keys to another server. Others are served meanwhile.",
     .syntax = "host port <key | \"\"> destination-db timeout [COPY] [REPLACE] "
               "[<AUTH password | AUTH2 username password>] [KEYS key [key ...]]",
     .argument_notes = "option=key_or_empty_string COPY@3.0.0 REPLACE@3.0.0 option=authentication AUTH@4.0.7 "
                       "AUTH2=username_password@6.0.0 KEYS@3.0.6",
     .tips = "nondeterministic_output",
     .notes = "Only the calling client waits; in Redis everybody does. So it cannot be called in a "
              "transaction or a "
              "script. A key that is changed meanwhile is sent again."},
};
const CommandFamily kFamily("generic", kRows);

}  // namespace
}  // namespace mayfly::migrate_commands
