// EVAL and kin, and SCRIPT: scripts in Lua.
#include <optional>
#include <string>

#include "exec/call/call_flags.h"
#include "exec/dispatch/context.h"
#include "exec/docs/command_help.h"
#include "exec/values/timed_access.h"
#include "script/engine.h"
#include "script/run.h"
#include "script/shebang.h"

namespace mayfly::script_commands {
namespace {

using script::CachedScript;
using script::Engine;
using script::ScriptCache;

constexpr std::string_view kNoScriptFound = "NOSCRIPT No matching script. Please use EVAL.";

// Reads the number of keys from args[2]. Returns nullopt after an error reply.
std::optional<size_t> ReadKeyCount(Context& ctx, const Args& args) {
  const std::optional<int64_t> count = ParseInteger(args[2]);
  if (!count) return ctx.Fail(errors::kNotInteger), std::nullopt;
  if (*count > static_cast<int64_t>(args.size()) - 3)
    return ctx.Fail("ERR Number of keys can't be greater than number of args"), std::nullopt;
  if (*count < 0) return ctx.Fail("ERR Number of keys can't be negative"), std::nullopt;
  return static_cast<size_t>(*count);
}

// The ScriptFlags of the script of a call. Returns kNoShebang also for an unknown script or a wrong first line: such a call
// runs no script.
template <bool kBySha>
uint32_t ScriptFlagsOf(Server& server, std::span<const std::string_view> call) {
  if constexpr (kBySha) {
    if (server.scripts == nullptr) return script::kNoShebang;
    const CachedScript* const found = Engine::Of(server).scripts().Find(call[1]);
    return found != nullptr ? found->flags : uint32_t{script::kNoShebang};
  } else {
    if (!call[1].starts_with("#!")) return script::kNoShebang;
    const script::Shebang shebang = script::ReadShebang(call[1]);
    return shebang.problem.empty() ? shebang.flags : uint32_t{script::kNoShebang};
  }
}

template <bool kBySha, bool kReadOnly>
void Eval(Context& ctx, Args& args) {
  Engine& engine = Engine::Of(ctx.server);
  if (ctx.resumed != nullptr) return engine.Continue(ctx, args);
  if (!Engine::HasRoom(ctx, ScriptFlagsOf<kBySha>(ctx.server, args.all()))) return;
  if (MayHaveDue(ctx)) AwaitDue(ctx, *ctx.row.command, args.all());
  Engine::Show(ctx, args);
  if (kBySha && args[1].size() != ScriptCache::kShaDigits) return ctx.Fail(kNoScriptFound);
  const std::optional<size_t> keys = ReadKeyCount(ctx, args);
  if (!keys) return;
  const CachedScript* found = nullptr;
  if constexpr (kBySha) {
    found = engine.scripts().Find(args[1]);
    if (found == nullptr) return ctx.Fail(kNoScriptFound);
  } else {
    std::string problem;
    found = engine.scripts().Load(args[1], ScriptCache::From::kEval, problem);
    if (found == nullptr) return ctx.Fail(problem);
  }
  engine.RunScript(ctx, args, *found, *keys, kReadOnly);
}

// SCRIPT LOAD script
void ScriptLoad(Context& ctx, Args& args) {
  std::string problem;
  const CachedScript* const loaded =
      Engine::Of(ctx.server).scripts().Load(args[2], ScriptCache::From::kLoad, problem);
  loaded != nullptr ? ctx.reply.Bulk(loaded->sha) : ctx.Fail(problem);
}

// SCRIPT EXISTS sha1 [sha1 ...]
void ScriptExists(Context& ctx, Args& args) {
  ScriptCache& scripts = Engine::Of(ctx.server).scripts();
  ctx.reply.Array(args.Left());
  while (!args.Done()) ctx.reply.Integer(scripts.Find(args.Next()) != nullptr ? 1 : 0);
}

// SCRIPT SHOW sha1
void ScriptShow(Context& ctx, Args& args) {
  const CachedScript* const found = Engine::Of(ctx.server).scripts().Find(args[2]);
  found != nullptr ? ctx.reply.Bulk(found->text) : ctx.Fail(kNoScriptFound);
}

// SCRIPT FLUSH [ASYNC | SYNC]: both free all scripts at once, since a state of Lua is small.
void ScriptFlush(Context& ctx, Args& args) {
  const bool known = args.Done() || ((args.Accept("ASYNC") || args.Accept("SYNC")) && args.Done());
  if (!known) return ctx.Fail("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
  Engine::Of(ctx.server).scripts().Flush();
  ctx.reply.Ok();
}

// SCRIPT KILL
void ScriptKill(Context& ctx, Args&) { Engine::Of(ctx.server).AnswerKill(ctx, /*of_eval=*/true); }

constexpr std::string_view kTime = "Depends on the script that is executed.";
constexpr uint32_t kWriterFlags =
    kNoScript | kSkipMonitor | kMayReplicate | kNoMandatoryKeys | kStale | kMovableKeys;
constexpr uint32_t kReaderFlags =
    kNoScript | kSkipMonitor | kReadOnly | kNoMandatoryKeys | kStale | kMovableKeys;
constexpr KeySpec kWriterKeys = {
    .first = 3,
    .step = 1,
    .use = kKeyRW | kKeyAccess | kKeyUpdate,
    .notes = "We cannot tell how the keys will be used so we assume the worst, RW and UPDATE",
    .count_at = 2};
constexpr KeySpec kReaderKeys = {
    .first = 3,
    .step = 1,
    .use = kKeyRO | kKeyAccess,
    .notes = "We cannot tell how the keys will be used so we assume the worst, RO and ACCESS",
    .count_at = 2};

constexpr Command kSubcommands[] = {
    {.name = "exists",
     .arity = -3,
     .flags = kNoScript,
     .acl = kAclScripting,
     .handler = ScriptExists,
     .since = "2.6.0",
     .complexity = "O(N) where N is the number of scripts asked for",
     .summary = "Answers for each SHA-1 whether its script is in the cache.",
     .syntax = "sha1 [sha1 ...]",
     .tips = "request_policy:all_shards response_policy:agg_logical_and"},
    {.name = "flush",
     .arity = -2,
     .flags = kNoScript,
     .acl = kAclScripting,
     .handler = ScriptFlush,
     .since = "2.6.0",
     .complexity = "O(N) where N is the number of scripts in the cache",
     .summary = "Forgets all scripts.",
     .syntax = "[ASYNC | SYNC]",
     .argument_notes = "condition=async@6.2.0",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
    HelpRow("5.0.0", kAclScripting),
    {.name = "kill",
     .arity = 2,
     .flags = kNoScript | kAllowBusy,
     .acl = kAclScripting,
     .handler = ScriptKill,
     .since = "2.6.0",
     .complexity = "O(1)",
     .summary = "Ends the script that is running, unless it has written something.",
     .tips = "request_policy:all_shards response_policy:one_succeeded"},
    {.name = "load",
     .arity = 3,
     .flags = kNoScript | kStale,
     .acl = kAclScripting,
     .handler = ScriptLoad,
     .since = "2.6.0",
     .complexity = "O(N) where N is the length of the script",
     .summary = "Puts a script into the cache and answers with its SHA-1.",
     .syntax = "script",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
    {.name = "show",
     .arity = 3,
     .flags = kNoScript,
     .acl = kAclScripting,
     .handler = ScriptShow,
     .since = "8.0.0",
     .complexity = "O(1)",
     .summary = "Answers with the text of a script in the cache.",
     .syntax = "sha1",
     .notes = "A command of Valkey."},
};

constexpr Command kRows[] = {
    {.name = "eval",
     .arity = -3,
     .flags = kWriterFlags,
     .keys = kWriterKeys,
     .acl = kAclScripting,
     .handler = Eval<false, false>,
     .since = "2.6.0",
     .complexity = kTime,
     .summary = "Runs a Lua script, atomically and at one moment of time.",
     .syntax = "script numkeys [key [key ...]] [arg [arg ...]]"},
    {.name = "eval_ro",
     .arity = -3,
     .flags = kReaderFlags,
     .keys = kReaderKeys,
     .acl = kAclScripting,
     .handler = Eval<false, true>,
     .since = "7.0.0",
     .complexity = kTime,
     .summary = "Runs a Lua script that may not write.",
     .syntax = "script numkeys [key [key ...]] [arg [arg ...]]"},
    {.name = "evalsha",
     .arity = -3,
     .flags = kWriterFlags,
     .keys = kWriterKeys,
     .acl = kAclScripting,
     .handler = Eval<true, false>,
     .since = "2.6.0",
     .complexity = kTime,
     .summary = "Runs a Lua script of the cache, by its SHA-1.",
     .syntax = "sha1 numkeys [key [key ...]] [arg [arg ...]]"},
    {.name = "evalsha_ro",
     .arity = -3,
     .flags = kReaderFlags,
     .keys = kReaderKeys,
     .acl = kAclScripting,
     .handler = Eval<true, true>,
     .since = "7.0.0",
     .complexity = kTime,
     .summary = "Runs a Lua script of the cache that may not write, by its SHA-1.",
     .syntax = "sha1 numkeys [key [key ...]] [arg [arg ...]]"},
    {.name = "script",
     .arity = -2,
     .since = "2.6.0",
     .complexity = "Depends on subcommand.",
     .summary = "A container for commands about the cache of Lua scripts.",
     .subcommands = kSubcommands},
};
const CommandFamily kFamily("scripting", kRows);

uint32_t FlagsOfCall(Server& server, const Command& command, std::span<const std::string_view> call) {
  const bool by_sha = command.handler == Eval<true, false> || command.handler == Eval<true, true>;
  return Engine::CommandFlagsOf(
      command.flags, by_sha ? ScriptFlagsOf<true>(server, call) : ScriptFlagsOf<false>(server, call));
}
const CallFlags kCallFlags(kRows, FlagsOfCall);

}  // namespace
}  // namespace mayfly::script_commands
