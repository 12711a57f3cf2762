#include "script/redis_library.h"

#include <cmath>
#include <string>

#include "base/bits/sha1.h"
#include "base/log/log.h"
#include "base/text/numbers.h"
#include "cache/keyspace/databases.h"
#include "exec/acl/denials.h"
#include "exec/cluster/redirect.h"
#include "exec/dispatch/client_modes.h"
#include "exec/dispatch/executor.h"
#include "exec/info/identity.h"
#include "script/engine.h"
#include "script/interpreter.h"
#include "script/lua/script_clock.h"
#include "script/reply_values.h"
#include "server/acl/user.h"
#include "server/clients/sessions.h"
#include "server/figures/stats.h"
#include "server/watch/tracking.h"

namespace mayfly::script {
namespace {

// Redis's targets for the effects of a script. Replicas get all effects, and there is no append-only file: Mayfly accepts the values and
// ignores them.
enum Replication : int { kReplicateNone = 0, kReplicateAof = 1, kReplicateReplica = 2, kReplicateAll = 3 };

// Reads an int, without the undefined results of numbers outside the range.
int IntegerAt(lua_State* L, int index) {
  const lua_Number number = lua_tonumber(L, index);
  return number > INT32_MIN && number < INT32_MAX ? static_cast<int>(number) : INT32_MIN;
}

// ---- calls

// The number in the form for a command: integers without a fraction or an exponent, others in the shortest text that reads
// back as the number.
std::string_view NumberText(lua_Number number, char* out) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (std::fabs(number) <= kExact && std::floor(number) == number)
    return {out, FormatInteger(static_cast<int64_t>(number), out)};
  return {out, FormatDouble(number, out)};
}

// The function's arguments as arguments of a call. Arguments and texts stay on the stack. On an error returns null and
// leaves the error on top.
const std::vector<std::string_view>* ReadCall(lua_State* L, Interpreter& interpreter) {
  std::vector<std::string_view>& words = interpreter.words();
  words.clear();
  const int count = lua_gettop(L);
  if (count == 0) {
    PushError(L, "Please specify at least one argument for this redis lib call");
    return nullptr;
  }
  luaL_checkstack(L, 8, "too many arguments");
  for (int i = 1; i <= count; ++i) {
    switch (lua_type(L, i)) {
      case LUA_TNUMBER: {
        char text[kMaxDoubleText];
        PushText(L, NumberText(lua_tonumber(L, i), text));
        lua_replace(L, i);
        [[fallthrough]];
      }
      case LUA_TSTRING:
        words.push_back(TextAt(L, i));
        break;
      default:
        PushError(L, "Lua redis lib command arguments must be strings or integers");
        return nullptr;
    }
  }
  return &words;
}

Permission PermissionOf(const Run& run, const TableRow& row, std::span<const std::string_view> words) {
  if (!run.session.restricted()) return {};
  return FindPermission(*run.session.user(), row, words);
}

// The reason why the user may not make this call; empty: allowed.
std::string_view WhyDenied(const Run& run, const TableRow& row, std::span<const std::string_view> words) {
  const Permission permission = PermissionOf(run, row, words);
  if (permission.granted()) return {};
  const auto caller = run.server.sessions.by_id().find(run.caller);
  const bool is_there = caller != run.server.sessions.by_id().end();
  const Session& client = is_there ? *caller->second : run.session;
  NoteDenial(run.server, {run.session, client, AclLog::Where::kScript, row, words}, permission, run.now);
  if (permission.denial == Denial::kKey)
    return "The user executing the script can't access at least one of the keys mentioned in the command "
           "arguments";
  if (permission.denial == Denial::kChannel)
    return "The user executing the script can't publish to the channel mentioned in the command";
  return "The user executing the script can't run this command or subcommand";
}

// The reason why a script may not make this call in a cluster, because of the slots of its keys; empty: allowed.
std::string_view WhyNotHere(Run& run, const TableRow& row, std::span<const std::string_view> words) {
  if (row.writes && run.server.executor->RefusesWrites())
    return {};  // as in Redis, a replica says that first
  const Direction direction = DirectionOf(run.server, run.reads_replica, row, words);
  switch (direction.why) {
    case Elsewhere::kHere:
      break;
    case Elsewhere::kDown:
      return "Script attempted to execute a command while the cluster is down";
    case Elsewhere::kDownReadOnly:
      return "Script attempted to execute a write command while the cluster is down and readonly";
    case Elsewhere::kUnserved:
    case Elsewhere::kCrossSlot:
    case Elsewhere::kMoved:
      return "Script attempted to access a non local key in a cluster node";
  }
  if (direction.slot == Direction::kNoSlot || !run.one_slot) return {};
  if (run.slot == Direction::kNoSlot) run.slot = direction.slot;
  if (run.slot == direction.slot) return {};
  return "Script attempted to access keys that do not hash to the same slot";
}

// The commands that tests call from scripts. All other commands forbidden in scripts change the session or run scripts,
// which is impossible within a script.
bool IsTool(std::string_view full_name) noexcept {
  const std::string_view name = full_name.substr(0, full_name.find('|'));
  return name == "config" || name == "debug" || name == "latency" || name == "slowlog";
}

// The reason why a script may not make this call; empty: allowed. Further checks are the same as for a client's request.
std::string_view WhyNot(Run& run, const TableRow* row, std::span<const std::string_view> words) {
  if (row == nullptr || (!row->subcommands.empty() && words.size() >= 2))
    return "Unknown Redis command called from script";
  if (!row->Takes(words.size())) return "Wrong number of args calling Redis command from script";
  const uint32_t flags = row->command->flags;
  const bool forbidden = (flags & kNoScript) != 0;
  if (forbidden && !(Engine::Of(run.server).allows_tools() && IsTool(row->full_name)))
    return "This Redis command is not allowed from script";
  if (run.is_stale && (flags & kStale) == 0) return "Can not execute the command on a stale replica";
  if (const std::string_view denied = WhyDenied(run, *row, words); !denied.empty()) return denied;
  if (run.read_only && (flags & (kWrite | kMayReplicate)) != 0)
    return "Write commands are not allowed from read-only scripts.";
  if ((run.server.modes & BitOf(Mode::kClustered)) != 0) return WhyNotHere(run, *row, words);
  return {};
}

// A client with tracking also tracks the reads of its scripts.
void RememberFor(const Run& run, const Call& call, Keyspace& keyspace) noexcept {
  const auto caller = run.server.sessions.by_id().find(run.caller);
  if (caller == run.server.sessions.by_id().end() || caller->second->tracking == nullptr) return;
  RememberReads(run.server, *caller->second, call, keyspace);
}

// A script that has written something may go on when memory is full, to avoid half-done work: after a call finds no room, a
// second attempt skips the check of memory.
Outcome MakeCall(Run& run, const TableRow* row, std::span<const std::string_view> words) {
  Call call{run.session, run.replies.writer(), run.now, Origin::kScript, words, row};
  Executor& executor = *run.server.executor;
  Keyspace& keyspace = run.server.databases.At(run.session.db);
  Outcome outcome = executor.MakeCall(call);
  if (outcome.refused == Refusal::kMemory && (run.wrote || run.allow_oom)) [[unlikely]] {
    run.replies.Clear();
    call.ignores_memory_limits = true;
    outcome = executor.MakeCall(call);
  }
  if (outcome.refused != Refusal::kNone) return outcome;
  if (row->writes) run.wrote = true;
  if (row->only_reads && run.server.tracking.clients() != 0) [[unlikely]]
    RememberFor(run, call, keyspace);
  return outcome;
}

// A long call counts as the instructions that Lua runs in the same time.
void CountTime(lua_State* L, uint64_t cycles) {
  constexpr uint64_t kLong = 4096;
  constexpr uint64_t kCyclesPerStep = 16;
  if (cycles >= kLong) [[unlikely]]
    CountSteps(L, cycles / kCyclesPerStep);
}

int CallCommand(lua_State* L, bool raises) {
  Interpreter& interpreter = Interpreter::Of(L);
  Run* const run = interpreter.run();
  if (run == nullptr) Raise(L, "redis.call/pcall can only be called inside a script invocation");
  const std::vector<std::string_view>* const words = ReadCall(L, interpreter);
  if (words == nullptr) return raises ? lua_error(L) : 1;
  Server& server = interpreter.server();
  const TableRow* const row = server.executor->RowOf(*words);
  if (const std::string_view why = WhyNot(*run, row, *words); !why.empty()) [[unlikely]] {
    ++server.stats.error_replies;
    server.stats.errors.Count("ERR", 1);
    if (row != nullptr) ++row->calls.rejected;
    PushCountedError(L, why);
    return raises ? lua_error(L) : 1;
  }
  run->replies.Clear();
  const uint64_t before = row->calls.cycles;
  bool too_long = false;
  try {
    MakeCall(*run, row, *words);
  } catch (const OutputTooLong&) {
    too_long = true;  // an error's handler must not run within this block: it may suspend the fiber
  } catch (const std::bad_alloc&) {
    static_cast<void>(run->session.pool().TakeFailed());  // the failure concerns this call alone
    throw;
  }
  if (too_long) {
    run->replies.Clear();
    PushError(L, "The reply to a call of the script is longer than a client may hold");
    return raises ? lua_error(L) : 1;
  }
  CountTime(L, row->calls.cycles - before);
  const std::string_view text = run->replies.Text();
  const bool failed = text.starts_with('-');
  resp::ReplyReader reader(text);
  PushReply(L, reader, run->replies.writer().version());
  return raises && failed ? lua_error(L) : 1;
}

int CallOrRaise(lua_State* L) { return CallCommand(L, true); }
int CallOrReturn(lua_State* L) { return CallCommand(L, false); }

// redis.acl_check_cmd(command, argument ...)
int MayCall(lua_State* L) {
  Interpreter& interpreter = Interpreter::Of(L);
  Run* const run = interpreter.run();
  if (run == nullptr) Raise(L, "redis.acl_check_cmd can only be called inside a script invocation");
  const std::vector<std::string_view>* const words = ReadCall(L, interpreter);
  if (words == nullptr) return lua_error(L);
  const TableRow* const row = interpreter.server().executor->RowOf(*words);
  if (row == nullptr || (!row->subcommands.empty() && words->size() >= 2))
    Raise(L, "Invalid command passed to redis.acl_check_cmd()");
  lua_pushboolean(L, PermissionOf(*run, *row, *words).granted() ? 1 : 0);
  return 1;
}

// ---- values

int Sha1Hex(lua_State* L) {
  if (lua_gettop(L) != 1) Raise(L, "wrong number of arguments");
  size_t size = 0;
  const char* const text = lua_tolstring(L, 1, &size);
  constexpr size_t kBytesOfSumming = 8;  // the sum of a byte takes the time of copying 8 bytes
  CountBytes(L, kBytesOfSumming * size);
  PushText(L, HexOf(Sha1Of(text != nullptr ? std::string_view(text, size) : std::string_view())));
  return 1;
}

bool IsOneText(lua_State* L) {
  if (lua_gettop(L) == 1 && lua_type(L, 1) == LUA_TSTRING) return true;
  PushError(L, "wrong number or type of arguments");
  return false;
}

int ErrorReply(lua_State* L) {
  if (!IsOneText(L)) return 1;
  const std::string_view text = lua_tostring(L, 1);
  PushError(L, text.starts_with('-') ? std::string(text) : '-' + std::string(text));
  return 1;
}

int StatusReply(lua_State* L) {
  if (!IsOneText(L)) return 1;
  lua_createtable(L, 0, 1);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "ok");
  return 1;
}

// ---- the script and the server

int SetResp(lua_State* L) {
  Run* const run = Interpreter::Of(L).run();
  if (run == nullptr) Raise(L, "redis.setresp can only be called inside a script invocation");
  if (lua_gettop(L) != 1) Raise(L, "redis.setresp() requires one argument.");
  const int version = IntegerAt(L, 1);
  if (version != 2 && version != 3) Raise(L, "RESP version must be 2 or 3.");
  run->replies.Clear();
  run->replies.writer().set_version(version);
  return 0;
}

int SetReplication(lua_State* L) {
  if (Interpreter::Of(L).run() == nullptr)
    Raise(L, "redis.set_repl can only be called inside a script invocation");
  if (lua_gettop(L) != 1) Raise(L, "redis.set_repl() requires two arguments.");
  if ((IntegerAt(L, 1) & ~kReplicateAll) != 0)
    Raise(L, "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.");
  return 0;
}

int WriteLog(lua_State* L) {
  constexpr int kLevels = 4;
  const int count = lua_gettop(L);
  if (count < 2) Raise(L, "redis.log() requires two arguments or more.");
  if (lua_isnumber(L, 1) == 0) Raise(L, "First argument must be a number (log level).");
  const int level = IntegerAt(L, 1);
  if (level < 0 || level >= kLevels) Raise(L, "Invalid debug level.");
  Log* const log = Interpreter::Of(L).server().log;
  if (log == nullptr || !log->Takes(static_cast<Log::Level>(level))) return 0;
  std::string line;
  for (int i = 2; i <= count; ++i) {
    size_t size = 0;
    const char* const text = lua_tolstring(L, i, &size);
    if (text == nullptr) continue;
    if (i != 2) line += ' ';
    line.append(text, size);
  }
  log->Write(static_cast<Log::Level>(level), {Log::Piece(line)});
  return 0;
}

int AnswerTrue(lua_State* L) {
  lua_pushboolean(L, 1);
  return 1;
}
int AnswerFalse(lua_State* L) {
  lua_pushboolean(L, 0);
  return 1;
}
int AnswerNothing(lua_State*) { return 0; }

// 0x00MMmmpp
constexpr int VersionNumber(std::string_view version) {
  int number = 0;
  int part = 0;
  for (const char c : version) {
    if (c != '.') {
      part = part * 10 + (c - '0');
    } else {
      number = number << 8 | part;
      part = 0;
    }
  }
  return number << 8 | part;
}
static_assert(VersionNumber("7.4.10") == 0x0007040A);

}  // namespace

void AddLogAndVersion(lua_State* L) {
  SetFunction(L, "log", Guarded<WriteLog>);
  SetNumber(L, "LOG_DEBUG", 0);
  SetNumber(L, "LOG_VERBOSE", 1);
  SetNumber(L, "LOG_NOTICE", 2);
  SetNumber(L, "LOG_WARNING", 3);
  SetText(L, "REDIS_VERSION", kRedisVersion);
  SetNumber(L, "REDIS_VERSION_NUM", VersionNumber(kRedisVersion));
}

void OpenRedis(lua_State* L) {
  lua_newtable(L);
  AddLogAndVersion(L);
  SetFunction(L, "call", Guarded<CallOrRaise>);
  SetFunction(L, "pcall", Guarded<CallOrReturn>);
  SetFunction(L, "acl_check_cmd", Guarded<MayCall>);
  SetFunction(L, "sha1hex", Guarded<Sha1Hex>);
  SetFunction(L, "error_reply", Guarded<ErrorReply>);
  SetFunction(L, "status_reply", Guarded<StatusReply>);
  SetFunction(L, "setresp", Guarded<SetResp>);
  SetFunction(L, "set_repl", Guarded<SetReplication>);
  SetNumber(L, "REPL_NONE", kReplicateNone);
  SetNumber(L, "REPL_AOF", kReplicateAof);
  SetNumber(L, "REPL_SLAVE", kReplicateReplica);
  SetNumber(L, "REPL_REPLICA", kReplicateReplica);
  SetNumber(L, "REPL_ALL", kReplicateAll);
  SetFunction(L, "replicate_commands", AnswerTrue);  // always true since Redis 7
  SetFunction(L, "breakpoint", AnswerFalse);         // no debugger exists
  SetFunction(L, "debug", AnswerNothing);
}

}  // namespace mayfly::script
