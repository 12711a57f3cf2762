// CONFIG: the options of the running server, and the reset of counters.
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log/log.h"
#include "base/text/ascii.h"
#include "cache/keyspace/databases.h"
#include "config/option.h"
#include "config/sources/options.h"
#include "config/words.h"
#include "exec/acl/user_store.h"
#include "exec/call/command_table.h"
#include "exec/dispatch/context.h"
#include "exec/dispatch/executor.h"
#include "exec/docs/command_help.h"
#include "server/figures/rates.h"
#include "server/figures/stats.h"

namespace mayfly::config_commands {
namespace {

// An option that matches in several spellings is answered once, in the first spelling.
void ConfigGet(Context& ctx, Args& args) {
  std::vector<config::NameValue> found;
  std::set<std::string> seen;
  while (!args.Done()) {
    for (config::NameValue& pair : ctx.server.options.Match(args.Next())) {
      if (seen.insert(LowerCase(pair.first)).second) found.push_back(std::move(pair));
    }
  }
  ctx.reply.Map(found.size());
  for (const auto& [name, value] : found) {
    ctx.reply.Bulk(name);
    ctx.reply.Bulk(value);
  }
}

// For loglevel debug; a secret is not shown.
void LogChanges(Log& log, uint64_t client, std::span<const config::NameValue> pairs) {
  if (!log.Takes(Log::Level::kDebug)) return;
  for (const auto& [name, value] : pairs) {
    const config::Option* const option = config::FindOption(name);
    const bool secret = option == nullptr || option->Has(config::kSecret);
    log.Debug("CONFIG SET by client ", client, ": ", config::Printable(name), " ",
              secret ? std::string("(a secret)") : config::Printable(value));
  }
}

void ConfigSet(Context& ctx, Args& args) {
  if (args.Left() % 2 != 0) return ctx.Fail(errors::kSyntax);
  std::vector<config::NameValue> pairs;
  while (!args.Done()) {
    const std::string_view name = args.Next();
    pairs.emplace_back(name, args.Next());
  }
  config::Options& options = ctx.server.options;
  std::vector<std::string> warnings;
  if (const config::Problem problem = options.Set(pairs, warnings)) return ctx.Fail("ERR " + *problem);
  if (ctx.server.log != nullptr) {
    for (const std::string& warning : warnings) ctx.server.log->Warning("CONFIG SET: ", warning);
    LogChanges(*ctx.server.log, ctx.session.id, pairs);
  }
  ctx.reply.Ok();
}

// The arguments are: CONFIG SET name value name value ...
bool IsSecretValue(std::span<const std::string_view> call, size_t index) {
  constexpr size_t kFirstName = 2;
  if (index <= kFirstName || (index - kFirstName) % 2 == 0) return false;
  const config::Option* const option = config::FindOption(call[index - 1]);
  return option != nullptr && option->Has(config::kSecret);
}

void ConfigResetStat(Context& ctx, Args&) {
  ctx.server.stats.Reset();
  ctx.server.rates.Reset();
  ctx.server.databases.expiry_stats().Reset();
  ctx.server.databases.namespaces().ResetStats();
  ctx.server.commands.ResetStats();
  ctx.server.executor->hot_keys().Reset(ctx.now.mono_ms);
  ctx.reply.Ok();
}

void ConfigRewrite(Context& ctx, Args&) {
  std::vector<std::string> users;
  config::Problem problem = UserLines(ctx.server, users);
  if (!problem) problem = ctx.server.options.Rewrite(users);
  if (problem) return ctx.Fail("ERR " + *problem);
  ctx.reply.Ok();
}

constexpr uint32_t kFlags = kAdmin | kNoScript | kLoading | kStale;

constexpr Command kConfigRows[] = {
    {.name = "get",
     .arity = -3,
     .flags = kFlags,
     .handler = ConfigGet,
     .since = "2.0.0",
     .complexity = "O(N) where N is the number of options and patterns",
     .summary = "Tells the options that match one of the patterns.",
     .syntax = "parameter [parameter ...]"},
    HelpRow("5.0.0"),
    {.name = "resetstat",
     .arity = 2,
     .flags = kFlags,
     .handler = ConfigResetStat,
     .since = "2.0.0",
     .complexity = "O(1)",
     .summary = "Sets the counters that INFO tells back to zero.",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
    {.name = "rewrite",
     .arity = 2,
     .flags = kFlags,
     .handler = ConfigRewrite,
     .since = "2.8.0",
     .complexity = "O(N) where N is the size of the file",
     .summary = "Writes the options that CONFIG SET has changed to the conf file.",
     .notes = "Options that are in force from the command line or the environment are not written. Users of "
              "included "
              "files stay there, and must not have changed."},
    {.name = "set",
     .arity = -4,
     .flags = kFlags | kEndsBatch,  // the option may change permissions and the parsing of requests
     .is_secret = IsSecretValue,
     .handler = ConfigSet,
     .since = "2.0.0",
     .complexity = "O(N) where N is the number of options given",
     .summary = "Changes options of the running server, all of them or none.",
     .syntax = "parameter value [parameter value ...]",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
};

constexpr Command kRows[] = {
    {.name = "config",
     .arity = -2,
     .since = "2.0.0",
     .complexity = "Depends on subcommand.",
     .summary = "The options of the running server.",
     .subcommands = kConfigRows},
};

const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::config_commands
