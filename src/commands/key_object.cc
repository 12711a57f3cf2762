// OBJECT: how a value is kept and how long it has not been used.
#include "exec/context.h"
#include "exec/value_type.h"

namespace mayfly {
namespace {

void ObjectEncoding(Context& ctx, Args& args) {
  const Entry* entry = ctx.Look(ctx.KeyAt(args, 2));
  if (entry == nullptr) return ctx.reply.Null();
  ctx.reply.Bulk(EncodingName(*entry));
}

void ObjectIdleTime(Context& ctx, Args& args) {
  const Entry* entry = ctx.Look(ctx.KeyAt(args, 2));
  if (entry == nullptr) return ctx.reply.Null();
  // Both stamps are rounded down; adding what the difference may lack, a key that idles for n seconds says n.
  const uint64_t age = Entry::StampAge(Entry::StampOf(ctx.now.mono_ms), entry->stamp());
  ctx.reply.Integer(static_cast<int64_t>((age * Entry::kStampMs + Entry::kStampMs - 1) / 1000));
}

void ObjectHelp(Context& ctx, Args&) {
  static constexpr std::string_view kLines[] = {
      "OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "ENCODING <key>",
      "    How the value of <key> is kept: int, embstr, raw.",
      "IDLETIME <key>",
      "    Seconds since <key> was last read or written.",
      "HELP",
      "    These lines.",
  };
  ctx.reply.Array(std::size(kLines));
  for (const std::string_view line : kLines) ctx.reply.Simple(line);
}

constexpr Command kSubcommands[] = {
    {.name = "encoding",
     .arity = 3,
     .flags = kReadOnly | kUntouched,
     .keys = {2, 2, 1, kKeyRO},
     .acl = kAclKeyspace,
     .handler = ObjectEncoding,
     .since = "2.2.3",
     .complexity = "O(1)",
     .summary = "Answers how the value of a key is kept.",
     .syntax = "key",
     .tips = "nondeterministic_output"},
    {.name = "help",
     .arity = 2,
     .flags = kLoading | kStale,
     .acl = kAclKeyspace,
     .handler = ObjectHelp,
     .since = "6.2.0",
     .complexity = "O(1)",
     .summary = "Answers with a few lines about the subcommands."},
    {.name = "idletime",
     .arity = 3,
     .flags = kReadOnly | kUntouched,
     .keys = {2, 2, 1, kKeyRO},
     .acl = kAclKeyspace,
     .handler = ObjectIdleTime,
     .since = "2.2.3",
     .complexity = "O(1)",
     .summary = "Answers how many seconds ago a key was last used.",
     .syntax = "key",
     .tips = "nondeterministic_output"},
};

constexpr Command kRows[] = {
    {.name = "object",
     .arity = -2,
     .since = "2.2.3",
     .complexity = "Depends on subcommand.",
     .summary = "A container for commands that look behind a value.",
     .subcommands = kSubcommands},
};
const CommandFamily kFamily("generic", kRows);

}  // namespace
}  // namespace mayfly
