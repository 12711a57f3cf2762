// SADDEX of Dragonfly: adds members with a deadline to a set.
#include <optional>

#include "exec/values/field_time.h"
#include "exec/values/timed_set.h"

namespace mayfly::set_time_commands {
namespace {

constexpr Event kAddWithDeadline{"sadd", kSetMemberExpires.name};

// The deadline in `number` seconds. Returns nullopt after an error reply.
std::optional<Expiry> ReadSeconds(Context& ctx, std::string_view number) {
  const std::optional<int64_t> seconds = ParseInteger(number);
  int64_t ms = 0;
  if (!seconds || *seconds < 1 || !ToMilliseconds(*seconds, TimeUnit::kSeconds, ms) ||
      ms > kFarthestFieldMs - ctx.now.wall_ms) {
    ctx.Fail(errors::kNotInteger);
    return std::nullopt;
  }
  return Expiry::In(static_cast<uint64_t>(ms), ctx.now);
}

void SAddEx(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  args.Skip(1);
  const bool keep = args.Accept("KEEPTTL");
  if (args.Left() < 2) return ctx.Fail(errors::WrongArity(ctx.row.full_name));
  const std::optional<Expiry> deadline = ReadSeconds(ctx, args.Next());
  if (!deadline) return;
  Typed<SetValue> found;
  if (!FindLive(ctx, key, found)) return;
  const size_t added = AddMembersUntil(ctx, key, found, args.Rest(), *deadline, keep, kAddWithDeadline);
  ctx.reply.Integer(static_cast<int64_t>(added));
}

constexpr Command kRows[] = {
    {.name = "saddex",
     .arity = -4,
     .flags = kWrite | kDenyOom | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyInsert},
     .acl = kAclSet,
     .handler = SAddEx,
     .since = "0.1.0",
     .complexity = "O(log(N)) for each member, N being the number of members with a TTL",
     .summary = "Adds members to a set that expire after some seconds; members already there get this TTL, "
                "too, unless KEEPTTL is given.",
     .syntax = "key [KEEPTTL] seconds member [member ...]",
     .notes = "A command of Dragonfly."},
};
const CommandFamily kFamily("set", kRows);

}  // namespace
}  // namespace mayfly::set_time_commands
