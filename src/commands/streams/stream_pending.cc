// XACK, XPENDING, XCLAIM, XAUTOCLAIM: what a group has delivered, and nobody has acknowledged yet.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "exec/arguments/stream_arguments.h"
#include "exec/dispatch/context.h"
#include "exec/values/group_access.h"
#include "exec/values/group_effects.h"
#include "server/waiting/parking.h"

namespace mayfly::stream_pending_commands {
namespace {

int64_t IdleMs(const Context& ctx, const Delivery& delivery) noexcept { return MsSince(ctx, delivery.ms); }

bool ReadIds(Context& ctx, std::span<const std::string_view> texts, std::vector<StreamId>& ids) {
  ids.reserve(texts.size());
  for (const std::string_view text : texts) {
    const std::optional<StreamIdText> id = ReadStreamId(ctx, text, StreamIdForm::kStrict);
    if (!id) return false;
    ids.push_back(id->id);
  }
  return true;
}

// ---- XACK

void XAck(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  FoundGroup found;
  if (!FindGroup(ctx, key, args[2], found)) return;
  if (found.group == nullptr) return ctx.reply.Integer(0);
  std::vector<StreamId> ids;
  if (!ReadIds(ctx, args.all().subspan(3), ids)) return;
  AwaitSaveOfGroups(ctx, *found.entry, *found.stream);
  int64_t acknowledged = 0;
  const Effect effect{.command = "XACK", .arguments = args.all().subspan(2)};
  const Event event = kDelivered.With(effect);
  EditGroup(
      ctx, key, found,
      [&](StreamValue&, StreamGroup& group) {
        for (const StreamId id : ids) acknowledged += group.Acknowledge(id) ? 1 : 0;
      },
      [&] { return acknowledged != 0 ? &event : nullptr; });
  ctx.reply.Integer(acknowledged);
}

// ---- XPENDING

void ReplySummary(Context& ctx, const StreamGroup& group) {
  ctx.reply.Array(4);
  ctx.reply.Integer(static_cast<int64_t>(group.pending()));
  if (group.pending() == 0) {
    ctx.reply.Null();
    ctx.reply.Null();
    return ctx.reply.NullArray();
  }
  ReplyStreamId(ctx, group.deliveries().First());
  ReplyStreamId(ctx, group.deliveries().Last());
  size_t holders = 0;
  resp::Deferred array = ctx.reply.Defer();
  group.ForEachConsumer([&](const StreamConsumer& consumer) {
    if (consumer.pending() == 0) return;
    ++holders;
    ctx.reply.Array(2);
    ctx.reply.Bulk(consumer.name);
    ctx.reply.Bulk(std::to_string(consumer.pending()));
  });
  array.Array(holders);
}

struct PendingFilter {
  int64_t idle_ms = 0;
  StreamId low = {};
  StreamId high = {};
  int64_t count = 0;
  std::optional<std::string_view> consumer = {};
};

// False after having answered the error.
bool ReadPendingFilter(Context& ctx, Args& args, PendingFilter& filter) {
  constexpr size_t kFewest = 3;  // start, end, count
  constexpr size_t kMost = 6;
  args.Skip(2);
  if (args.Left() < kFewest || args.Left() > kMost) return ctx.Fail(errors::kSyntax), false;
  if (args.Accept("IDLE", 1)) {
    const std::optional<int64_t> idle = args.NextInteger();
    if (!idle) return ctx.Fail(errors::kNotInteger), false;
    if (args.Left() < kFewest) return ctx.Fail(errors::kSyntax), false;
    filter.idle_ms = *idle;
  }
  const std::string_view start = args.Next();
  const std::string_view end = args.Next();
  const std::optional<int64_t> count = args.NextInteger();
  if (!count) return ctx.Fail(errors::kNotInteger), false;
  filter.count = *count;
  const std::optional<StreamId> low = ReadRangeStart(ctx, start);
  if (!low) return false;
  const std::optional<StreamId> high = ReadRangeEnd(ctx, end);
  if (!high) return false;
  filter.low = *low;
  filter.high = *high;
  if (!args.Done()) filter.consumer = args.Next();
  return true;
}

void ReplyPending(Context& ctx, const StreamGroup& group, const PendingFilter& filter) {
  int64_t left = filter.count;
  const StreamConsumer* const only = filter.consumer ? group.FindConsumer(*filter.consumer) : nullptr;
  if (left <= 0 || (filter.consumer && only == nullptr)) return ctx.reply.EmptyArray();
  size_t shown = 0;
  resp::Deferred array = ctx.reply.Defer();
  const auto show = [&](StreamId id, const Delivery& delivery) {
    if (id > filter.high) return false;
    const int64_t idle_ms = IdleMs(ctx, delivery);
    if (idle_ms < filter.idle_ms) return true;
    ctx.reply.Array(4);
    ReplyStreamId(ctx, id);
    ctx.reply.Bulk(group.ConsumerOf(delivery).name);
    ctx.reply.Integer(idle_ms);
    ctx.reply.Integer(delivery.count);
    ++shown;
    return --left != 0;
  };
  if (only != nullptr)
    only->ids().ForFrom(filter.low, [&](StreamId id, const auto&) { return show(id, *group.Find(id)); });
  else
    group.deliveries().ForFrom(filter.low, show);
  array.Array(shown);
}

void XPending(Context& ctx, Args& args) {
  const bool summary = args.size() == 3;
  PendingFilter filter;
  if (!summary && !ReadPendingFilter(ctx, args, filter)) return;
  FoundGroup found;
  if (!FindGroup(ctx, ctx.KeyAt(args, 1), args[2], found)) return;
  if (found.group == nullptr) return FailNoGroup(ctx, args[1], args[2]);
  summary ? ReplySummary(ctx, *found.group) : ReplyPending(ctx, *found.group, filter);
}

// ---- XCLAIM, XAUTOCLAIM

// Gives pending entries to a consumer, and answers each. In a call of EditGroup.
class Claimer {
 public:
  Claimer(Context& ctx, std::string_view group, std::string_view consumer, bool ids_only) noexcept
      : ctx_(ctx), name_(consumer), ids_only_(ids_only), effects_(WantsEffects(ctx), group, consumer) {}

  // The consumer makes a request: it is made if there is none, and is idle no more, whether it gets an entry or not.
  void See(StreamGroup& group) { consumer_ = &ConsumerIn(group, name_, ctx_.now.wall_ms, created_); }
  // For an entry that the stream has no more: it is pending no more.
  void Drop(StreamGroup& group, StreamId id) noexcept {
    if (!group.Acknowledge(id)) return;
    changed_ = true;
    effects_.NoteReleased(id);
  }
  // REQUIRES: See; the stream has the entry.
  void Claim(const StreamValue& stream, StreamGroup& group, StreamId id, int64_t ms, uint32_t count) {
    const Delivery* const before = group.Find(id);
    idle_sooner_ |= before == nullptr || ms < before->ms;
    group.Deliver(id, *consumer_, ms, count);
    effects_.NoteDelivered(id, ms, count);
    consumer_->active_ms = ctx_.now.wall_ms;
    changed_ = true;
    ++claimed_;
    if (ids_only_) return ReplyStreamId(ctx_, id);
    stream.ForRange(id, id, false,
                    [&](const StreamEntry& entry) { return ReplyStreamEntry(ctx_, entry), false; });
  }
  uint32_t CountOf(const Delivery& delivery) const noexcept {
    return ids_only_ ? delivery.count : delivery.CountOfNext();
  }
  void NotePlace(const StreamGroup& group) noexcept {
    changed_ = true;
    effects_.NotePlace(group);
  }
  size_t claimed() const noexcept { return claimed_; }
  // True if an entry reaches a given idle time earlier than a waiting client could foresee: it has an earlier delivery than
  // before, or was not pending.
  bool idle_sooner() const noexcept { return idle_sooner_; }
  const Event* done() noexcept {
    if (!created_ && !changed_) return nullptr;
    if (created_) effects_.NoteConsumer();
    event_ = effects_.Tell(created_ ? kConsumerCreated : kDelivered);
    return &event_;
  }

 private:
  Context& ctx_;
  const std::string_view name_;
  const bool ids_only_;
  GroupEffects effects_;
  Event event_;
  StreamConsumer* consumer_ = nullptr;
  size_t claimed_ = 0;
  bool idle_sooner_ = false;
  bool created_ = false;
  bool changed_ = false;
};

// Clients that wait with XREADGROUP ... CLAIM have planned their next look by the deliveries of before.
void TellWaiting(Context& ctx, const Key& key, const Claimer& claimer) noexcept {
  if (claimer.idle_sooner())
    static_cast<void>(ctx.server.parking.keys().Announce({ctx.session.db, key.text}));
}

// Negative ones count as 0. Nothing after having answered the error.
std::optional<int64_t> ReadMinIdle(Context& ctx, std::string_view text, std::string_view command) {
  const std::optional<int64_t> ms = ParseInteger(text);
  if (ms) return std::max<int64_t>(*ms, 0);
  ctx.Fail("ERR Invalid min-idle-time argument for " + std::string(command));
  return std::nullopt;
}

struct ClaimOptions {
  std::vector<StreamId> ids = {};
  std::optional<int64_t> ms = {};     // of the delivery
  std::optional<int64_t> count = {};  // of deliveries
  StreamId last_id = {};
  bool force = false;
  bool ids_only = false;
};

// False after having answered the error.
bool ReadClaimNumber(Context& ctx, Args& args, std::string_view option, std::optional<int64_t>& number) {
  number = args.NextInteger();
  if (!number) ctx.Fail("ERR Invalid " + std::string(option) + " option argument for XCLAIM");
  return number.has_value();
}

bool ReadClaimOption(Context& ctx, Args& args, ClaimOptions& options) {
  if (args.Accept("FORCE")) return options.force = true;
  if (args.Accept("JUSTID")) return options.ids_only = true;
  if (args.Accept("IDLE", 1)) {
    if (!ReadClaimNumber(ctx, args, "IDLE", options.ms)) return false;
    // Before the epoch or in the future: as without the option.
    const bool fits = *options.ms >= 0 && *options.ms <= ctx.now.wall_ms;
    options.ms = fits ? ctx.now.wall_ms - *options.ms : ctx.now.wall_ms;
    return true;
  }
  if (args.Accept("TIME", 1)) {
    if (!ReadClaimNumber(ctx, args, "TIME", options.ms)) return false;
    if (*options.ms < 0 || *options.ms > ctx.now.wall_ms) options.ms = ctx.now.wall_ms;
    return true;
  }
  if (args.Accept("RETRYCOUNT", 1)) return ReadClaimNumber(ctx, args, "RETRYCOUNT", options.count);
  if (args.Accept("LASTID", 1)) {
    const std::optional<StreamIdText> id = ReadStreamId(ctx, args.Next(), StreamIdForm::kStrict);
    if (id) options.last_id = id->id;
    return id.has_value();
  }
  ctx.Fail("ERR Unrecognized XCLAIM option '" + std::string(errors::Repeated(args.Peek())) + "'");
  return false;
}

// Reads IDs, up to the first word that is none, and the options after them. False after having answered the error.
bool ReadClaimOptions(Context& ctx, Args& args, ClaimOptions& options) {
  constexpr size_t kFixed = 4;
  args.Skip(kFixed);
  while (!args.Done()) {
    const std::optional<StreamId> id = ParseStreamId(args.Peek());
    if (!id) break;
    options.ids.push_back(*id);
    args.Skip(1);
  }
  while (!args.Done()) {
    if (!ReadClaimOption(ctx, args, options)) return false;
  }
  return true;
}

// A count below zero is as none.
uint32_t ClaimedCount(const Claimer& claimer, const ClaimOptions& options,
                      const Delivery& delivery) noexcept {
  if (options.count && *options.count >= 0)
    return static_cast<uint32_t>(std::min<int64_t>(*options.count, UINT32_MAX));
  return claimer.CountOf(delivery);
}

void ClaimIds(const Context& ctx, Claimer& claimer, StreamValue& stream, StreamGroup& group,
              int64_t min_idle_ms, const ClaimOptions& options) {
  claimer.See(group);
  if (options.last_id > group.last_id) {
    group.last_id = options.last_id;
    claimer.NotePlace(group);
  }
  for (const StreamId id : options.ids) {
    if (!stream.Contains(id)) {
      claimer.Drop(group, id);
      continue;
    }
    const Delivery* const found = group.Find(id);
    if (found == nullptr && !options.force) continue;
    if (found != nullptr && IdleMs(ctx, *found) < min_idle_ms) continue;
    const Delivery before = found != nullptr ? *found : Delivery{0, 1, Delivery::kNobody};
    claimer.Claim(stream, group, id, options.ms.value_or(ctx.now.wall_ms),
                  ClaimedCount(claimer, options, before));
  }
}

void XClaim(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  FoundGroup found;
  if (!FindGroup(ctx, key, args[2], found)) return;
  if (found.group == nullptr) return FailNoGroup(ctx, args[1], args[2]);
  const std::optional<int64_t> min_idle_ms = ReadMinIdle(ctx, args[4], "XCLAIM");
  if (!min_idle_ms) return;
  ClaimOptions options;
  if (!ReadClaimOptions(ctx, args, options)) return;
  AwaitSaveOfGroups(ctx, *found.entry, *found.stream);
  Claimer claimer(ctx, args[2], args[3], options.ids_only);
  resp::Deferred array = ctx.reply.Defer();
  EditGroup(
      ctx, key, found,
      [&](StreamValue& stream, StreamGroup& group) {
        ClaimIds(ctx, claimer, stream, group, *min_idle_ms, options);
      },
      [&] { return claimer.done(); });
  array.Array(claimer.claimed());
  TellWaiting(ctx, key, claimer);
}

struct AutoClaimOptions {
  StreamId start = {};
  int64_t count = 100;
  bool ids_only = false;
};

// False after having answered the error.
bool ReadAutoClaimOptions(Context& ctx, Args& args, AutoClaimOptions& options) {
  constexpr size_t kFixed = 4;
  constexpr int64_t kMostCount = INT64_MAX / 16;
  args.Skip(kFixed);
  const std::optional<StreamId> start = ReadRangeStart(ctx, args.Next());
  if (!start) return false;
  options.start = *start;
  while (!args.Done()) {
    if (args.Accept("COUNT", 1)) {
      const std::optional<int64_t> count = args.NextInteger();
      if (!count || *count < 1 || *count > kMostCount) return ctx.Fail("ERR COUNT must be > 0"), false;
      options.count = *count;
    } else if (args.Accept("JUSTID")) {
      options.ids_only = true;
    } else {
      return ctx.Fail(errors::kSyntax), false;
    }
  }
  return true;
}

// Looks at no more than so many pending entries for each one that it may claim.
constexpr int64_t kLooksEach = 10;

// What a call of XAUTOCLAIM does, and where the next one begins: 0-0 at the end.
struct ClaimPlan {
  std::vector<StreamId> claimed = {};
  std::vector<StreamId> gone = {};  // the stream has them no more
  StreamId next = {};
};

ClaimPlan PlanClaims(const Context& ctx, const StreamValue& stream, const StreamGroup& group,
                     int64_t min_idle_ms, const AutoClaimOptions& options) {
  ClaimPlan plan;
  int64_t count = options.count;
  int64_t looks = count * kLooksEach;
  group.deliveries().ForFrom(options.start, [&](StreamId id, const Delivery& delivery) {
    if (count == 0 || looks-- == 0) return plan.next = id, false;
    const bool exists = stream.Contains(id);
    if (exists && IdleMs(ctx, delivery) < min_idle_ms) return true;
    (exists ? plan.claimed : plan.gone).push_back(id);
    --count;
    return true;
  });
  return plan;
}

void XAutoClaim(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  const std::optional<int64_t> min_idle_ms = ReadMinIdle(ctx, args[4], "XAUTOCLAIM");
  if (!min_idle_ms) return;
  AutoClaimOptions options;
  if (!ReadAutoClaimOptions(ctx, args, options)) return;
  FoundGroup found;
  if (!FindGroup(ctx, key, args[2], found)) return;
  if (found.group == nullptr) return FailNoGroup(ctx, args[1], args[2]);
  AwaitSaveOfGroups(ctx, *found.entry, *found.stream);
  const ClaimPlan plan = PlanClaims(ctx, *found.stream, *found.group, *min_idle_ms, options);
  Claimer claimer(ctx, args[2], args[3], options.ids_only);
  ctx.reply.Array(3);
  ReplyStreamId(ctx, plan.next);
  ctx.reply.Array(plan.claimed.size());
  EditGroup(
      ctx, key, found,
      [&](StreamValue& stream, StreamGroup& group) {
        claimer.See(group);
        for (const StreamId id : plan.gone) claimer.Drop(group, id);
        for (const StreamId id : plan.claimed)
          claimer.Claim(stream, group, id, ctx.now.wall_ms, claimer.CountOf(*group.Find(id)));
      },
      [&] { return claimer.done(); });
  TellWaiting(ctx, key, claimer);
  ctx.reply.Array(plan.gone.size());
  for (const StreamId id : plan.gone) ReplyStreamId(ctx, id);
}

constexpr KeySpec kUpdates = {1, 1, 1, kKeyRW | kKeyUpdate};

constexpr Command kRows[] = {
    {.name = "xack",
     .arity = -4,
     .flags = kWrite | kFast,
     .keys = kUpdates,
     .acl = kAclStream,
     .handler = XAck,
     .since = "5.0.0",
     .complexity = "O(log N) for each id, N being the number of pending entries",
     .summary = "Acknowledges entries: they are no longer pending in the group.",
     .syntax = "key group id [id ...]"},
    {.name = "xpending",
     .arity = -3,
     .flags = kReadOnly,
     .keys = {1, 1, 1, kKeyRO | kKeyAccess},
     .acl = kAclStream,
     .handler = XPending,
     .since = "5.0.0",
     .complexity =
         "O(N) where N is the number of entries that are answered, or looked at with IDLE; or of consumers",
     .summary = "Tells which entries a group has delivered, and nobody has acknowledged.",
     .syntax = "key group [[IDLE min-idle-time] start end count [consumer]]",
     .tips = "nondeterministic_output"},
    {.name = "xclaim",
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = kUpdates,
     .acl = kAclStream,
     .handler = XClaim,
     .since = "5.0.0",
     .complexity = "O(log N) for each id, N being the number of pending entries",
     .summary = "Gives pending entries to another consumer.",
     .syntax = "key group consumer min-idle-time id [id ...] [IDLE ms] [TIME unix-time-milliseconds] "
               "[RETRYCOUNT count] [FORCE] [JUSTID] [LASTID lastid]",
     .argument_notes = "LASTID=id",
     .tips = "nondeterministic_output"},
    {.name = "xautoclaim",
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyDelete},
     .acl = kAclStream,
     .handler = XAutoClaim,
     .since = "6.2.0",
     .complexity = "O(1) if COUNT is small",
     .summary = "Gives pending entries that have been idle for long to a consumer.",
     .syntax = "key group consumer min-idle-time start [COUNT count] [JUSTID]",
     .tips = "nondeterministic_output"},
};
const CommandFamily kFamily("stream", kRows);

}  // namespace
}  // namespace mayfly::stream_pending_commands
