// Commands of these tests: the first small users of what transactions, scripts and blocking commands are built on.
//
//   KEEP key value      stores a string            FETCH key     answers with it, null if there is none
//   GRAB key ms         answers with the string and deletes it; waits for it if there is none
//   MOVE-TO key other   moves a string to another key
//   ALL a b ; c d       makes the calls "a b" and "c d" and answers with all replies, as EXEC does
//   READ a b            makes the call "a b" with a session of its own, in database 1, and answers with what it
//                       read back from its reply, as a script does; shown to monitors before that call
//   NOW                 answers with the time of the call
//   PASS ms             lets time pass while it runs
//   ADD key n           adds to a number; what it reports in its place is the sum
//   ENTER               begins RESP2's subscriber mode
#include <string>
#include <vector>

#include "base/text/numbers.h"
#include "exec/call/reply_buffer.h"
#include "exec/dispatch/context.h"
#include "exec/dispatch/executor.h"
#include "resp/reply_reader.h"
#include "server/waiting/parking.h"

namespace mayfly::testing {
namespace {

void Store(Context& ctx, std::string_view name, std::string_view value) {
  const Key key = ctx.keyspace.KeyOf(name);
  ctx.keyspace.Put(key, ctx.keyspace.Peek(key, ctx.now), StringValue::Of(value), Expiry::Never(), ctx.now);
}

std::string TextIn(const Entry& entry) {
  return entry.encoding() == Encoding::kInteger ? std::to_string(entry.integer()) : std::string(entry.text());
}

void Keep(Context& ctx, Args& args) {
  Store(ctx, args[1], args[2]);
  ctx.reply.Ok();
}

void Fetch(Context& ctx, Args& args) {
  const Entry* entry = ctx.Read(ctx.KeyAt(args, 1));
  entry != nullptr ? ctx.reply.Bulk(TextIn(*entry)) : ctx.reply.Null();
}

void Grab(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  if (Entry* entry = ctx.keyspace.Find(key, ctx.now)) {
    ctx.reply.Bulk(TextIn(*entry));
    return ctx.keyspace.Remove(key, *entry, ChangeReason::kDeleted);
  }
  if (!ctx.MayPark() || ctx.wake() == WakeReason::kTimeout) return ctx.reply.NullArray();
  const std::string_view keys[] = {args[1]};
  const auto ms = static_cast<uint64_t>(ParseInteger(args[2]).value_or(0));
  ctx.Park(args, ms == 0 ? ParkingLot::kForever : ctx.now.mono_ms + ms, keys);
}

void MoveTo(Context& ctx, Args& args) {
  const Key from = ctx.KeyAt(args, 1);
  const Key to = ctx.keyspace.KeyOf(args[2]);
  Entry* entry = ctx.keyspace.Find(from, ctx.now);
  if (entry == nullptr) return ctx.Fail(errors::kNoSuchKey);
  ctx.keyspace.Move(from, *entry, ctx.keyspace, to, ctx.keyspace.Peek(to, ctx.now), ctx.now);
  ctx.reply.Ok();
}

void All(Context& ctx, Args& args) {
  std::vector<std::vector<std::string_view>> calls(1);
  while (!args.Done()) {
    const std::string_view word = args.Next();
    word == ";" ? static_cast<void>(calls.emplace_back()) : calls.back().push_back(word);
  }
  ctx.reply.Array(calls.size());
  for (const auto& call : calls) ctx.MakeCall(call, ctx.reply, Origin::kTransaction);
}

void Read(Context& ctx, Args& args) {
  ctx.server.executor->monitors().Show({ctx.session, ctx.reply, ctx.now, ctx.origin, args.all(), &ctx.row});
  Session own(ctx.session.pool());
  own.LogIn(ctx.session.user());
  own.db = 1;
  ReplyBuffer buffer(ctx.session.pool(), 3);
  const Outcome outcome = ctx.MakeCall(own, args.Rest(), buffer.writer(), Origin::kScript);
  resp::ReplyReader reader(buffer.Text());
  resp::ReplyToken token;
  if (reader.Next(token) != resp::ReplyStatus::kToken) return ctx.Fail("ERR nothing was answered");
  ctx.reply.Array(3);
  ctx.reply.Bulk(token.text);
  ctx.reply.Integer(token.integer);
  ctx.reply.Integer(static_cast<int64_t>(outcome.errors));
}

void TellTime(Context& ctx, Args&) { ctx.reply.Integer(static_cast<int64_t>(ctx.now.mono_ms)); }

void Pass(Context& ctx, Args& args) {
  static_cast<SteppedClock&>(ctx.server.clock)
      .AdvanceTime(static_cast<uint64_t>(ParseInteger(args[1]).value_or(0)));
  ctx.reply.Ok();
}

void Add(Context& ctx, Args& args) {
  const Entry* entry = ctx.Read(ctx.KeyAt(args, 1));
  const int64_t old = entry != nullptr ? ParseInteger(TextIn(*entry)).value_or(0) : 0;
  const std::string sum = std::to_string(old + ParseInteger(args[2]).value_or(0));
  Store(ctx, args[1], sum);
  ctx.reply.Bulk(sum);
}

void Enter(Context& ctx, Args&) {
  ctx.session.Set(Mode::kSubscribed);
  ctx.reply.Ok();
}

constexpr KeySpec kOneKey = {1, 1, 1, kKeyRW};
constexpr Command kRows[] = {
    {.name = "keep", .arity = 3, .flags = kWrite | kDenyOom, .keys = kOneKey, .handler = Keep},
    {.name = "fetch", .arity = 2, .flags = kReadOnly, .keys = kOneKey, .handler = Fetch},
    {.name = "grab", .arity = 3, .flags = kWrite | kBlocking, .keys = kOneKey, .handler = Grab},
    {.name = "move-to", .arity = 3, .flags = kWrite, .keys = {1, 2, 1, kKeyRW}, .handler = MoveTo},
    {.name = "all", .arity = -2, .handler = All},
    {.name = "read", .arity = -2, .flags = kSkipMonitor, .handler = Read},
    {.name = "now", .arity = 1, .handler = TellTime},
    {.name = "pass", .arity = 2, .handler = Pass},
    {.name = "add", .arity = 3, .flags = kWrite | kDenyOom, .keys = kOneKey, .handler = Add},
    {.name = "enter", .arity = 1, .flags = kEndsBatch | kLoading | kAllowBusy, .handler = Enter},
    {.name = "always",
     .arity = 1,
     .flags = kLoading | kAllowBusy | kNoAuth | kWhileSubscribed,
     .handler = TellTime},
};
const CommandFamily family("seams", kRows);

}  // namespace
}  // namespace mayfly::testing
