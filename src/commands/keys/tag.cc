// INVALIDATE, TAG, TAGS, TAGINFO: tags of keys, and dropping all keys with a tag. TAGINFO returns the number of keys with a
// tag, TAG gives tags to a key of any type, and TAGS lists the tags of a key. SET gives a string its tags (string_set.cc).
// See cache/tags/tags.h.
#include <algorithm>
#include <vector>

#include "exec/arguments/tag_words.h"
#include "exec/dispatch/context.h"
#include "server/waiting/leases.h"
#include "snapshot/snapshots.h"

namespace mayfly::tag_commands {
namespace {

// Keys freed before the answer, and counted one by one; about half a slice of time.
constexpr size_t kFreedAtOnce = 512;

void Invalidate(Context& ctx, Args& args) {
  const std::span<const std::string_view> names = args.all().subspan(1);
  if (AnyReserved(names)) return ctx.Fail(kTagReserved);
  Invalidations& invalidations = ctx.server.leases.invalidations();
  for (const std::string_view name : names) invalidations.Note(ctx.session.db, name);
  if (Snapshots* const snapshots = Snapshots::IfMade(ctx.server))
    snapshots->NoteInvalidated(ctx.keyspace, names);
  ctx.reply.Integer(static_cast<int64_t>(ctx.keyspace.Invalidate(names, ctx.now, kFreedAtOnce)));
}

void TagInfo(Context& ctx, Args& args) {
  if (IsReservedTag(args[1])) return ctx.Fail(kTagReserved);
  const Tag* const tag = ctx.keyspace.tags().Find(args[1]);
  if (tag == nullptr) return ctx.reply.Null();
  ctx.reply.Map(3);
  ctx.reply.Bulk("keys");
  ctx.reply.Integer(tag->keys);
  ctx.reply.Bulk("stale-values");
  ctx.reply.Integer(tag->stale);
  ctx.reply.Bulk("bytes");
  ctx.reply.Integer(static_cast<int64_t>(tag->memory()));
}

void TagCommand(Context& ctx, Args& args) {
  const std::span<const std::string_view> wanted = args.all().subspan(2);
  if (const std::string_view error = ErrorOfTags(wanted); !error.empty()) return ctx.Fail(error);
  const Key key = ctx.KeyAt(args, 1);
  Entry* const entry = ctx.keyspace.Peek(key, ctx.now);
  if (entry == nullptr) return ctx.reply.Null();
  std::vector<std::string_view> names = ctx.keyspace.tags().NamesOf(*entry);
  const size_t before = names.size();
  for (const std::string_view name : wanted) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (names.size() > EntryExtra::kMostTags) return ctx.Fail(kTooManyTags);
  ctx.keyspace.AddTags(key, *entry, wanted, ctx.now);
  ctx.reply.Integer(static_cast<int64_t>(names.size() - before));
}

void TagsCommand(Context& ctx, Args& args) {
  const Entry* const entry = ctx.keyspace.Peek(ctx.KeyAt(args, 1), ctx.now);
  if (entry == nullptr) return ctx.reply.Set(0);
  const std::vector<std::string_view> names = ctx.keyspace.tags().ShownNamesOf(*entry);
  ctx.reply.Set(names.size());
  for (const std::string_view name : names) ctx.reply.Bulk(name);
}

constexpr Command kRows[] = {
    {.name = "invalidate",
     .arity = -2,
     .flags = kWrite,
     .acl = kAclKeyspace | kAclDangerous,
     .handler = Invalidate,
     .since = "0.1.0",
     .complexity =
         "O(N) where N is the number of tags; the memory of the keys is freed afterwards, in slices",
     .summary = "Drops all keys of the selected database that have one of the tags, and answers how many.",
     .syntax = "tag [tag ...]",
     .notes =
         "A command of Mayfly. Of more than 512 keys, one that has several of the tags may count several "
         "times. A user may drop keys that its key patterns do not allow."},
    {.name = "tag",
     .arity = -3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyUpdate},
     .acl = kAclKeyspace,
     .handler = TagCommand,
     .since = "0.1.0",
     .complexity = "O(N) where N is the number of tags",
     .summary =
         "Gives a key of any type further tags, and answers how many are new; null if there is no key.",
     .syntax = "key tag [tag ...]",
     .notes = "A command of Mayfly."},
    {.name = "taginfo",
     .arity = 2,
     .flags = kReadOnly | kFast,
     .acl = kAclKeyspace,
     .handler = TagInfo,
     .since = "0.1.0",
     .complexity = "O(1)",
     .summary = "Tells how many keys have a tag, and what the tag costs; null if nobody has it.",
     .syntax = "tag",
     .notes = "A command of Mayfly."},
    {.name = "tags",
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = {1, 1, 1, kKeyRO},
     .acl = kAclKeyspace,
     .handler = TagsCommand,
     .since = "0.1.0",
     .complexity = "O(N) where N is the number of tags",
     .summary = "Tells the tags of a key.",
     .syntax = "key",
     .tips = "nondeterministic_output_order",
     .notes = "A command of Mayfly."},
};
const CommandFamily kFamily("generic", kRows);

}  // namespace
}  // namespace mayfly::tag_commands
