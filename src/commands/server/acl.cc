// ACL: users, their permissions, and the log of refused calls.
#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/sources/options.h"
#include "exec/acl/permission.h"
#include "exec/acl/user_changes.h"
#include "exec/acl/user_store.h"
#include "exec/call/command_table.h"
#include "exec/dispatch/context.h"
#include "exec/docs/command_help.h"
#include "server/acl/acl_log.h"
#include "server/acl/user.h"
#include "server/acl/users.h"

namespace mayfly::acl_commands {
namespace {

// ---- users and rules

void AclWhoAmI(Context& ctx, Args&) {
  ctx.session.user() != nullptr ? ctx.reply.Bulk(ctx.session.user()->name()) : ctx.reply.Null();
}

void AclUsers(Context& ctx, Args&) {
  ctx.reply.Array(ctx.server.users.size());
  for (const auto& [name, user] : ctx.server.users.by_name()) ctx.reply.Bulk(name);
}

void AclList(Context& ctx, Args&) {
  ctx.reply.Array(ctx.server.users.size());
  for (const auto& [name, user] : ctx.server.users.by_name())
    ctx.reply.Bulk("user " + name + " " + user->Describe());
}

void ReplySelector(resp::Writer& reply, const Selector& selector) {
  reply.Bulk("commands");
  reply.Bulk(selector.commands().Describe());
  reply.Bulk("keys");
  reply.Bulk(selector.DescribeKeys());
  reply.Bulk("channels");
  reply.Bulk(selector.DescribeChannels());
}

void AclGetUser(Context& ctx, Args& args) {
  constexpr size_t kFields = 6;
  constexpr size_t kSelectorFields = 3;
  const User* const user = ctx.server.users.Find(args.Next());
  if (user == nullptr) return ctx.reply.Null();
  resp::Writer& reply = ctx.reply;
  reply.Map(kFields);
  reply.Bulk("flags");
  const std::vector<std::string_view> flags = user->Flags();
  reply.Set(flags.size());
  for (const std::string_view flag : flags) reply.Bulk(flag);
  reply.Bulk("passwords");
  reply.Array(user->passwords().size());
  for (const std::string& hash : user->passwords()) reply.Bulk(hash);
  const std::span<const Selector> selectors = user->selectors();
  ReplySelector(reply, selectors[0]);
  reply.Bulk("selectors");
  reply.Array(selectors.size() - 1);
  for (const Selector& selector : selectors.subspan(1)) {
    reply.Map(kSelectorFields);
    ReplySelector(reply, selector);
  }
}

void AclCat(Context& ctx, Args& args) {
  if (args.Left() > 1) return ctx.Fail(errors::WrongSubcommand("ACL", args[1]));
  const CommandCatalogue& catalogue = ctx.server.users.catalogue();
  if (args.Done()) {
    ctx.reply.Array(catalogue.categories().size());
    for (const std::string_view name : catalogue.categories()) ctx.reply.Bulk(name);
    return;
  }
  const std::string_view name = args.Next();
  const uint32_t category = catalogue.CategoryOf(name);
  constexpr size_t kMostRepeated = 128;
  if (category == 0)
    return ctx.Fail("ERR Unknown category '" + std::string(errors::Repeated(name, kMostRepeated)) + "'");
  resp::Deferred header = ctx.reply.Defer();
  size_t count = 0;
  for (const KnownCommand& command : catalogue.commands()) {
    if ((command.categories & category) == 0) continue;
    ctx.reply.Bulk(command.name);
    ++count;
  }
  header.Array(count);
}

void AclDryRun(Context& ctx, Args& args) {
  const std::string_view name = args.Next();
  const User* const user = ctx.server.users.Find(name);
  if (user == nullptr) return ctx.Fail("ERR User '" + std::string(errors::Repeated(name)) + "' not found");
  const std::span<const std::string_view> call = args.Rest();
  const TableRow* const row = ctx.server.commands.FindCall(call);
  if (row == nullptr || (!row->subcommands.empty() && call.size() >= 2))
    return ctx.Fail("ERR Command '" + std::string(errors::Repeated(call[0])) + "' not found");
  if (!row->Takes(call.size())) return ctx.Fail(errors::WrongArity(row->full_name));
  const Permission permission = FindPermission(*user, *row, call);
  if (permission.granted()) return ctx.reply.Ok();
  std::string text = "This user has no permissions to ";
  if (permission.denial == Denial::kCommand) {
    text += "run the '" + row->full_name + "' command";
  } else {
    const bool key = permission.denial == Denial::kKey;
    text += "access the '" + std::string(errors::Repeated(call[permission.index])) +
            (key ? "' key" : "' channel");
  }
  ctx.reply.Bulk(text);
}

void AclGenPass(Context& ctx, Args& args) {
  constexpr int64_t kMostBits = 4096;
  constexpr int64_t kDefaultBits = 256;
  constexpr int64_t kBitsOfDigit = 4;
  if (args.Left() > 1) return ctx.Fail(errors::WrongSubcommand("ACL", args[1]));
  const std::optional<int64_t> bits = args.Done() ? kDefaultBits : args.NextInteger();
  if (!bits) return ctx.Fail(errors::kNotInteger);
  if (*bits <= 0 || *bits > kMostBits)
    return ctx.Fail(
        "ERR ACL GENPASS argument must be the number of bits for the output password, a positive "
        "number up to " +
        std::to_string(kMostBits));
  std::random_device source;  // of the operating system: nobody can guess a password from other passwords
  std::uniform_int_distribution<size_t> digit(0, 15);
  std::string text;
  for (int64_t left = *bits; left > 0; left -= kBitsOfDigit) text += "0123456789abcdef"[digit(source)];
  ctx.reply.Bulk(text);
}

// ---- changes

void AclSetUser(Context& ctx, Args& args) {
  Server& server = ctx.server;
  const std::string_view name = args.Next();
  if (HasSpaces(name)) return ctx.Fail("ERR Usernames can't contain spaces or null characters");
  const std::span<const std::string_view> words = args.Rest();
  const MergedRules merged = MergeSelectors(words);
  if (merged.unmatched)
    return ctx.Fail("ERR Unmatched parenthesis in acl selector starting at '" +
                    std::string(errors::Repeated(words[merged.unmatched_index])) + "'.");
  const bool all_channels =
      server.options.settings().acl_pubsub_default == config::PubSubDefault::kAllChannels;
  const User* const old = server.users.Find(name);
  User user = old != nullptr ? *old : User(name, server.users.catalogue(), all_channels);
  for (const std::string& rule : merged.rules) {
    const RuleError error = user.Apply(rule, all_channels);
    if (error == RuleError::kNone) continue;
    return ctx.Fail("ERR Error in ACL SETUSER modifier '" + std::string(errors::Repeated(rule)) +
                    "': " + std::string(TextOf(error)));
  }
  PutUser(server, std::move(user), &ctx.session);
  ctx.reply.Ok();
}

void AclDelUser(Context& ctx, Args& args) {
  const std::span<const std::string_view> names = args.Rest();
  if (std::find(names.begin(), names.end(), User::kDefaultName) != names.end())
    return ctx.Fail("ERR The 'default' user cannot be removed");
  int64_t removed = 0;
  for (const std::string_view name : names) removed += RemoveUser(ctx.server, name, &ctx.session) ? 1 : 0;
  ctx.reply.Integer(removed);
}

void AclLoad(Context& ctx, Args&) {
  if (const config::Problem problem = LoadAclFile(ctx.server, &ctx.session))
    return ctx.Fail("ERR " + *problem);
  ctx.reply.Ok();
}

void AclSave(Context& ctx, Args&) {
  if (const config::Problem problem = SaveAclFile(ctx.server)) return ctx.Fail("ERR " + *problem);
  ctx.reply.Ok();
}

// ---- the log

void ReplyEntry(resp::Writer& reply, const AclLog::Entry& entry, Now now) {
  constexpr size_t kFields = 10;
  reply.Map(kFields);
  reply.Bulk("count");
  reply.Integer(static_cast<int64_t>(entry.count));
  reply.Bulk("reason");
  reply.Bulk(AclLog::NameOf(entry.reason));
  reply.Bulk("context");
  reply.Bulk(AclLog::NameOf(entry.where));
  reply.Bulk("object");
  reply.Bulk(entry.object);
  reply.Bulk("username");
  reply.Bulk(entry.user);
  reply.Bulk("age-seconds");
  reply.Double(static_cast<double>(now.mono_ms - entry.mono_ms) / kMsPerSecond);
  reply.Bulk("client-info");
  reply.Bulk(entry.client);
  reply.Bulk("entry-id");
  reply.Integer(static_cast<int64_t>(entry.id));
  reply.Bulk("timestamp-created");
  reply.Integer(entry.created_wall_ms);
  reply.Bulk("timestamp-last-updated");
  reply.Integer(entry.wall_ms);
}

void AclLogEntries(Context& ctx, Args& args) {
  constexpr int64_t kDefaultCount = 10;
  if (args.Left() > 1) return ctx.Fail(errors::WrongSubcommand("ACL", args[1]));
  if (args.Accept("RESET")) {
    ctx.server.acl_log.Clear();
    return ctx.reply.Ok();
  }
  const std::optional<int64_t> asked = args.Done() ? kDefaultCount : args.NextInteger();
  if (!asked) return ctx.Fail(errors::kNotInteger);
  const auto& entries = ctx.server.acl_log.entries();
  const auto most = static_cast<size_t>(std::max<int64_t>(*asked, 0));
  const size_t count = std::min(most, entries.size());
  ctx.reply.Array(count);
  for (size_t i = 0; i < count; ++i) ReplyEntry(ctx.reply, entries[i], ctx.now);
}

// ---- rows

constexpr size_t kFirstName = 2;
bool IsUserSecret(std::span<const std::string_view>, size_t index) { return index >= kFirstName; }

// ACL DRYRUN user command arg ...: only the tried command knows its secret arguments, and may have another name, so all
// arguments count as secret.
bool IsTriedArgument(std::span<const std::string_view>, size_t index) { return index >= kFirstName + 2; }

constexpr uint32_t kFlags = kAdmin | kNoScript | kLoading | kStale;
constexpr uint32_t kOpenFlags = kNoScript | kLoading | kStale;

constexpr Command kSubcommands[] = {
    {.name = "cat",
     .arity = -2,
     .flags = kOpenFlags,
     .handler = AclCat,
     .since = "6.0.0",
     .complexity = "O(1) since the categories and commands are a fixed set.",
     .summary = "Lists the categories, or the commands of one.",
     .syntax = "[categoryname]"},
    {.name = "deluser",
     .arity = -3,
     .flags = kFlags,
     .is_secret = IsUserSecret,
     .handler = AclDelUser,
     .since = "6.0.0",
     .complexity = "O(n) for each user, where n is the number of clients",
     .summary = "Removes users, and closes their connections.",
     .syntax = "username [username ...]"},
    {.name = "dryrun",
     .arity = -4,
     .flags = kFlags,
     .is_secret = IsTriedArgument,
     .handler = AclDryRun,
     .since = "7.0.0",
     .complexity = "O(1)",
     .summary = "Answers whether a user may make a call, without making it.",
     .syntax = "username command [arg [arg ...]]"},
    {.name = "genpass",
     .arity = -2,
     .flags = kOpenFlags,
     .handler = AclGenPass,
     .since = "6.0.0",
     .complexity = "O(1)",
     .summary = "Draws a random password.",
     .syntax = "[bits]"},
    {.name = "getuser",
     .arity = 3,
     .flags = kFlags,
     .is_secret = IsUserSecret,
     .handler = AclGetUser,
     .since = "6.0.0",
     .complexity = "O(n), where n is the number of rules that the user has",
     .summary = "Shows what a user may do, and the hashes of its passwords.",
     .syntax = "username"},
    HelpRow("6.0.0"),
    {.name = "list",
     .arity = 2,
     .flags = kFlags,
     .handler = AclList,
     .since = "6.0.0",
     .complexity = "O(n), where n is the number of users",
     .summary = "Shows all users as lines of the conf file."},
    {.name = "load",
     .arity = 2,
     .flags = kFlags,
     .handler = AclLoad,
     .since = "6.0.0",
     .complexity = "O(n), where n is the number of users",
     .summary = "Reads all users anew from the aclfile."},
    {.name = "log",
     .arity = -2,
     .flags = kFlags,
     .handler = AclLogEntries,
     .since = "6.0.0",
     .complexity = "O(n), where n is the number of entries",
     .summary = "Shows refused commands and failed logins of users, or forgets them.",
     .syntax = "[count|RESET]",
     .argument_notes = "option=operation"},
    {.name = "save",
     .arity = 2,
     .flags = kFlags,
     .handler = AclSave,
     .since = "6.0.0",
     .complexity = "O(n), where n is the number of users",
     .summary = "Writes all users to the aclfile."},
    {.name = "setuser",
     .arity = -3,
     .flags = kFlags,
     .is_secret = IsUserSecret,
     .handler = AclSetUser,
     .since = "6.0.0",
     .complexity = "O(n), where n is the number of rules",
     .summary = "Makes a user, or changes what it may do.",
     .syntax = "username [rule [rule ...]]"},
    {.name = "users",
     .arity = 2,
     .flags = kFlags,
     .handler = AclUsers,
     .since = "6.0.0",
     .complexity = "O(n), where n is the number of users",
     .summary = "Lists the names of all users."},
    {.name = "whoami",
     .arity = 2,
     .flags = kOpenFlags,
     .handler = AclWhoAmI,
     .since = "6.0.0",
     .complexity = "O(1)",
     .summary = "Answers with the name of the connection's user."},
};

constexpr Command kRows[] = {
    {.name = "acl",
     .arity = -2,
     .since = "6.0.0",
     .complexity = "Depends on subcommand.",
     .summary = "Users and their permissions.",
     .subcommands = kSubcommands},
};

const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::acl_commands
