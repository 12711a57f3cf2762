// XREADGROUP: delivers entries of streams to the consumers of a group, and waits for new ones.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/types/value_listeners.h"
#include "exec/arguments/stream_arguments.h"
#include "exec/arguments/stream_read_options.h"
#include "exec/arguments/wait_limit.h"
#include "exec/dispatch/context.h"
#include "exec/values/group_access.h"
#include "exec/values/group_counts.h"
#include "exec/values/group_effects.h"
#include "exec/values/saved_access.h"
#include "server/waiting/parking.h"

namespace mayfly::stream_group_read_commands {
namespace {

// A stream to read from: new entries, and with CLAIM those that have been idle for long; or what the consumer holds after an ID.
struct Source {
  std::string_view name;
  FoundGroup found;
  bool is_new = false;
  StreamId after = {};              // unless is_new
  std::vector<StreamId> idle = {};  // to be claimed
  std::vector<StreamId> gone = {};  // pending and idle, but the stream has them no more
};

// Finds the group. False after having answered the error. As in Redis since 7.2, a client that has waited gets the same errors.
bool FindSource(Context& ctx, const Key& key, std::string_view group, Source& source) {
  source.name = key.text;
  if (!FindGroup(ctx, key, group, source.found)) return false;
  if (source.found.group != nullptr) {
    if (ctx.wake() == WakeReason::kNone) AwaitSaveOfGroups(ctx, *source.found.entry, *source.found.stream);
    return true;
  }
  ctx.Fail("NOGROUP No such key '" + std::string(errors::Repeated(key.text)) + "' or consumer group '" +
           std::string(errors::Repeated(group)) + "' in XREADGROUP with GROUP option");
  return false;
}

// Finds what CLAIM claims. Entries that have gone count, too: so a call looks at a bounded number.
void FindIdle(const Context& ctx, const StreamReadOptions& options, Source& source) {
  if (!source.is_new || !options.claim_idle_ms || *options.claim_idle_ms > ctx.now.wall_ms) return;
  const int64_t most_ms = ctx.now.wall_ms - *options.claim_idle_ms;
  for (const StreamId id : source.found.group->deliveries().LowestRanked(most_ms, options.count))
    (source.found.stream->Contains(id) ? source.idle : source.gone).push_back(id);
}

// When the next pending entry of a source will have been idle for long enough, in monotonic ms.
uint64_t NextIdle(const Context& ctx, const StreamReadOptions& options, const std::vector<Source>& sources) {
  uint64_t next = ParkingLot::kForever;
  for (const Source& source : sources) {
    const bool any = source.is_new && options.claim_idle_ms && source.found.group->pending() != 0;
    if (!any) continue;
    // The times of a payload may lie before 1970.
    const int64_t oldest_ms = std::max<int64_t>(source.found.group->deliveries().LowestRank(), 0);
    if (*options.claim_idle_ms > INT64_MAX - oldest_ms) continue;
    const int64_t left_ms = oldest_ms + *options.claim_idle_ms - ctx.now.wall_ms;
    next = std::min(next, ctx.now.mono_ms + static_cast<uint64_t>(std::max<int64_t>(left_ms, 1)));
  }
  return next;
}

bool ReadSources(Context& ctx, const Args& args, const StreamReadOptions& options,
                 std::vector<Source>& sources) {
  for (size_t i = 0; i < options.streams; ++i) {
    Source source;
    if (!FindSource(ctx, ctx.KeyAt(args, options.first + i), options.group, source)) return false;
    const std::string_view id = args[options.first + options.streams + i];
    if (id == "$") {
      ctx.Fail(
          "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this "
          "consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just "
          "return an empty result set.");
      return false;
    }
    source.is_new = id == ">";
    if (!source.is_new) {
      const std::optional<StreamIdText> read = ReadStreamId(ctx, id, StreamIdForm::kStrict);
      if (!read) return false;
      source.after = read->id;
    }
    FindIdle(ctx, options, source);
    sources.push_back(std::move(source));
  }
  return true;
}

// True if the source has an answer. What a consumer holds is one, even if it is nothing.
bool HasAnswer(const Source& source) {
  return !source.is_new || !source.idle.empty() || source.found.stream->HasAfter(source.found.group->last_id);
}

// As EditGroup.
template <typename Edit, typename What>
void EditSource(Context& ctx, const Source& source, Edit&& edit, What&& what) {
  const Key key = ctx.keyspace.KeyOf(source.name);
  FoundGroup found = source.found;
  found.entry = ctx.keyspace.Peek(key, ctx.now);  // an edit of the same stream may have relocated it
  EditGroup(ctx, key, found, std::forward<Edit>(edit), std::forward<What>(what));
}

// A client that was woken in vain is not worth reading large groups at once for a save (AwaitSaveOfGroups).
bool WouldHurrySave(const Context& ctx, const StreamReadOptions& options, const Source& source) {
  const StreamListener* const watch = source.found.stream->stream_listener();
  return ctx.wake() != WakeReason::kNone && watch != nullptr && watch->UnreadPending() > kTakenAtOnce &&
         source.found.group->FindConsumer(options.consumer) != nullptr;
}

// The consumer has asked for entries of a source that has none: it is made if there is none, and is idle no more. Returns true
// if it was made.
bool SeeConsumer(Context& ctx, const StreamReadOptions& options, const Source& source) {
  if (WouldHurrySave(ctx, options, source)) return false;
  GroupEffects effects(WantsEffects(ctx), options.group, options.consumer);
  Event event;
  bool created = false;
  EditSource(
      ctx, source,
      [&](StreamValue&, StreamGroup& group) {
        ConsumerIn(group, options.consumer, ctx.now.wall_ms, created);
      },
      [&]() -> const Event* {
        if (!created) return nullptr;
        effects.NoteConsumer();
        event = effects.Tell(kConsumerCreated);
        return &event;
      });
  return created;
}

// A delivery from one source, in a call of EditGroup.
class GroupReader {
 public:
  GroupReader(Context& ctx, const StreamReadOptions& options, const Source& source) noexcept
      : ctx_(ctx),
        options_(options),
        source_(source),
        effects_(WantsEffects(ctx), options.group, options.consumer) {}

  void Edit() {
    EditSource(
        ctx_, source_, [&](StreamValue& stream, StreamGroup& group) { Read(stream, group); },
        [&]() -> const Event* {
          if (!created_ && !changed_) return nullptr;
          if (created_) effects_.NoteConsumer();
          event_ = effects_.Tell(created_ ? kConsumerCreated : kDelivered);
          return &event_;
        });
  }
  bool changed() const noexcept { return created_ || changed_; }

 private:
  void Read(StreamValue& stream, StreamGroup& group) {
    StreamConsumer& consumer = ConsumerIn(group, options_.consumer, ctx_.now.wall_ms, created_);
    source_.is_new ? ReadNew(stream, group, consumer) : ReadHeld(stream, group, consumer);
  }
  void ReadNew(const StreamValue& stream, StreamGroup& group, StreamConsumer& consumer) {
    StreamId low = group.last_id;
    const bool may_have_more = low.Increment();
    size_t shown = 0;
    resp::Deferred array = ctx_.reply.Defer();
    for (const StreamId id : source_.idle) shown += Claim(stream, group, consumer, id) ? 1U : 0U;
    if (!may_have_more || (shown != 0 && shown == options_.count)) return array.Array(shown);
    const DeliveryCount count(stream);
    stream.ForRange(low, StreamId::Max(), false, [&](const StreamEntry& entry) {
      if (!options_.no_ack) Deliver(group, consumer, entry.id, 1);
      count.Add(group, entry.id);
      consumer.active_ms = ctx_.now.wall_ms;
      changed_ = true;
      ReplyNew(entry, 0, 0);
      return ++shown != options_.count;
    });
    if (group.last_id >= low) effects_.NotePlace(group);
    array.Array(shown);
  }

  void Deliver(StreamGroup& group, StreamConsumer& consumer, StreamId id, uint32_t count) {
    group.Deliver(id, consumer, ctx_.now.wall_ms, count);
    effects_.NoteDelivered(id, ctx_.now.wall_ms, count);
  }

  // With CLAIM each entry has also for how long it was idle, and how often it was delivered before.
  void ReplyNew(const StreamEntry& entry, int64_t idle_ms, uint32_t count) {
    if (!options_.claim_idle_ms) return ReplyStreamEntry(ctx_, entry);
    ctx_.reply.Array(4);
    ReplyStreamEntryParts(ctx_, entry);
    ctx_.reply.Integer(idle_ms);
    ctx_.reply.Integer(count);
  }

  // False if another source of the same stream has just claimed the entry.
  bool Claim(const StreamValue& stream, StreamGroup& group, StreamConsumer& consumer, StreamId id) {
    const Delivery before = *group.Find(id);
    const int64_t idle_ms = std::max<int64_t>(ctx_.now.wall_ms - std::max<int64_t>(before.ms, 0), 0);
    if (idle_ms < *options_.claim_idle_ms) return false;
    Deliver(group, consumer, id, before.CountOfNext());
    consumer.active_ms = ctx_.now.wall_ms;
    changed_ = true;
    stream.ForRange(id, id, false, [&](const StreamEntry& entry) {
      ReplyNew(entry, idle_ms, before.count);
      return false;
    });
    return true;
  }

  // An entry that the stream has no more is answered as null, and does not count as delivered.
  void ReadHeld(const StreamValue& stream, StreamGroup& group, StreamConsumer& consumer) {
    size_t shown = 0;
    resp::Deferred array = ctx_.reply.Defer();
    StreamId low = source_.after;
    if (low.Increment()) {
      consumer.ids().ForFrom(low, [&](StreamId id, const auto&) {
        bool exists = false;
        stream.ForRange(id, id, false, [&](const StreamEntry& entry) {
          exists = true;
          ReplyStreamEntry(ctx_, entry);
          return false;
        });
        exists ? CountAgain(group, consumer, id) : ReplyGone(id);
        return ++shown != options_.count;
      });
    }
    array.Array(shown);
  }

  void CountAgain(StreamGroup& group, StreamConsumer& consumer, StreamId id) {
    Deliver(group, consumer, id, group.Find(id)->CountOfNext());
    changed_ = true;
  }
  void ReplyGone(StreamId id) {
    ctx_.reply.Array(2);
    ReplyStreamId(ctx_, id);
    ctx_.reply.NullArray();
  }

  Context& ctx_;
  const StreamReadOptions& options_;
  const Source& source_;
  GroupEffects effects_;
  Event event_;
  bool created_ = false;
  bool changed_ = false;
};

// A step of a request that may have changed something before.
template <typename Step>
void Continue(Context& ctx, bool changed, Step&& step) {
  changed ? ContinueAfterChange(ctx, step) : step();
}

// Returns the number of sources with an answer. Sets `changed` if anything changes.
size_t ReadEach(Context& ctx, const StreamReadOptions& options, const std::vector<Source>& sources,
                bool& changed) {
  const bool pairs = ctx.reply.version() == 2;
  size_t count = 0;
  for (const Source& source : sources) {
    Continue(ctx, changed, [&] {
      // A stream that is named twice has fewer entries the second time, perhaps none.
      if (!HasAnswer(source)) {
        changed |= SeeConsumer(ctx, options, source);
        return;
      }
      ++count;
      if (pairs) ctx.reply.Array(2);
      ctx.reply.Bulk(source.name);
      GroupReader reader(ctx, options, source);
      reader.Edit();
      changed |= reader.changed();
    });
  }
  return count;
}

// False if no source has an answer. Sets `changed` if anything changes.
bool ReplySources(Context& ctx, const StreamReadOptions& options, const std::vector<Source>& sources,
                  bool& changed) {
  if (std::none_of(sources.begin(), sources.end(), HasAnswer)) {
    ReadEach(ctx, options, sources, changed);
    return false;
  }
  resp::Deferred answers = ctx.reply.Defer();
  const size_t count = ReadEach(ctx, options, sources, changed);
  ctx.reply.version() == 2 ? answers.Array(count) : answers.Map(count);
  return true;
}

// Pending entries that the stream has no more are pending no more, as for XCLAIM. Returns true if there were any.
bool ForgetGone(Context& ctx, const std::vector<Source>& sources) {
  bool changed = false;
  for (const Source& source : sources) {
    if (source.gone.empty()) continue;
    Continue(ctx, changed, [&] {
      GroupEffects effects(WantsEffects(ctx), source.found.group->name, {});
      Event event;
      EditSource(
          ctx, source,
          [&](StreamValue&, StreamGroup& group) {
            for (const StreamId id : source.gone) {
              group.Acknowledge(id);
              effects.NoteReleased(id);
            }
          },
          [&] { return event = effects.Tell(kDelivered), &event; });
    });
    changed = true;
  }
  return changed;
}

// With CLAIM a client may have to look again before the end of its wait.
void Wait(Context& ctx, const Args& args, const StreamReadOptions& options,
          const std::vector<Source>& sources) {
  const uint64_t end = ctx.resumed != nullptr ? ctx.resumed->end_mono_ms : *options.deadline_mono_ms;
  const uint64_t order = ctx.resumed != nullptr ? ctx.resumed->order : 0;
  ParkingLot& lot = ctx.server.parking;
  Parked& parked = lot.Park(ctx.session, args.all(), std::min(end, NextIdle(ctx, options, sources)), order,
                            args.all().subspan(options.first, options.streams), ValueType::kStream);
  parked.end_mono_ms = end;
  lot.AwaitGone(parked);
}

void XReadGroup(Context& ctx, Args& args) {
  StreamReadOptions options;
  if (!ReadGroupReadOptions(ctx, args, options)) return;
  if (AnswerEndOfWait(ctx)) return;
  std::vector<Source> sources;
  if (!ReadSources(ctx, args, options, sources)) return;
  bool changed = ForgetGone(ctx, sources);
  if (ReplySources(ctx, options, sources, changed)) return;
  if (!options.deadline_mono_ms || !ctx.MayPark()) return ctx.reply.NullArray();
  Continue(ctx, changed, [&] { Wait(ctx, args, options, sources); });
}

constexpr std::array<std::string_view, 1> kStreams = {"STREAMS"};
// A group or a consumer may have the name STREAMS.
constexpr std::array<KeyAfterWord::Skipped, 1> kNames = {{{"GROUP", 2}}};

constexpr Command kRows[] = {
    {.name = "xreadgroup",
     .arity = -7,
     .flags = kWrite | kBlocking | kMovableKeys,
     .key_after_word =
         {.words = kStreams, .from = 4, .use = kKeyRO | kKeyAccess, .skipped = kNames, .half = true},
     .acl = kAclStream,
     .handler = XReadGroup,
     .since = "5.0.0",
     .complexity = "O(log M + N) for each stream, M being its entries and N those answered",
     .summary = "Delivers entries of streams to a consumer of a group; may wait for new ones.",
     .syntax =
         "GROUP group consumer [COUNT count] [BLOCK milliseconds] [CLAIM min-idle-time] [NOACK] STREAMS "
         "key [key ...] id [id ...]",
     .argument_notes = "CLAIM@8.4.0",
     .notes = "CLAIM as in Redis 8.4: also what has been pending for long."},
};
const CommandFamily kFamily("stream", kRows);

}  // namespace
}  // namespace mayfly::stream_group_read_commands
