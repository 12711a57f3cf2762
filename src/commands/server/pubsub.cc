// SUBSCRIBE, PUBLISH, PUBSUB and kin: publish and subscribe.
//
// A client always gets the confirmations of SUBSCRIBE and its kin, even after CLIENT REPLY OFF: confirmations are pushes,
// like messages.
#include "server/watch/pubsub.h"

#include <optional>
#include <string>
#include <vector>

#include "base/text/glob.h"
#include "exec/dispatch/context.h"
#include "exec/dispatch/executor.h"
#include "exec/docs/command_help.h"
#include "replication/facts.h"
#include "replication/replicas.h"
#include "server/clients/session.h"
#include "server/clients/sessions.h"
#include "server/clients/subscriptions.h"

namespace mayfly::pubsub_commands {
namespace {

void Confirm(Context& ctx, TopicKind kind, std::string_view word, std::optional<std::string_view> name) {
  resp::Writer to(ctx.session.output, ctx.reply.version());
  to.Push(3);
  to.Bulk(word);
  name ? to.Bulk(*name) : to.Null();
  const Subscriptions* const all = ctx.session.subscriptions.get();
  to.Integer(all == nullptr ? 0 : static_cast<int64_t>(all->CountFor(kind)));
}

void SubscribeTo(Context& ctx, Args& args, TopicKind kind, std::string_view word) {
  while (!args.Done()) {
    const std::string_view name = args.Next();
    ctx.server.pubsub.Subscribe(ctx.session, kind, name);
    Confirm(ctx, kind, word, name);
  }
  ctx.server.sessions.LimitOutput(ctx.session);
}

void UnsubscribeFrom(Context& ctx, Args& args, TopicKind kind, std::string_view word) {
  std::vector<std::string> all;
  if (args.Done() && ctx.session.subscriptions != nullptr) {
    for (const auto& [name, subscription] : ctx.session.subscriptions->of(kind)) all.emplace_back(name);
  }
  if (args.Done() && all.empty()) Confirm(ctx, kind, word, std::nullopt);
  const auto end = [&](std::string_view name) {
    ctx.server.pubsub.Unsubscribe(ctx.session, kind, name);
    Confirm(ctx, kind, word, name);
  };
  for (const std::string& name : all) end(name);
  while (!args.Done()) end(args.Next());
  ctx.server.sessions.LimitOutput(ctx.session);
}

void Subscribe(Context& ctx, Args& args) { SubscribeTo(ctx, args, TopicKind::kChannel, "subscribe"); }
void PSubscribe(Context& ctx, Args& args) { SubscribeTo(ctx, args, TopicKind::kPattern, "psubscribe"); }
// As in Redis, a transaction may make any other subscription.
void SSubscribe(Context& ctx, Args& args) {
  if (!ctx.MayPark()) return ctx.Fail("ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client");
  SubscribeTo(ctx, args, TopicKind::kShardChannel, "ssubscribe");
}
void Unsubscribe(Context& ctx, Args& args) { UnsubscribeFrom(ctx, args, TopicKind::kChannel, "unsubscribe"); }
void PUnsubscribe(Context& ctx, Args& args) {
  UnsubscribeFrom(ctx, args, TopicKind::kPattern, "punsubscribe");
}
void SUnsubscribe(Context& ctx, Args& args) {
  UnsubscribeFrom(ctx, args, TopicKind::kShardChannel, "sunsubscribe");
}

void Publish(Context& ctx, Args& args) {
  // Only this server itself says what a key has in Mayfly alone.
  if (args[1] != kFactsChannel) Replicas::Forward(ctx.server, ctx.session.db, args.all());
  ctx.reply.Integer(static_cast<int64_t>(ctx.server.pubsub.Publish(args[1], args[2])));
}

void SPublish(Context& ctx, Args& args) {
  Replicas::Forward(ctx.server, ctx.session.db, args.all());
  ctx.reply.Integer(static_cast<int64_t>(ctx.server.pubsub.PublishToShard(args[1], args[2])));
}

void ReplyNames(Context& ctx, Args& args, TopicKind kind) {
  const std::optional<std::string_view> pattern =
      args.Done() ? std::nullopt : std::optional<std::string_view>(args.Next());
  resp::Deferred header = ctx.reply.Defer();
  size_t count = 0;
  for (const auto& [name, topic] : ctx.server.pubsub.topics(kind)) {
    if (pattern && !GlobMatch(*pattern, name)) continue;
    ctx.reply.Bulk(name);
    ++count;
  }
  header.Array(count);
}

void ReplyCounts(Context& ctx, Args& args, TopicKind kind) {
  ctx.reply.Array(2 * args.Left());
  while (!args.Done()) {
    const std::string_view name = args.Next();
    ctx.reply.Bulk(name);
    ctx.reply.Integer(static_cast<int64_t>(ctx.server.pubsub.subscribers(kind, name)));
  }
}

void Channels(Context& ctx, Args& args) {
  if (args.Left() > 1) return ctx.Fail(errors::WrongSubcommand("PUBSUB", args[1]));
  ReplyNames(ctx, args, TopicKind::kChannel);
}
void ShardChannels(Context& ctx, Args& args) {
  if (args.Left() > 1) return ctx.Fail(errors::WrongSubcommand("PUBSUB", args[1]));
  ReplyNames(ctx, args, TopicKind::kShardChannel);
}
void NumSub(Context& ctx, Args& args) { ReplyCounts(ctx, args, TopicKind::kChannel); }
void ShardNumSub(Context& ctx, Args& args) { ReplyCounts(ctx, args, TopicKind::kShardChannel); }
void NumPat(Context& ctx, Args&) {
  ctx.reply.Integer(static_cast<int64_t>(ctx.server.pubsub.topics(TopicKind::kPattern).size()));
}

constexpr uint32_t kSubscriber = kPubSub | kNoScript | kLoading | kStale | kWhileSubscribed | kEndsBatch;
constexpr uint32_t kPublisher = kPubSub | kLoading | kStale | kFast | kMayReplicate;
constexpr uint32_t kFigures = kPubSub | kLoading | kStale;
constexpr std::string_view kPerName = "O(1) for each one";

constexpr Command kPubSubCommands[] = {
    {.name = "channels",
     .arity = -2,
     .flags = kFigures,
     .acl = kAclPubSub,
     .handler = Channels,
     .since = "2.8.0",
     .complexity = "O(n), where n is the number of channels",
     .summary = "Lists the channels that have subscribers.",
     .syntax = "[pattern]"},
    HelpRow("6.2.0"),
    {.name = "numpat",
     .arity = 2,
     .flags = kFigures,
     .handler = NumPat,
     .since = "2.8.0",
     .complexity = "O(1)",
     .summary = "Counts the patterns that have subscribers."},
    {.name = "numsub",
     .arity = -2,
     .flags = kFigures,
     .handler = NumSub,
     .since = "2.8.0",
     .complexity = kPerName,
     .summary = "Counts the subscribers of channels.",
     .syntax = "[channel [channel ...]]"},
    {.name = "shardchannels",
     .arity = -2,
     .flags = kFigures,
     .handler = ShardChannels,
     .since = "7.0.0",
     .complexity = "O(n), where n is the number of shard channels",
     .summary = "Lists the shard channels that have subscribers.",
     .syntax = "[pattern]"},
    {.name = "shardnumsub",
     .arity = -2,
     .flags = kFigures,
     .handler = ShardNumSub,
     .since = "7.0.0",
     .complexity = kPerName,
     .summary = "Counts the subscribers of shard channels.",
     .syntax = "[shardchannel [shardchannel ...]]"},
};

constexpr Command kRows[] = {
    {.name = "psubscribe",
     .arity = -2,
     .flags = kSubscriber,
     .channels = {.first = 1, .all = true, .patterns = true},
     .handler = PSubscribe,
     .since = "2.0.0",
     .complexity = kPerName,
     .summary = "Subscribes to the channels that match patterns.",
     .syntax = "pattern [pattern ...]"},
    {.name = "publish",
     .arity = 3,
     .flags = kPublisher,
     .channels = {.first = 1},
     .handler = Publish,
     .since = "2.0.0",
     .complexity =
         "O(n + m), where n is the number of receivers and m that of patterns with which the channel begins",
     .summary = "Sends a message to the subscribers of a channel.",
     .syntax = "channel message"},
    {.name = "pubsub",
     .arity = -2,
     .since = "2.8.0",
     .complexity = "that of the subcommand",
     .summary = "Tells about channels and their subscribers.",
     .subcommands = kPubSubCommands},
    {.name = "punsubscribe",
     .arity = -1,
     .flags = kSubscriber,
     .handler = PUnsubscribe,
     .since = "2.0.0",
     .complexity = kPerName,
     .summary = "Ends the subscriptions to patterns; without an argument, to all.",
     .syntax = "[pattern [pattern ...]]"},
    {.name = "spublish",
     .arity = 3,
     .flags = kPublisher,
     .keys = {1, 1, 1, kKeyNone},
     .channels = {.first = 1},
     .handler = SPublish,
     .since = "7.0.0",
     .complexity = "O(n), where n is the number of receivers",
     .summary = "Sends a message to the subscribers of a shard channel.",
     .syntax = "shardchannel message"},
    {.name = "ssubscribe",
     .arity = -2,
     .flags = kSubscriber,
     .keys = {1, -1, 1, kKeyNone},
     .channels = {.first = 1, .all = true},
     .handler = SSubscribe,
     .since = "7.0.0",
     .complexity = kPerName,
     .summary = "Subscribes to shard channels.",
     .syntax = "shardchannel [shardchannel ...]"},
    {.name = "subscribe",
     .arity = -2,
     .flags = kSubscriber,
     .channels = {.first = 1, .all = true},
     .handler = Subscribe,
     .since = "2.0.0",
     .complexity = kPerName,
     .summary = "Subscribes to channels.",
     .syntax = "channel [channel ...]"},
    {.name = "sunsubscribe",
     .arity = -1,
     .flags = kSubscriber,
     .keys = {1, -1, 1, kKeyNone},
     .handler = SUnsubscribe,
     .since = "7.0.0",
     .complexity = kPerName,
     .summary = "Ends the subscriptions to shard channels; without an argument, to all.",
     .syntax = "[shardchannel [shardchannel ...]]"},
    {.name = "unsubscribe",
     .arity = -1,
     .flags = kSubscriber,
     .handler = Unsubscribe,
     .since = "2.0.0",
     .complexity = kPerName,
     .summary = "Ends the subscriptions to channels; without an argument, to all.",
     .syntax = "[channel [channel ...]]"},
};

const CommandFamily kFamily("pubsub", kRows);

}  // namespace
}  // namespace mayfly::pubsub_commands
