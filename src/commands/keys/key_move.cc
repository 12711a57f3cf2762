// RENAME, COPY, MOVE and kin: rename, copy or move a key with value and expiry. The new key has the same value and
// expiry, and its deadline stays on the same clock.
#include "cache/keyspace/databases.h"
#include "exec/arguments/database_index.h"
#include "exec/dispatch/context.h"
#include "snapshot/snapshots.h"

namespace mayfly::key_move_commands {
namespace {

enum class IfTaken : uint8_t { kReplace, kRefuse };

// Returns false after an error reply. Sets `renamed` to false if the new name is taken and must not be replaced.
bool RenameKey(Context& ctx, Args& args, IfTaken if_taken, bool& renamed) {
  const Key key = ctx.KeyAt(args, 1);
  Entry* entry = ctx.keyspace.Find(key, ctx.now);
  if (entry == nullptr) return ctx.Fail(errors::kNoSuchKey), false;
  if (args[1] == args[2]) {
    renamed = if_taken == IfTaken::kReplace;
    return true;
  }
  const Key new_key = ctx.keyspace.KeyOf(args[2]);
  Entry* taken = ctx.keyspace.Find(new_key, ctx.now);
  renamed = taken == nullptr || if_taken == IfTaken::kReplace;
  if (renamed) ctx.keyspace.Move(key, *entry, ctx.keyspace, new_key, taken, ctx.now);
  return true;
}

void Rename(Context& ctx, Args& args) {
  bool renamed = false;
  if (RenameKey(ctx, args, IfTaken::kReplace, renamed)) ctx.reply.Ok();
}

void RenameNx(Context& ctx, Args& args) {
  bool renamed = false;
  if (RenameKey(ctx, args, IfTaken::kRefuse, renamed)) ctx.reply.Integer(renamed ? 1 : 0);
}

void Move(Context& ctx, Args& args) {
  if (ctx.server.cluster != nullptr) return ctx.Fail("ERR MOVE is not allowed in cluster mode");
  const std::optional<unsigned> index = ReadDatabaseIndex(ctx, args[2]);
  if (!index) return;
  if (*index == ctx.session.db) return ctx.Fail(errors::kSameObject);
  const Key key = ctx.KeyAt(args, 1);
  Entry* entry = ctx.keyspace.Find(key, ctx.now);
  if (entry == nullptr) {
    Snapshots::NoteGone(ctx.server, ctx.keyspace, key.text);
    return ctx.reply.Integer(0);
  }
  Keyspace& to = ctx.server.databases.At(*index);
  const Key same_key = to.KeyOf(args[1]);
  if (to.Find(same_key, ctx.now) != nullptr) return ctx.reply.Integer(0);
  ctx.keyspace.Move(key, *entry, to, same_key, nullptr, ctx.now);
  ctx.reply.Integer(1);
}

struct CopyOptions {
  unsigned db = 0;
  bool replace = false;
};

// Returns false after an error reply.
bool ReadCopyOptions(Context& ctx, Args& args, CopyOptions& options) {
  while (!args.Done()) {
    if (args.Accept("REPLACE")) {
      options.replace = true;
    } else if (args.Accept("DB", 1)) {
      const std::optional<unsigned> index = ReadDatabaseIndex(ctx, args.Next());
      if (!index) return false;
      options.db = *index;
    } else {
      return ctx.Fail(errors::kSyntax), false;
    }
  }
  return true;
}

void Copy(Context& ctx, Args& args) {
  CopyOptions options{.db = ctx.session.db};
  args.Skip(2);
  if (!ReadCopyOptions(ctx, args, options)) return;
  if (ctx.server.cluster != nullptr && options.db != 0)
    return ctx.Fail("ERR Copying to another database is not allowed in cluster mode");
  if (options.db == ctx.session.db && args[1] == args[2]) return ctx.Fail(errors::kSameObject);
  const Entry* source = ctx.Read(ctx.KeyAt(args, 1));
  if (source == nullptr) return ctx.reply.Integer(0);
  Keyspace& to = ctx.server.databases.At(options.db);
  const Key key = to.KeyOf(args[2]);
  Entry* taken = to.Find(key, ctx.now);
  if (taken != nullptr && !options.replace) return ctx.reply.Integer(0);
  to.PutCopy(key, taken, *source, ctx.now);
  ctx.reply.Integer(1);
}

constexpr KeySpec kGoesAway = {1, 1, 1, kKeyRW | kKeyAccess | kKeyDelete};

constexpr Command kRows[] = {
    {.name = "rename",
     .arity = 3,
     .flags = kWrite,
     .keys = kGoesAway,
     .more_keys = {2, 2, 1, kKeyOW | kKeyUpdate},
     .acl = kAclKeyspace,
     .handler = Rename,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Renames a key; a key that had the new name is replaced.",
     .syntax = "key newkey"},
    {.name = "renamenx",
     .arity = 3,
     .flags = kWrite | kFast,
     .keys = kGoesAway,
     .more_keys = {2, 2, 1, kKeyOW | kKeyInsert},
     .acl = kAclKeyspace,
     .handler = RenameNx,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Renames a key, unless the new name is taken.",
     .syntax = "key newkey",
     .notes = "Since 3.2.0 it answers 0 if both names are the same."},
    {.name = "move",
     .arity = 3,
     .flags = kWrite | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyAccess | kKeyUpdate},
     .acl = kAclKeyspace,
     .handler = Move,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Moves a key to another database, unless there is one of its name.",
     .syntax = "key db"},
    {.name = "copy",
     .arity = -3,
     .flags = kWrite | kDenyOom,
     .keys = {1, 1, 1, kKeyRO | kKeyAccess},
     .more_keys = {2, 2, 1, kKeyOW | kKeyUpdate},
     .acl = kAclKeyspace,
     .handler = Copy,
     .since = "6.2.0",
     .complexity = "O(1); a long value is shared, not copied",
     .summary = "Copies value and expiry of a key to another name or database.",
     .syntax = "source destination [DB destination-db] [REPLACE]"},
};
const CommandFamily kFamily("generic", kRows);

}  // namespace
}  // namespace mayfly::key_move_commands
