// EXPLOG: reads the log of removed keys, with their values (server/watch/event_log.h).
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/text/ascii.h"
#include "base/text/glob.h"
#include "exec/arguments/wait_limit.h"
#include "exec/call/usage.h"
#include "exec/dispatch/context.h"
#include "exec/docs/command_help.h"
#include "server/clients/session.h"
#include "server/watch/event_log.h"

namespace mayfly::explog_commands {
namespace {

constexpr uint64_t kUsualCount = 1000;
// A reply ends with the record that exceeds this size, also below COUNT records: about a millisecond of work. Readers then
// ask for the rest.
constexpr size_t kMostReplyBytes = size_t{1} << 20;
// The approximate bytes of an event in a reply beside key and value.
constexpr size_t kReplyBytesPerEvent = 64;
// A search for the records that a reader wants looks at this many records: likewise.
constexpr size_t kMostLookedAt = 10'000;
constexpr std::string_view kIsOff = "ERR the log is off, expire-log-size says how large it may be";

constexpr std::array<std::string_view, 4> kKindNames = {"expired", "evicted", "deleted", "invalidated"};

std::string_view NameOf(EventKind kind) noexcept { return kKindNames[static_cast<size_t>(kind)]; }

std::optional<EventKind> KindNamed(std::string_view name) noexcept {
  const auto* const found = std::find_if(kKindNames.begin(), kKindNames.end(), [name](std::string_view kind) {
    return SameIgnoringCase(name, kind);
  });
  if (found == kKindNames.end()) return std::nullopt;
  return static_cast<EventKind>(found - kKindNames.begin());
}

// ---- READ

struct ReadOptions {
  uint64_t seq = 0;
  uint64_t count = kUsualCount;
  std::optional<uint64_t> deadline_mono_ms = {};
  bool values = false;
  std::optional<std::string_view> pattern = {};
  unsigned kinds = 0;  // a bit for each wanted kind; 0: all

  // A reader that passes records over needs to be told where to go on.
  bool filters() const noexcept { return pattern || kinds != 0; }
  bool Wants(const EventRecord& event) const noexcept {
    if (kinds != 0 && (kinds & BitOf(event.kind)) == 0) return false;
    return !pattern || GlobMatch(*pattern, event.key);
  }
  static unsigned BitOf(EventKind kind) noexcept { return 1U << static_cast<unsigned>(kind); }
};

// The records for one reply.
struct Page {
  std::vector<EventRecord> events = {};
  uint64_t next = 0;  // the number to go on from
  size_t looked_at = 0;
  bool at_end = true;  // of the log
};

// Reads a number that the log has given, or will give next. Returns nullopt after an error reply.
std::optional<uint64_t> ReadSeq(Context& ctx, std::string_view text, uint64_t most) {
  const std::optional<int64_t> seq = ParseInteger(text);
  if (!seq || *seq < 0) return ctx.Fail(errors::kNotInteger), std::nullopt;
  const auto number = static_cast<uint64_t>(*seq);
  if (number <= most) return number;
  ctx.Fail("ERR the log has not come to this seq, the highest is " + std::to_string(most));
  return std::nullopt;
}

// Returns false after an error reply.
bool ReadReadOptions(Context& ctx, Args& args, ReadOptions& options) {
  const uint64_t next = ctx.server.event_log.ring().next_number();
  const std::string_view from = args.Next();
  const std::optional<uint64_t> seq = from == "$" ? next : ReadSeq(ctx, from, next);
  if (!seq) return false;
  options.seq = *seq;
  while (!args.Done()) {
    if (args.Accept("COUNT", 1)) {
      const std::optional<int64_t> count = args.NextInteger();
      if (!count) return ctx.Fail(errors::kNotInteger), false;
      if (*count < 1) return ctx.Fail("ERR count should be greater than 0"), false;
      options.count = static_cast<uint64_t>(*count);
    } else if (args.Accept("BLOCK", 1)) {
      options.deadline_mono_ms = ReadBlock(ctx, args.Next());
      if (!options.deadline_mono_ms) return false;
    } else if (args.Accept("VALUES")) {
      options.values = true;
    } else if (args.Accept("MATCH", 1)) {
      options.pattern = args.Next();
    } else if (args.Accept("REASON", 1)) {
      const std::optional<EventKind> kind = KindNamed(args.Next());
      if (!kind) return ctx.Fail("ERR REASON is expired, evicted, deleted or invalidated"), false;
      options.kinds |= ReadOptions::BitOf(*kind);
    } else {
      return ctx.Fail(SyntaxErrorAt(ctx.row, args)), false;
    }
  }
  return true;
}

void ReplyEvent(resp::Writer& reply, const EventRecord& event, bool values) {
  reply.Array(values ? 6 : 5);
  reply.Integer(static_cast<int64_t>(event.number));
  reply.Integer(event.wall_ms);
  reply.Bulk(NameOf(event.kind));
  reply.Integer(event.database);
  reply.Bulk(event.key);
  if (!values) return;
  event.value ? reply.Bulk(*event.value) : reply.Null();
}

Page LookAt(const EventRing& ring, const ReadOptions& options) {
  Page page{.next = options.seq};
  size_t bytes = 0;
  ring.ReadFrom(options.seq, [&](const EventRecord& event) {
    page.next = event.number + 1;
    ++page.looked_at;
    if (options.Wants(event)) {
      page.events.push_back(event);
      bytes += kReplyBytesPerEvent + event.key.size();
      if (options.values && event.value) bytes += event.value->size();
    }
    page.at_end =
        page.events.size() != options.count && bytes < kMostReplyBytes && page.looked_at != kMostLookedAt;
    return page.at_end;
  });
  if (page.at_end) page.next = ring.next_number();
  return page;
}

void ReplyPage(Context& ctx, const Page& page, const ReadOptions& options) {
  if (options.filters()) {
    ctx.reply.Array(2);
    ctx.reply.Integer(static_cast<int64_t>(page.next));
  }
  ctx.reply.Array(page.events.size());
  for (const EventRecord& event : page.events) ReplyEvent(ctx.reply, event, options.values);
}

// Waits for the records from `seq` on.
void Wait(Context& ctx, const Args& args, uint64_t seq, uint64_t deadline_mono_ms) {
  std::vector<std::string_view> words(args.all().begin(), args.all().end());
  const std::string from = std::to_string(seq);
  words[2] = from;
  ctx.Park(Args(words, words.size()), deadline_mono_ms);
  ctx.server.parking.AwaitEvent(*ctx.session.parked);
}

void ExpLogRead(Context& ctx, Args& args) {
  EventLog& log = ctx.server.event_log;
  ReadOptions options;
  if (ctx.wake() == WakeReason::kUnblocked) return ctx.Fail("UNBLOCKED client unblocked via CLIENT UNBLOCK");
  if (!log.on()) return ctx.Fail(kIsOff);
  if (!ReadReadOptions(ctx, args, options)) return;
  const Page page = LookAt(log.ring(), options);
  if (page.looked_at != 0) log.NoteRead(page.next);
  const bool waits = options.deadline_mono_ms && ctx.MayPark() && ctx.wake() != WakeReason::kTimeout;
  if (!waits || !page.events.empty() || !page.at_end) return ReplyPage(ctx, page, options);
  Wait(ctx, args, page.next, *options.deadline_mono_ms);
}

// ---- ACK and INFO

void ExpLogAck(Context& ctx, Args& args) {
  EventLog& log = ctx.server.event_log;
  if (!log.on()) return ctx.Fail(kIsOff);
  const uint64_t next = log.ring().next_number();
  const std::optional<uint64_t> last = ReadSeq(ctx, args.Next(), next == 0 ? 0 : next - 1);
  if (last) ctx.reply.Integer(static_cast<int64_t>(log.LetGo(*last)));
}

void ExpLogInfo(Context& ctx, Args&) {
  const EventRing& ring = ctx.server.event_log.ring();
  const auto field = [&ctx](std::string_view name, uint64_t value) {
    ctx.reply.Bulk(name);
    ctx.reply.Integer(static_cast<int64_t>(value));
  };
  ctx.reply.Map(7);
  field("first-seq", ring.first_number());
  field("next-seq", ring.next_number());
  field("length", ring.size());
  field("dropped", ring.dropped());
  field("overrun", ring.overrun());
  field("bytes", ring.bytes());
  field("max-bytes", ring.limit());
}

constexpr Command kExpLogRows[] = {
    {.name = "ack",
     .arity = 3,
     .flags = kFast,
     .acl = kAclKeyspace | kAclDangerous,
     .handler = ExpLogAck,
     .since = "0.1.0",
     .complexity = "O(1); the memory is freed in slices",
     .summary = "Lets go of the events up to this number, and answers how many these were.",
     .syntax = "seq",
     .notes = "A command of Mayfly."},
    HelpRow("0.1.0"),
    {.name = "info",
     .arity = 2,
     .flags = kFast,
     .acl = kAclKeyspace,
     .handler = ExpLogInfo,
     .since = "0.1.0",
     .complexity = "O(1)",
     .summary = "Answers which events the log has, how many were dropped, and what memory it takes.",
     .notes = "A command of Mayfly."},
    {.name = "read",
     .arity = -3,
     .flags = kReadOnly | kBlocking,
     .acl = kAclKeyspace | kAclDangerous,
     .handler = ExpLogRead,
     .since = "0.1.0",
     .complexity = "O(log(M) + N) where M is the number of events in the log and N that of those answered",
     .summary = "Answers with the keys that are gone, from this number on; may wait for the next one.",
     .syntax = "seq [COUNT count] [BLOCK milliseconds] [VALUES] [MATCH pattern] [REASON reason] ...",
     .tips = "nondeterministic_output",
     .notes = "A command of Mayfly. A reply ends after about 1 MB, whatever COUNT says. With MATCH or REASON "
              "the reply has two "
              "elements: the number to go on from, and the events. The search looks at up to 10000 events in "
              "a call."},
};

constexpr Command kRows[] = {
    {.name = "explog",
     .arity = -2,
     .since = "0.1.0",
     .complexity = "Depends on subcommand.",
     .summary = "The log of keys that are gone: expired, evicted, deleted, invalidated.",
     .subcommands = kExpLogRows,
     .notes = "A command of Mayfly."},
};
const CommandFamily kFamily("generic", kRows);

}  // namespace
}  // namespace mayfly::explog_commands
