// XRANGE, XREAD and kin: read entries of streams, and wait for new entries.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "exec/arguments/stream_arguments.h"
#include "exec/arguments/stream_read_options.h"
#include "exec/arguments/wait_limit.h"
#include "exec/call/errors.h"
#include "exec/dispatch/context.h"

namespace mayfly::stream_read_commands {
namespace {

void ReplyRange(Context& ctx, Args& args, bool falling) {
  const std::optional<StreamId> low = ReadRangeStart(ctx, args[falling ? 3 : 2]);
  if (!low) return;
  const std::optional<StreamId> high = ReadRangeEnd(ctx, args[falling ? 2 : 3]);
  if (!high) return;
  args.Skip(3);
  int64_t count = -1;
  while (!args.Done()) {
    if (!args.Accept("COUNT", 1)) return ctx.Fail(errors::kSyntax);
    const std::optional<int64_t> number = args.NextInteger();
    if (!number) return ctx.Fail(errors::kNotInteger);
    count = std::max<int64_t>(*number, 0);
  }
  Typed<StreamValue> found;
  if (!ctx.ReadTyped(ctx.KeyAt(args, 1), found)) return;
  if (found.value == nullptr) return ctx.reply.EmptyArray();
  if (count == 0) return ctx.reply.NullArray();
  ReplyStreamRange(ctx, *found.value, *low, *high, count < 0 ? 0 : static_cast<uint64_t>(count), falling);
}

void XRange(Context& ctx, Args& args) { ReplyRange(ctx, args, false); }
void XRevRange(Context& ctx, Args& args) { ReplyRange(ctx, args, true); }

// ---- XREAD

// A stream that is read, from the entry after `after` on; null if it is absent.
struct Source {
  const StreamValue* stream;
  StreamId after;
  bool other;  // the key has got another type since the client began to wait
};

// False after having answered the error.
bool FindStream(Context& ctx, const Key& key, Typed<StreamValue>& found, bool& other) {
  return ctx.wake() == WakeReason::kNone ? ctx.ReadTyped(key, found) : FindAwaited(ctx, key, found, other);
}

bool ReadSources(Context& ctx, const Args& args, const StreamReadOptions& options,
                 std::vector<Source>& sources) {
  for (size_t i = 0; i < options.streams; ++i) {
    Typed<StreamValue> found;
    bool other = false;
    if (!FindStream(ctx, ctx.KeyAt(args, options.first + i), found, other)) return false;
    Source source{found.value, {}, other};
    const std::string_view id = args[options.first + options.streams + i];
    if (id == "$") {
      if (found.value != nullptr) source.after = found.value->last_id();
    } else if (id == "+") {
      // The last entry alone.
      if (found.value != nullptr) {
        source.after = found.value->LastEntryId();
        source.after.Decrement();
      }
    } else if (id == ">") {
      ctx.Fail(
          "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> "
          "option.");
      return false;
    } else {
      const std::optional<StreamIdText> read = ReadStreamId(ctx, id, StreamIdForm::kStrict);
      if (!read) return false;
      source.after = read->id;
    }
    sources.push_back(source);
  }
  return true;
}

// False if no stream has a new entry. A client that was woken is refused if one of its keys has got another type, whatever the
// streams have.
bool ReplyEntries(Context& ctx, const Args& args, const StreamReadOptions& options,
                  const std::vector<Source>& sources) {
  if (std::ranges::any_of(sources, &Source::other) && std::ranges::any_of(sources, &Source::stream))
    return ctx.Fail(errors::kWrongType), true;
  const auto has_new = [](const Source& source) {
    return source.stream != nullptr && source.stream->HasAfter(source.after);
  };
  const auto count = static_cast<size_t>(std::count_if(sources.begin(), sources.end(), has_new));
  if (count == 0) return false;
  const bool pairs = ctx.reply.version() == 2;
  pairs ? ctx.reply.Array(count) : ctx.reply.Map(count);
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!has_new(sources[i])) continue;
    if (pairs) ctx.reply.Array(2);
    ctx.reply.Bulk(args[options.first + i]);
    StreamId low = sources[i].after;
    low.Increment();
    ReplyStreamRange(ctx, *sources[i].stream, low, StreamId::Max(), options.count);
  }
  return true;
}

// "$" becomes the id that it stands for, since what comes after it is waited for.
void Wait(Context& ctx, const Args& args, const StreamReadOptions& options,
          const std::vector<Source>& sources) {
  std::vector<std::string_view> words(args.all().begin(), args.all().end());
  std::vector<std::string> ids(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    const size_t at = options.first + options.streams + i;
    if (args[at] != "$" && args[at] != "+") continue;
    ids[i] = std::to_string(sources[i].after.ms) + '-' + std::to_string(sources[i].after.sequence);
    words[at] = ids[i];
  }
  ctx.Park(Args(words, words.size()), *options.deadline_mono_ms,
           args.all().subspan(options.first, options.streams), ValueType::kStream);
}

void XRead(Context& ctx, Args& args) {
  StreamReadOptions options;
  if (!ReadStreamReadOptions(ctx, args, options)) return;
  if (AnswerEndOfWait(ctx)) return;
  std::vector<Source> sources;
  if (!ReadSources(ctx, args, options, sources)) return;
  if (ReplyEntries(ctx, args, options, sources)) return;
  if (!options.deadline_mono_ms || !ctx.MayPark()) return ctx.reply.NullArray();
  Wait(ctx, args, options, sources);
}

constexpr KeySpec kReads = {1, 1, 1, kKeyRO | kKeyAccess};
constexpr std::array<std::string_view, 1> kStreams = {"STREAMS"};
constexpr std::string_view kRangeNotes = "start-id=start end-id=end";

constexpr Command kRows[] = {
    {.name = "xrange",
     .arity = -4,
     .flags = kReadOnly,
     .keys = kReads,
     .acl = kAclStream,
     .handler = XRange,
     .since = "5.0.0",
     .complexity = "O(log M + N) where M is the number of entries and N the number of those answered",
     .summary = "Answers with the entries of a stream within a range of ids.",
     .syntax = "key start-id end-id [COUNT count]",
     .argument_notes = kRangeNotes},
    {.name = "xrevrange",
     .arity = -4,
     .flags = kReadOnly,
     .keys = kReads,
     .acl = kAclStream,
     .handler = XRevRange,
     .since = "5.0.0",
     .complexity = "O(log M + N) where M is the number of entries and N the number of those answered",
     .summary = "Answers with the entries of a stream within a range of ids, the highest first.",
     .syntax = "key end-id start-id [COUNT count]",
     .argument_notes = kRangeNotes},
    {.name = "xread",
     .arity = -4,
     .flags = kReadOnly | kBlocking | kMovableKeys,
     .key_after_word = {.words = kStreams, .from = 1, .use = kKeyRO | kKeyAccess, .half = true},
     .acl = kAclStream,
     .handler = XRead,
     .since = "5.0.0",
     .complexity = "O(log M + N) for each stream, M being its entries and N those answered",
     .summary = "Answers with the entries of streams after given ids; may wait for new ones.",
     .syntax = "[COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]",
     .notes = "+ as in Redis 7.4."},
};
const CommandFamily kFamily("stream", kRows);

}  // namespace
}  // namespace mayfly::stream_read_commands
