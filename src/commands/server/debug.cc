// DEBUG: for people who test a server or a client library. The option enable-debug-command turns it on.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "base/log/log.h"
#include "base/text/glob.h"
#include "base/text/numbers.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/call/value_type.h"
#include "exec/dispatch/context.h"
#include "exec/docs/command_help.h"
#include "exec/values/dataset_digest.h"
#include "script/engine.h"
#include "snapshot/snapshots.h"

#include <sys/mman.h>

namespace mayfly::debug_commands {
namespace {

constexpr std::string_view kNotAllowed =
    "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it "
    "from "
    "a local connection, otherwise you need to set this option in the configuration file, and then restart "
    "the server.";

bool MayDebug(const Session& session, config::DebugCommand who) noexcept {
  if (who != config::DebugCommand::kLocal) return who == config::DebugCommand::kYes;
  const std::string_view peer = session.peer;
  return session.over_unix_socket || peer.starts_with("127.") || peer.starts_with("[::1]:");
}

// ---- the server

// Meanwhile no client is served: the purpose of the command.
void Sleep(Context& ctx, Args& args) {
  constexpr double kLongest = 1e9;  // the limit of the clock's 64 bits of nanoseconds
  const double seconds = std::min(ParseDouble(args.Next()).value_or(0), kLongest);
  if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  ctx.reply.Ok();
}

void SetActiveExpire(Context& ctx, Args& args) {
  ctx.server.databases.SetActiveExpiry(args.NextInteger().value_or(0) != 0);
  ctx.reply.Ok();
}

void WriteLog(Context& ctx, Args& args) {
  if (ctx.server.log != nullptr) ctx.server.log->Warning("DEBUG LOG: ", args.Next());
  ctx.reply.Ok();
}

void Crash(Context& ctx, Args&) {
  constexpr size_t kPageBytes = 4096;
  void* const page = mmap(nullptr, kPageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::bad_alloc();
  *static_cast<volatile char*>(page) = 'x';
  ctx.reply.Ok();  // not reached
}

// PANIC, ASSERT and OOM: ends the server like the named failure.
void Panic(Context& ctx, Args& args) {
  if (ctx.server.log != nullptr)
    ctx.server.log->Warning("a client asked for a panic: DEBUG ", UpperCase(args[1]));
  std::abort();
}

// Redis no longer has this subcommand; the name stands for a map of the memory.
void MemoryMap(Context& ctx, Args&) { ctx.reply.Verbatim("txt", Heap::AllocatorReport()); }

// Checks that tables, lists, wheels and counts of each database agree. Walks through all keys.
void ValidateAll(Context& ctx, Args&) {
  for (unsigned index = 0; index < ctx.server.databases.count(); ++index) {
    if (!ctx.server.databases.At(index).Validate())
      return ctx.Fail("ERR database " + std::to_string(index) + " is not consistent");
  }
  ctx.reply.Ok();
}

void MatchPattern(Context& ctx, Args& args) {
  const std::string_view pattern = args.Next();
  ctx.reply.Integer(GlobMatch(pattern, args.Next()) ? 1 : 0);
}

// For subcommands that control parts missing in Mayfly: replicas, an append-only file, tables resized at once.
void DoNothing(Context& ctx, Args&) { ctx.reply.Ok(); }

void SetDisableDenyScripts(Context& ctx, Args& args) {
  script::Engine::Of(ctx.server).set_allows_tools(args.NextInteger().value_or(0) != 0);
  ctx.reply.Ok();
}

// A list's nodes hold elements of any size: a valid size has no effect.
void PackedThreshold(Context& ctx, Args& args) {
  constexpr uint64_t kLargest = (uint64_t{1} << 32) - (uint64_t{1} << 20);
  const std::optional<uint64_t> bytes = ParseBytes(args.Next());
  if (!bytes || *bytes > kLargest)
    return ctx.Fail("ERR argument must be a memory value bigger than 1 and smaller than 4gb");
  ctx.reply.Ok();
}

// A client's replies take blocks as needed and nothing is resized: only the arguments are checked.
void ReplyBufferOptions(Context& ctx, Args& args) {
  const bool of_peak = args.Accept("PEAK-RESET-TIME", 1);
  if (!of_peak && !args.Accept("RESIZING", 1)) return ctx.Fail(errors::WrongSubcommand("DEBUG", args[1]));
  if (of_peak && !args.Accept("NEVER") && !args.Accept("RESET") && !args.NextInteger())
    return ctx.Fail(errors::kNotInteger);
  ctx.reply.Ok();
}

// ---- snapshots

// RELOAD [NOSAVE] [NOFLUSH] [MERGE]: saves, flushes and loads, while everybody waits. Without MERGE the keys that exist after
// NOFLUSH stay; Redis ends the server if the file has one of them.
void Reload(Context& ctx, Args& args) {
  bool save = true;
  LoadTerms terms{.flush = true};
  while (!args.Done()) {
    if (args.Accept("MERGE")) {
      terms.file_wins = true;
    } else if (args.Accept("NOFLUSH")) {
      terms.flush = false;
    } else if (args.Accept("NOSAVE")) {
      save = false;
    } else {
      return ctx.Fail("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.");
    }
  }
  // The load replaces the libraries, that of the function which calls among them.
  if (ctx.origin == Origin::kScript) return ctx.Fail("ERR DEBUG RELOAD is not allowed from script");
  Snapshots& snapshots = Snapshots::Of(ctx.server);
  if (snapshots.loading()) return ctx.Fail("ERR the file is being loaded");
  if (save) {
    if (const std::string problem = snapshots.SaveNow(ctx.now); !problem.empty())
      return ctx.Fail("ERR " + problem);
  }
  if (const std::string problem = snapshots.LoadNow(terms, ctx.now); !problem.empty()) {
    if (ctx.server.log != nullptr) ctx.server.log->Warning("DEBUG RELOAD: ", problem);
    return ctx.Fail("ERR Error trying to load the RDB dump");
  }
  ctx.reply.Ok();
}

// ---- keys

// Returns null after an error reply.
const Entry* FindKey(Context& ctx, Args& args) {
  const Entry* entry = ctx.keyspace.Peek(ctx.keyspace.KeyOf(args.Next()), ctx.now);
  if (entry == nullptr) ctx.Fail(errors::kNoSuchKey);
  return entry;
}

// The value of key number `index`: "value:0", cut or filled with zero bytes to `bytes` unless `bytes` is 0.
std::string PopulatedValue(int64_t index, size_t bytes) {
  std::string value = "value:" + std::to_string(index);
  if (bytes != 0) value.resize(bytes);
  return value;
}

// Existing keys stay the same. As in Redis, all keys are made at one go, without a check of maxmemory.
void Populate(Context& ctx, Args& args) {
  const auto next_count = [&args](int64_t fallback) -> std::optional<int64_t> {
    if (args.Done()) return fallback;
    const std::optional<int64_t> number = args.NextInteger();
    return number && *number >= 0 ? number : std::nullopt;
  };
  const std::optional<int64_t> count = next_count(0);
  const std::string prefix(args.Done() ? "key" : args.Next());
  const std::optional<int64_t> bytes = next_count(0);
  if (!count || !bytes) return ctx.Fail("ERR value is out of range, must be positive");
  if (ctx.server.databases.expired_keys() == ExpiredKeys::kHidden) return ctx.Fail(errors::kReadOnly);
  constexpr int64_t kLongest = int64_t{512} << 20;
  if (*bytes > kLongest) return ctx.Fail("ERR value is out of range, must be positive");
  for (int64_t index = 0; index < *count; ++index) {
    const std::string name = prefix + ":" + std::to_string(index);
    const Key key = ctx.keyspace.KeyOf(name);
    if (ctx.keyspace.Peek(key, ctx.now) != nullptr) continue;
    const std::string value = PopulatedValue(index, static_cast<size_t>(*bytes));
    ctx.keyspace.Put(key, nullptr, StringValue::Of(value), Expiry::Never(), ctx.now, events::kNew);
  }
  ctx.reply.Ok();
}

// The bytes of a length in Redis's snapshot.
size_t LengthBytes(size_t length) { return length < 1 << 6 ? 1 : length < 1 << 14 ? 2 : 5; }

// The bytes of an uncompressed text in Redis's snapshot.
size_t TextBytes(size_t length) { return LengthBytes(length) + length; }

size_t IntegerBytes(int64_t value) {
  if (value >= INT8_MIN && value <= INT8_MAX) return 2;
  if (value >= INT16_MIN && value <= INT16_MAX) return 3;
  if (value >= INT32_MIN && value <= INT32_MAX) return 5;
  return TextBytes(std::to_string(value).size());
}

// The bytes of a value in Redis's snapshot: of a text uncompressed, of others as a sequence of texts.
size_t SerializedLength(const Entry& entry) {
  class Sum final : public MemberVisitor {
   public:
    void Visit(std::span<const std::string_view> parts) override {
      for (const std::string_view part : parts) bytes += TextBytes(part.size());
    }
    size_t bytes = 0;
  };
  switch (entry.encoding()) {
    case Encoding::kInteger:
      return IntegerBytes(entry.integer());
    case Encoding::kText:
    case Encoding::kEdited:
    case Encoding::kBlock:
      return TextBytes(entry.TextLength());
    case Encoding::kRich:
      break;
  }
  Sum sum;
  entry.rich()->ForEachMember(sum);
  return LengthBytes(entry.rich()->Size()) + sum.bytes;
}

void Object(Context& ctx, Args& args) {
  const Entry* entry = FindKey(ctx, args);
  if (entry == nullptr) return;
  char address[2 * sizeof entry];
  const auto end =
      std::to_chars(address, address + sizeof address, reinterpret_cast<uintptr_t>(entry), 16).ptr;
  ctx.reply.Simple("Value at:0x" + std::string(address, end) +
                   " refcount:1 encoding:" + std::string(EncodingName(*entry)) + " serializedlength:" +
                   std::to_string(SerializedLength(*entry)) + " lru:" + std::to_string(entry->stamp()) +
                   " lru_seconds_idle:" + std::to_string(IdleSeconds(*entry, ctx.now)));
}

void Digest(Context& ctx, Args&) { ctx.reply.Simple(HexOf(DigestOfAll(ctx.server.databases, ctx.now))); }

void DigestValue(Context& ctx, Args& args) {
  ctx.reply.Array(args.Left());
  while (!args.Done()) {
    const Entry* entry = ctx.keyspace.Peek(ctx.keyspace.KeyOf(args.Next()), ctx.now);
    ctx.reply.Simple(HexOf(entry != nullptr ? DigestOfValue(*entry) : Sha1()));
  }
}

void Listpack(Context& ctx, Args& args) {
  if (FindKey(ctx, args) != nullptr) ctx.Fail("ERR Not a listpack encoded object.");
}

void Quicklist(Context& ctx, Args& args) {
  if (FindKey(ctx, args) != nullptr) ctx.Fail("ERR Not a quicklist encoded object.");
}

void HashTableOf(Context& ctx, Args& args) {
  if (FindKey(ctx, args) != nullptr)
    ctx.Fail("ERR The value stored at the specified key is not represented using an hash table");
}

// ---- replies

void Error(Context& ctx, Args& args) { ctx.Fail(args.Next()); }

void ReplyTruths(resp::Writer& reply) {
  for (int i = 0; i < 3; ++i) {
    reply.Integer(i);
    reply.Bool(i == 1);
  }
}

void ReplyNumbers(resp::Writer& reply) {
  for (int i = 0; i < 3; ++i) reply.Integer(i);
}

void ReplyPush(Context& ctx) {
  if (ctx.reply.version() == 2) return ctx.Fail("ERR RESP2 is not supported by this command");
  ctx.reply.Push(2);
  ctx.reply.Bulk("server-cpu-usage");
  ctx.reply.Integer(42);
  ctx.reply.Bulk("Some real reply following the push reply");
}

void ReplyAttribute(resp::Writer& reply) {
  if (reply.version() > 2) {
    reply.Attribute(1);
    reply.Bulk("key-popularity");
    reply.Array(2);
    reply.Bulk("key:123");
    reply.Integer(90);
  }
  reply.Bulk("Some real reply following the attribute");
}

struct Sample {
  std::string_view name;  // upper case, for the comparison by Args
  void (*write)(Context&);
};
constexpr Sample kSamples[] = {
    {"STRING", [](Context& ctx) { ctx.reply.Bulk("Hello World"); }},
    {"INTEGER", [](Context& ctx) { ctx.reply.Integer(12345); }},
    {"DOUBLE", [](Context& ctx) { ctx.reply.Double(3.141); }},
    {"BIGNUM", [](Context& ctx) { ctx.reply.BigNumber("1234567999999999999999999999999999999"); }},
    {"NULL", [](Context& ctx) { ctx.reply.Null(); }},
    {"ARRAY", [](Context& ctx) { ctx.reply.Array(3), ReplyNumbers(ctx.reply); }},
    {"SET", [](Context& ctx) { ctx.reply.Set(3), ReplyNumbers(ctx.reply); }},
    {"MAP", [](Context& ctx) { ctx.reply.Map(3), ReplyTruths(ctx.reply); }},
    {"ATTRIB", [](Context& ctx) { ReplyAttribute(ctx.reply); }},
    {"PUSH", ReplyPush},
    {"VERBATIM", [](Context& ctx) { ctx.reply.Verbatim("txt", "This is a verbatim\nstring"); }},
    {"TRUE", [](Context& ctx) { ctx.reply.Bool(true); }},
    {"FALSE", [](Context& ctx) { ctx.reply.Bool(false); }},
};

void Protocol(Context& ctx, Args& args) {
  const std::string_view wanted = args.Next();
  for (const Sample& sample : kSamples) {
    if (EqualsIgnoringCase(wanted, sample.name)) return sample.write(ctx);
  }
  ctx.Fail(
      "ERR Wrong protocol type name. Please use one of the following: "
      "string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false");
}

// ---- the table of subcommands

void Help(Context& ctx, Args& args);

// Redis has no rows for subcommands of DEBUG, so neither COMMAND nor docs/commands.md shows them.
struct Subcommand {
  std::string_view name;  // upper case, for the comparison by Args
  size_t least;           // number of arguments after the name
  size_t most;
  Handler handler;
  std::string_view syntax;
  std::string_view summary;
};
constexpr size_t kAny = SIZE_MAX;
constexpr Subcommand kSubcommands[] = {
    {"AOF-FLUSH-SLEEP", 1, 1, DoNothing, "us", "Has no effect: there is no append-only file."},
    {"ASSERT", 0, 0, Panic, "", "As PANIC."},
    {"CHANGE-REPL-ID", 0, 0, DoNothing, "", "Has no effect."},
    {"CLIENT-ENFORCE-REPLY-LIST", 1, 1, DoNothing, "0|1", "Has no effect: all replies are kept in blocks."},
    {"DELAY-RDB-CLIENT-FREE-SECOND", 1, 1, DoNothing, "seconds", "Has no effect."},
    {"DICT-RESIZING", 1, 1, DoNothing, "0|1", "Has no effect: tables grow and shrink by small steps."},
    {"DIGEST", 0, 0, Digest, "", "A signature of all keys and values, as Redis makes it."},
    {"DIGEST-VALUE", 0, kAny, DigestValue, "[key ...]", "Signatures of the values of single keys."},
    {"ERROR", 1, 1, Error, "text", "Answers this error."},
    {"DROP-CLUSTER-PACKET-FILTER", 1, 1, DoNothing, "type", "Has no effect: nodes send each other nothing."},
    {"HELP", 0, 0, Help, "", kHelpOnHelp},
    {"HTSTATS-KEY", 1, 1, HashTableOf, "key", "The hash table of a value; no value has one."},
    {"JMAP", 0, 0, MemoryMap, "", "The allocator's report of the memory, as MEMORY MALLOC-STATS gives it."},
    {"LISTPACK", 1, 1, Listpack, "key", "The listpack of a value; no value has one."},
    {"LOG", 1, 1, WriteLog, "text", "Writes a line to the log."},
    {"OBJECT", 1, 1, Object, "key", "How a value is kept."},
    {"OOM", 0, 0, Panic, "", "As PANIC."},
    {"PANIC", 0, 0, Panic, "", "Ends the server by SIGABRT, as a failed assertion would."},
    {"PAUSE-CRON", 1, 1, DoNothing, "0|1",
     "Has no effect: there is no periodic job. SET-ACTIVE-EXPIRE stops expiry."},
    {"POPULATE", 1, 3, Populate, "count [prefix] [size]", "Makes keys with strings that do not expire."},
    {"PROTOCOL", 1, 1, Protocol, "type", "Answers a value of this type of the protocol."},
    {"QUICKLIST", 1, 2, Quicklist, "key [0|1]", "The quicklist of a value; no value has one."},
    {"QUICKLIST-PACKED-THRESHOLD", 1, 1, PackedThreshold, "size",
     "Has no effect: a list's nodes hold elements of any size."},
    {"RELOAD", 0, kAny, Reload, "[NOSAVE] [NOFLUSH] [MERGE]",
     "Saves all keys and functions, drops them, and loads the file. NOSAVE: loads the file that is there. "
     "NOFLUSH: drops "
     "nothing, and what exists stays; with MERGE the file wins."},
    {"REPL-PAUSE", 1, 1, DoNothing, "point", "Has no effect."},
    {"REPLICATE", 1, kAny, DoNothing, "text ...", "Has no effect."},
    {"REPLYBUFFER", 2, 2, ReplyBufferOptions, "PEAK-RESET-TIME|RESIZING value",
     "Has no effect: replies take the blocks that they need."},
    {"SEGFAULT", 0, 0, Crash, "", "Ends the server by SIGSEGV."},
    {"SET-ACTIVE-EXPIRE", 1, 1, SetActiveExpire, "0|1", "Whether expired keys are freed by themselves."},
    {"SET-DISABLE-DENY-SCRIPTS", 1, 1, SetDisableDenyScripts, "0|1",
     "Whether scripts may call CONFIG, DEBUG, LATENCY and SLOWLOG."},
    {"SET-SKIP-CHECKSUM-VALIDATION", 1, 1, DoNothing, "0|1", "Has no effect: checksums are always compared."},
    {"SLEEP", 1, 1, Sleep, "seconds", "Stops the server for a time."},
    {"STRINGMATCH-LEN", 2, 2, MatchPattern, "pattern text",
     "1 where the pattern of KEYS matches the text, else 0."},
    {"VALIDATE", 0, 0, ValidateAll, "",
     "Whether what the server keeps of its keys agrees; looks at all of them."},
};

void Help(Context& ctx, Args&) {
  HelpText text("debug");
  for (const Subcommand& subcommand : kSubcommands)
    text.Add(subcommand.name, subcommand.syntax, subcommand.summary);
  text.Reply(ctx.reply);
}

void Debug(Context& ctx, Args& args) {
  if (!MayDebug(ctx.session, ctx.server.options.settings().enable_debug_command))
    return ctx.Fail(kNotAllowed);
  const std::string_view name = args.Next();
  for (const Subcommand& subcommand : kSubcommands) {
    if (!EqualsIgnoringCase(name, subcommand.name)) continue;
    if (args.Left() < subcommand.least || args.Left() > subcommand.most) break;
    return subcommand.handler(ctx, args);
  }
  ctx.Fail(errors::WrongSubcommand("DEBUG", name));
}

constexpr Command kRows[] = {
    {.name = "debug",
     .arity = -2,
     .flags = kAdmin | kNoScript | kLoading | kStale | kProtected,
     .handler = Debug,
     .since = "1.0.0",
     .complexity = "Depends on subcommand.",
     .summary = "Tools for tests, off unless enable-debug-command says otherwise.",
     .syntax = "subcommand [arg [arg ...]]",
     .doc_flags = "syscmd",
     .notes = "DEBUG HELP lists the subcommands that exist."},
};

const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::debug_commands
