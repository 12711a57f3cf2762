// FCALL, FCALL_RO and FUNCTION: functions in Lua.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/text/glob.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/call/call_flags.h"
#include "exec/call/errors.h"
#include "exec/dispatch/context.h"
#include "exec/docs/command_help.h"
#include "exec/values/timed_access.h"
#include "replication/replicas.h"
#include "script/engine.h"
#include "script/shebang.h"
#include "server/waiting/parking.h"
#include "snapshot/format/dump_footer.h"
#include "snapshot/format/types.h"
#include "snapshot/values/function_text.h"

namespace mayfly::function_commands {
namespace {

using script::Engine;
using script::Function;
using script::Library;
using script::LibraryStore;

LibraryStore& StoreOf(Context& ctx) { return Engine::Of(ctx.server).libraries(); }

// Snapshots have the libraries, so a save point counts their changes; replicas have them, too.
void CountChange(Context& ctx, const Args& args) noexcept {
  ctx.server.databases.changes().CountByClient();
  Replicas::Forward(ctx.server, ctx.session.db, args.all());
}

template <bool kReadOnly>
void Call(Context& ctx, Args& args) {
  Engine& engine = Engine::Of(ctx.server);
  if (ctx.resumed != nullptr) return engine.Continue(ctx, args);
  const Function* const function = StoreOf(ctx).Find(args[1]);
  if (function != nullptr && !Engine::HasRoom(ctx, function->flags)) return;
  if (MayHaveDue(ctx)) AwaitDue(ctx, *ctx.row.command, args.all());
  Engine::Show(ctx, args);
  if (function == nullptr) return ctx.Fail("ERR Function not found");
  const std::optional<int64_t> keys = ParseInteger(args[2]);
  if (!keys) return ctx.Fail("ERR Bad number of keys provided");
  if (*keys > static_cast<int64_t>(args.size()) - 3)
    return ctx.Fail("ERR Number of keys can't be greater than number of args");
  if (*keys < 0) return ctx.Fail("ERR Number of keys can't be negative");
  engine.RunFunction(ctx, args, *function, static_cast<size_t>(*keys), kReadOnly);
}

// FUNCTION LOAD [REPLACE] code
void FunctionLoad(Context& ctx, Args& args) {
  bool replaces = false;
  while (args.Left() > 1) {
    if (!args.Accept("REPLACE"))
      return ctx.Fail("ERR Unknown option given: " + std::string(errors::Repeated(args.Peek())));
    replaces = true;
  }
  std::string problem;
  const Library* const library = StoreOf(ctx).Load(args.Next(), replaces, problem);
  if (library == nullptr) return ctx.Fail("ERR " + problem);
  CountChange(ctx, args);
  ctx.reply.Bulk(library->name);
}

// FUNCTION DELETE name
void FunctionDelete(Context& ctx, Args& args) {
  if (!StoreOf(ctx).Delete(args[2])) return ctx.Fail("ERR Library not found");
  CountChange(ctx, args);
  ctx.reply.Ok();
}

// FUNCTION FLUSH [ASYNC | SYNC]
void FunctionFlush(Context& ctx, Args& args) {
  const bool known = args.Done() || ((args.Accept("ASYNC") || args.Accept("SYNC")) && args.Done());
  if (!known && args.size() > 3) return ctx.Fail(errors::WrongSubcommand("FUNCTION", args[1]));
  if (!known) return ctx.Fail("ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
  StoreOf(ctx).Flush();
  CountChange(ctx, args);
  ctx.reply.Ok();
}

// FUNCTION DUMP
void FunctionDump(Context& ctx, Args&) {
  const config::Settings& settings = ctx.server.options.settings();
  std::string payload;
  rdb::Out out(payload, settings.rdbcompression ? rdb::Compression::kLzf : rdb::Compression::kNone);
  StoreOf(ctx).ForEachText([&out](std::string_view text) { rdb::WriteFunction(text, out); });
  rdb::AppendDumpFooter(payload, rdb::version::kRedis70);
  ctx.reply.Bulk(payload);
}

// Adds the libraries of a payload, one after the other. Returns false after the first one that cannot be added.
bool AddLibraries(std::string_view payload, LibraryStore::Restoration& restoration, std::string& problem) {
  rdb::In in(payload);
  std::string text;
  while (!in.rest().empty()) {
    uint8_t code = 0;
    static_cast<void>(in.Byte(code));
    if (code != rdb::opcode::kFunction && code != rdb::opcode::kFunctionOld)
      return problem = "given type is not a function", false;
    std::string_view part;
    if (rdb::ReadFunction(in, code, text, part) != rdb::ReadStatus::kOk)
      return problem = "Failed loading " + std::string(part), false;
    if (!restoration.Add(text, problem)) return false;
  }
  return true;
}

// FUNCTION RESTORE payload [FLUSH | APPEND | REPLACE]: all libraries or none.
void FunctionRestore(Context& ctx, Args& args) {
  if (args.size() > 4) return ctx.Fail(errors::WrongSubcommand("FUNCTION", args[1]));
  const std::string_view bytes = args.Next();
  script::RestorePolicy policy = script::RestorePolicy::kAppend;
  if (args.Accept("FLUSH")) {
    policy = script::RestorePolicy::kFlush;
  } else if (args.Accept("REPLACE")) {
    policy = script::RestorePolicy::kReplace;
  } else if (!args.Done() && !args.Accept("APPEND")) {
    return ctx.Fail("ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.");
  }
  const std::optional<rdb::DumpPayload> payload = rdb::OpenDumpPayload(bytes);
  if (!payload) return ctx.Fail(rdb::kBadDumpFooter);
  LibraryStore::Restoration restoration(StoreOf(ctx), policy);
  std::string problem;
  if (!AddLibraries(payload->value, restoration, problem) || !restoration.Finish(problem))
    return ctx.Fail("ERR " + problem);
  CountChange(ctx, args);
  ctx.reply.Ok();
}

void WriteFlags(resp::Writer& reply, uint32_t flags) {
  size_t count = 0;
  for (const script::FlagName& known : script::FlagNames()) count += (flags & known.flag) != 0 ? 1 : 0;
  reply.Set(count);
  for (const script::FlagName& known : script::FlagNames()) {
    if ((flags & known.flag) != 0) reply.Simple(known.name);
  }
}

void WriteLibrary(resp::Writer& reply, const Library& library, bool with_code) {
  reply.Map(with_code ? 4 : 3);
  reply.Bulk("library_name");
  reply.Bulk(library.name);
  reply.Bulk("engine");
  reply.Bulk(LibraryStore::kEngineName);
  reply.Bulk("functions");
  reply.Array(library.functions.size());
  for (const auto& [lower, function] : library.functions) {
    reply.Map(3);
    reply.Bulk("name");
    reply.Bulk(function.name);
    reply.Bulk("description");
    function.description ? reply.Bulk(*function.description) : reply.Null();
    reply.Bulk("flags");
    WriteFlags(reply, function.flags);
  }
  if (!with_code) return;
  reply.Bulk("library_code");
  reply.Bulk(library.text);
}

// FUNCTION LIST [LIBRARYNAME pattern] [WITHCODE]
void FunctionList(Context& ctx, Args& args) {
  bool with_code = false;
  std::optional<std::string_view> pattern;
  while (!args.Done()) {
    if (!with_code && args.Accept("WITHCODE")) {
      with_code = true;
    } else if (!pattern && args.Accept("LIBRARYNAME")) {
      if (args.Done()) return ctx.Fail("ERR library name argument was not given");
      pattern = args.Next();
    } else {
      return ctx.Fail("ERR Unknown argument " + std::string(errors::Repeated(args.Peek())));
    }
  }
  resp::Deferred head = ctx.reply.Defer();
  size_t count = 0;
  for (const auto& [name, library] : StoreOf(ctx).libraries()) {
    if (pattern && *pattern != "*" && !GlobMatch(*pattern, name, GlobCase::kIgnore)) continue;
    WriteLibrary(ctx.reply, library, with_code);
    ++count;
  }
  head.Array(count);
}

// REQUIRES: a function runs.
void WriteRunning(resp::Writer& reply, const Engine& engine) {
  reply.Map(3);
  reply.Bulk("name");
  reply.Bulk(engine.busy()->name);
  reply.Bulk("command");
  const Session* const client = engine.BusyClient();
  if (client == nullptr || client->parked == nullptr) {
    reply.EmptyArray();
  } else {
    const std::span<const std::string_view> words = client->parked->arguments.all();
    reply.Array(words.size());
    for (const std::string_view word : words) reply.Bulk(word);
  }
  reply.Bulk("duration_ms");
  reply.Integer(static_cast<int64_t>(engine.BusyMs()));
}

// FUNCTION STATS
void FunctionStats(Context& ctx, Args&) {
  const Engine& engine = Engine::Of(ctx.server);
  const LibraryStore& store = StoreOf(ctx);
  if (engine.busy() != nullptr && engine.busy()->is_eval) return ctx.Fail(errors::kBusyScript);
  ctx.reply.Map(2);
  ctx.reply.Bulk("running_script");
  engine.busy() != nullptr ? WriteRunning(ctx.reply, engine) : ctx.reply.Null();
  ctx.reply.Bulk("engines");
  ctx.reply.Map(1);
  ctx.reply.Bulk(LibraryStore::kEngineName);
  ctx.reply.Map(2);
  ctx.reply.Bulk("libraries_count");
  ctx.reply.Integer(static_cast<int64_t>(store.libraries().size()));
  ctx.reply.Bulk("functions_count");
  ctx.reply.Integer(static_cast<int64_t>(store.functions()));
}

// FUNCTION KILL
void FunctionKill(Context& ctx, Args&) { Engine::Of(ctx.server).AnswerKill(ctx, /*of_eval=*/false); }

constexpr std::string_view kTime = "Depends on the function that is executed.";
constexpr std::string_view kToAll = "request_policy:all_shards response_policy:all_succeeded";

constexpr Command kSubcommands[] = {
    {.name = "delete",
     .arity = 3,
     .flags = kNoScript | kWrite,
     .acl = kAclScripting,
     .handler = FunctionDelete,
     .since = "7.0.0",
     .complexity = "O(1)",
     .summary = "Deletes a library and its functions.",
     .syntax = "library-name",
     .tips = kToAll},
    {.name = "dump",
     .arity = 2,
     .flags = kNoScript,
     .acl = kAclScripting,
     .handler = FunctionDump,
     .since = "7.0.0",
     .complexity = "O(N) where N is the number of functions",
     .summary = "Answers with all libraries as bytes for FUNCTION RESTORE, of this server or another one."},
    {.name = "flush",
     .arity = -2,
     .flags = kNoScript | kWrite,
     .acl = kAclScripting,
     .handler = FunctionFlush,
     .since = "7.0.0",
     .complexity = "O(N) where N is the number of functions",
     .summary = "Deletes all libraries.",
     .syntax = "[ASYNC | SYNC]",
     .argument_notes = "condition=async",
     .tips = kToAll},
    HelpRow("7.0.0", kAclScripting),
    {.name = "kill",
     .arity = 2,
     .flags = kNoScript | kAllowBusy,
     .acl = kAclScripting,
     .handler = FunctionKill,
     .since = "7.0.0",
     .complexity = "O(1)",
     .summary = "Ends the function that is running, unless it has written something.",
     .tips = "request_policy:all_shards response_policy:one_succeeded"},
    {.name = "list",
     .arity = -2,
     .flags = kNoScript,
     .acl = kAclScripting,
     .handler = FunctionList,
     .since = "7.0.0",
     .complexity = "O(N) where N is the number of functions",
     .summary = "Lists the libraries and their functions.",
     .syntax = "[LIBRARYNAME library-name-pattern] [WITHCODE]",
     .tips = "nondeterministic_output_order"},
    {.name = "load",
     .arity = -3,
     .flags = kNoScript | kWrite | kDenyOom,
     .acl = kAclScripting,
     .handler = FunctionLoad,
     .since = "7.0.0",
     .complexity = "O(1), and what the library does when it is loaded",
     .summary = "Creates a library.",
     .syntax = "[REPLACE] function-code",
     .tips = kToAll},
    {.name = "restore",
     .arity = -3,
     .flags = kNoScript | kWrite | kDenyOom,
     .acl = kAclScripting,
     .handler = FunctionRestore,
     .since = "7.0.0",
     .complexity = "O(N) where N is the number of functions on the payload",
     .summary = "Creates the libraries that FUNCTION DUMP has answered: all of them, or none.",
     .syntax = "serialized-value [FLUSH | APPEND | REPLACE]",
     .argument_notes = "condition=policy",
     .tips = kToAll},
    {.name = "stats",
     .arity = 2,
     .flags = kNoScript | kAllowBusy,
     .acl = kAclScripting,
     .handler = FunctionStats,
     .since = "7.0.0",
     .complexity = "O(1)",
     .summary = "Says which function is running, and how many there are.",
     .tips = "nondeterministic_output request_policy:all_shards response_policy:special"},
};

constexpr Command kRows[] = {
    {.name = "fcall",
     .arity = -3,
     .flags = kNoScript | kSkipMonitor | kMayReplicate | kNoMandatoryKeys | kStale | kMovableKeys,
     .keys = {.first = 3,
              .step = 1,
              .use = kKeyRW | kKeyAccess | kKeyUpdate,
              .notes = "We cannot tell how the keys will be used so we assume the worst, RW and UPDATE",
              .count_at = 2},
     .acl = kAclScripting,
     .handler = Call<false>,
     .since = "7.0.0",
     .complexity = kTime,
     .summary = "Calls a function.",
     .syntax = "function numkeys [key [key ...]] [arg [arg ...]]"},
    {.name = "fcall_ro",
     .arity = -3,
     .flags = kNoScript | kSkipMonitor | kReadOnly | kNoMandatoryKeys | kStale | kMovableKeys,
     .keys = {.first = 3,
              .step = 1,
              .use = kKeyRO | kKeyAccess,
              .notes = "We cannot tell how the keys will be used so we assume the worst, RO and ACCESS",
              .count_at = 2},
     .acl = kAclScripting,
     .handler = Call<true>,
     .since = "7.0.0",
     .complexity = kTime,
     .summary = "Calls a function that may not write.",
     .syntax = "function numkeys [key [key ...]] [arg [arg ...]]"},
    {.name = "function",
     .arity = -2,
     .since = "7.0.0",
     .complexity = "Depends on subcommand.",
     .summary = "A container for commands about functions.",
     .subcommands = kSubcommands},
};
const CommandFamily kFamily("scripting", kRows);

uint32_t FlagsOfCall(Server& server, const Command& command, std::span<const std::string_view> call) {
  if (server.scripts == nullptr) return command.flags;
  const Function* const function = Engine::Of(server).libraries().Find(call[1]);
  return function != nullptr ? Engine::CommandFlagsOf(command.flags, function->flags) : command.flags;
}
const CallFlags kCallFlags(kRows, FlagsOfCall);

}  // namespace
}  // namespace mayfly::function_commands
