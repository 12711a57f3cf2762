// MEMORY: memory used by keys and the server, advice, and giving pages back to the system.
#include <string>

#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/docs/command_help.h"
#include "exec/info/memory_report.h"
#include "exec/memory/memory_meter.h"
#include "exec/memory/resident_guard.h"
#include "server/clients/sessions.h"

namespace mayfly::memory_commands {
namespace {

// Returns false after an error reply.
bool ReadUsageOptions(Context& ctx, Args& args) {
  while (!args.Done()) {
    if (!args.Accept("SAMPLES", 1)) return ctx.Fail(errors::kSyntax), false;
    const std::optional<int64_t> samples = args.NextInteger();
    if (!samples) return ctx.Fail(errors::kNotInteger), false;
    if (*samples < 0) return ctx.Fail(errors::kSyntax), false;
  }
  return true;
}

void MemoryUsage(Context& ctx, Args& args) {
  args.Skip(1);
  if (!ReadUsageOptions(ctx, args)) return;
  const Entry* entry = ctx.keyspace.Peek(ctx.KeyAt(args, 2), ctx.now);
  if (entry == nullptr) return ctx.reply.Null();
  ctx.reply.Integer(static_cast<int64_t>(EntryMemory::Of(*entry)));
}

// Writes one field after the other, and counts the fields.
class StatsWriter {
 public:
  explicit StatsWriter(resp::Writer& reply) : reply_(reply), map_(reply.Defer()) {}
  void Bytes(std::string_view name, uint64_t value) {
    Name(name);
    reply_.Integer(static_cast<int64_t>(value));
  }
  void Number(std::string_view name, double value) {
    Name(name);
    reply_.Double(value);
  }
  // Writes the excess of `larger` over `smaller`, as a ratio and in bytes. Names are "x-ratio" and the like.
  void Excess(std::string_view ratio_name, std::string_view bytes_name, uint64_t larger, uint64_t smaller) {
    Number(ratio_name, Ratio(larger, smaller));
    Name(bytes_name);
    reply_.Integer(static_cast<int64_t>(larger) - static_cast<int64_t>(smaller));
  }
  void Database(const DatabaseOverhead& database) {
    Name("db." + std::to_string(database.index));
    reply_.Map(2);
    reply_.Bulk("overhead.hashtable.main");
    reply_.Integer(static_cast<int64_t>(database.table + database.headers));
    reply_.Bulk("overhead.hashtable.expires");
    reply_.Integer(static_cast<int64_t>(database.expiries));
  }
  void End() noexcept { map_.Map(fields_); }

 private:
  void Name(std::string_view name) {
    reply_.Bulk(name);
    ++fields_;
  }

  resp::Writer& reply_;
  resp::Deferred map_;
  size_t fields_ = 0;
};

// The fields of Redis 7.4 in Redis's order. Fields for parts missing in Mayfly are 0: the append-only file, the
// second table of a growing table. The fields for scripts are 0, too.
void MemoryStats(Context& ctx, Args&) {
  const MemoryReport report = ReportMemory(ctx.server);
  const AllocatorBytes& allocator = report.allocator;
  StatsWriter stats(ctx.reply);
  stats.Bytes("peak.allocated", report.peak);
  stats.Bytes("total.allocated", report.used);
  stats.Bytes("startup.allocated", report.at_start);
  stats.Bytes("replication.backlog", report.backlog);
  stats.Bytes("clients.slaves", report.replicas);
  stats.Bytes("clients.normal", report.normal_clients);
  stats.Bytes("cluster.links", 0);
  stats.Bytes("aof.buffer", 0);
  stats.Bytes("lua.caches", 0);
  stats.Bytes("functions.caches", 0);
  stats.Bytes("script.VMs", 0);
  for (const DatabaseOverhead& database : report.databases) stats.Database(database);
  stats.Bytes("overhead.db.hashtable.lut", report.tables);
  stats.Bytes("overhead.db.hashtable.rehashing", 0);
  stats.Bytes("overhead.total", report.overhead);
  stats.Bytes("db.dict.rehashing.count", 0);
  stats.Bytes("keys.count", report.keys);
  stats.Bytes("keys.bytes-per-key", report.BytesPerKey());
  stats.Bytes("dataset.bytes", report.dataset);
  stats.Number("dataset.percentage", report.DatasetPercent());
  stats.Number("peak.percentage", report.PeakPercent());
  stats.Bytes("allocator.allocated", allocator.allocated);
  stats.Bytes("allocator.active", allocator.active);
  stats.Bytes("allocator.resident", allocator.resident);
  stats.Bytes("allocator.muzzy", allocator.muzzy);
  stats.Excess("allocator-fragmentation.ratio", "allocator-fragmentation.bytes", allocator.active,
               allocator.allocated);
  stats.Excess("allocator-rss.ratio", "allocator-rss.bytes", allocator.resident, allocator.active);
  stats.Excess("rss-overhead.ratio", "rss-overhead.bytes", report.resident, allocator.resident);
  stats.Excess("fragmentation", "fragmentation.bytes", report.resident, report.used);
  stats.End();
}

// Empty unless the data are above maxmemory.
std::string AdviceOfLimit(Server& server) {
  const uint64_t limit = server.resident.Allowed(server.options.settings().maxmemory.bytes);
  const uint64_t data = server.memory.Data();
  if (limit == 0 || data <= limit) return "";
  return " * The data have " + FormatBytesHuman(data) + ", and maxmemory allows " + FormatBytesHuman(limit) +
         ". Writes that need memory get OOM as long as the policy (" +
         server.options.Get("maxmemory-policy").value_or("") +
         ") finds no key that it may evict: raise maxmemory, choose a policy that may evict more keys, or "
         "delete keys.\n";
}

std::string Advice(const MemoryReport& report, size_t clients, std::string advice) {
  constexpr uint64_t kMegabyte = 1 << 20;
  constexpr uint64_t kTooSmall = 5 * kMegabyte;
  constexpr double kHighPeak = 1.5;
  constexpr double kHighFragmentation = 1.4;
  constexpr uint64_t kManyBytes = 10 * kMegabyte;
  constexpr uint64_t kBigClient = 200 * 1024;
  if (report.used < kTooSmall && advice.empty())
    return "There is nothing to judge yet: less than " + FormatBytesHuman(kTooSmall) + " are in use.\n";
  if (Ratio(report.peak, report.used) > kHighPeak) {
    advice += " * The peak was " + FormatBytesHuman(report.peak) + ", far above the " +
              FormatBytesHuman(report.used) +
              " in use now. Pages that are empty go back to the system within a second; MEMORY PURGE does it "
              "at once.\n";
  }
  const uint64_t held = report.allocator.resident;
  if (Ratio(held, report.allocator.allocated) > kHighFragmentation &&
      held - report.allocator.allocated > kManyBytes) {
    advice +=
        " * The allocator holds " + FormatBytesHuman(held) + " for " +
        FormatBytesHuman(report.allocator.allocated) +
        " in use. MEMORY PURGE gives back what is empty. What is left lies between values: new ones of the "
        "sizes that were freed use it again, or activedefrag moves values out of it, if that is on and it is "
        "more than active-defrag-ignore-bytes.\n";
  }
  if (clients != 0 && report.clients / clients > kBigClient) {
    advice += " * Clients have " + FormatBytesHuman(report.clients) +
              " of requests and replies waiting. Somebody reads too slowly: CLIENT LIST tells who, "
              "client-output-buffer-limit closes them.\n";
  }
  if (advice.empty()) return "Nothing is wrong with the memory.\n";
  return "What stands out:\n" + advice;
}

void MemoryDoctor(Context& ctx, Args&) {
  ctx.reply.Verbatim("txt",
                     Advice(ReportMemory(ctx.server), ctx.server.sessions.size(), AdviceOfLimit(ctx.server)));
}

void MemoryMallocStats(Context& ctx, Args&) { ctx.reply.Verbatim("txt", Heap::AllocatorReport()); }

void MemoryPurge(Context& ctx, Args&) {
  ctx.server.databases.heap().Purge();
  ctx.reply.Ok();
}

constexpr std::string_view kFigureTips =
    "nondeterministic_output request_policy:all_shards response_policy:special";

constexpr Command kSubcommands[] = {
    {.name = "doctor",
     .arity = 2,
     .handler = MemoryDoctor,
     .since = "4.0.0",
     .complexity = "O(1)",
     .summary = "Says in words what is wrong with the memory.",
     .tips = kFigureTips},
    HelpRow("4.0.0"),
    {.name = "malloc-stats",
     .arity = 2,
     .handler = MemoryMallocStats,
     .since = "4.0.0",
     .complexity = "O(N) where N is the number of the allocator's arenas and size classes",
     .summary = "Answers with the allocator's own report.",
     .tips = kFigureTips},
    {.name = "purge",
     .arity = 2,
     .handler = MemoryPurge,
     .since = "4.0.0",
     .complexity = "O(N) where N is the number of unused pages",
     .summary = "Gives unused pages back to the system now.",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "stats",
     .arity = 2,
     .handler = MemoryStats,
     .since = "4.0.0",
     .complexity = "O(1)",
     .summary = "Shows what memory is used for.",
     .tips = kFigureTips},
    {.name = "usage",
     .arity = -3,
     .flags = kReadOnly | kUntouched,
     .keys = {2, 2, 1, kKeyRO},
     .handler = MemoryUsage,
     .since = "4.0.0",
     .complexity = "O(1)",
     .summary = "Answers how many bytes a key takes with its value.",
     .syntax = "key [SAMPLES count]",
     .notes =
         "Exact for strings, whatever SAMPLES says; without the key's share of the hash table. A copy of a "
         "string over 16 KB shares its bytes until one of both is changed; each reports all of them."},
};

constexpr Command kRows[] = {
    {.name = "memory",
     .arity = -2,
     .since = "4.0.0",
     .complexity = "Depends on subcommand.",
     .summary = "A container for commands about memory.",
     .subcommands = kSubcommands},
};
const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::memory_commands
