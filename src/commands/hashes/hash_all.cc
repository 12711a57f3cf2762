// HGETALL, HKEYS, HVALS, HRANDFIELD, HSCAN: fields of hashes without naming the fields.
#include <algorithm>

#include "exec/arguments/random_pick.h"
#include "exec/arguments/scan_options.h"
#include "exec/values/hash_access.h"

namespace mayfly::hash_all_commands {
namespace {

void HGetAll(Context& ctx, Args& args) {
  HashValue* hash = nullptr;
  if (!ReadHash(ctx, ctx.KeyAt(args, 1), hash)) return;
  ctx.reply.Map(hash != nullptr ? hash->Live() : 0);
  if (hash == nullptr) return;
  hash->ForEach([&](std::string_view name, std::string_view value) {
    ctx.reply.Bulk(name);
    ctx.reply.Bulk(value);
  });
}

template <typename Choose>
void ReplyOnePart(Context& ctx, const Args& args, Choose&& choose) {
  HashValue* hash = nullptr;
  if (!ReadHash(ctx, ctx.KeyAt(args, 1), hash)) return;
  ctx.reply.Array(hash != nullptr ? hash->Live() : 0);
  if (hash == nullptr) return;
  hash->ForEach([&](std::string_view name, std::string_view value) { ctx.reply.Bulk(choose(name, value)); });
}

void HKeys(Context& ctx, Args& args) {
  ReplyOnePart(ctx, args, [](std::string_view name, std::string_view) { return name; });
}
void HVals(Context& ctx, Args& args) {
  ReplyOnePart(ctx, args, [](std::string_view, std::string_view value) { return value; });
}

// ---- HRANDFIELD

class FieldWriter {
 public:
  FieldWriter(resp::Writer& reply, const Pick& pick) noexcept
      : reply_(reply), pairs_(pick.pairs), nested_(pick.pairs && reply.version() == 3) {}
  void Start(uint64_t fields) { reply_.Array(pairs_ && !nested_ ? 2 * fields : fields); }
  void operator()(std::string_view name, std::string_view value) {
    if (nested_) reply_.Array(2);
    reply_.Bulk(name);
    if (pairs_) reply_.Bulk(value);
  }

 private:
  resp::Writer& reply_;
  bool pairs_;
  bool nested_;
};

void ReplyDifferent(Context& ctx, const HashValue& hash, const Pick& pick, FieldWriter& write) {
  const size_t live = hash.Live();
  const uint64_t count = std::min<uint64_t>(pick.count, live);
  write.Start(count);
  if (hash.large() && DrawsFew(count, live)) {
    std::string_view name;
    std::string_view value;
    const auto draw = [&] {
      return hash.Random(ctx.server.random, [&](std::string_view its_name, std::string_view its_value) {
        name = its_name;
        value = its_value;
      });
    };
    return DrawDifferent(count, draw, [&](const void*) { write(name, value); });
  }
  PickOnWalk walk(count, live);
  hash.ForEach([&](std::string_view name, std::string_view value) {
    if (walk.Next(ctx.server.random)) write(name, value);
  });
}

void HRandField(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  args.Skip(1);
  const bool one = args.Done();
  Pick pick;
  if (!one && !ReadPick(ctx, args, "WITHVALUES", pick)) return;
  HashValue* hash = nullptr;
  if (!ReadHash(ctx, key, hash)) return;
  FieldWriter write(ctx.reply, pick);
  if (hash == nullptr) return one ? ctx.reply.Null() : ctx.reply.EmptyArray();
  if (one) {
    hash->Random(ctx.server.random, write);
    return;
  }
  if (!pick.repeats) return ReplyDifferent(ctx, *hash, pick, write);
  RequireRoomFor(ctx, pick);
  write.Start(pick.count);
  hash->Draw(ctx.server.random, pick.count, write);
}

// ---- HSCAN

void HScan(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  args.Skip(1);
  const std::optional<uint64_t> start = ParseCursor(args.Next());
  if (!start) return ctx.Fail("ERR invalid cursor");
  HashValue* hash = nullptr;
  if (!ReadHash(ctx, key, hash)) return;
  if (hash == nullptr) return ReplyNoPage(ctx);
  ScanOptions options;
  if (!ReadScanOptions(ctx, args, options)) return;

  // The cursor stands before the fields in the reply, but is known only after them: the first walk only counts.
  size_t matches = 0;
  const ScannedPages scanned = ScanPages(*start, options, [&](uint64_t cursor, uint64_t& seen) {
    return hash->Scan(cursor, [&](std::string_view name, std::string_view) {
      ++seen;
      matches += options.Matches(name) ? 1 : 0;
    });
  });

  ctx.reply.Array(2);
  ctx.reply.BulkInteger(static_cast<int64_t>(scanned.next));
  ctx.reply.Array(options.no_values ? matches : 2 * matches);
  uint64_t cursor = *start;
  for (uint64_t pages = scanned.pages; pages != 0; --pages) {
    cursor = hash->Scan(cursor, [&](std::string_view name, std::string_view value) {
      if (!options.Matches(name)) return;
      ctx.reply.Bulk(name);
      if (!options.no_values) ctx.reply.Bulk(value);
    });
  }
}

constexpr KeySpec kRead = {1, 1, 1, kKeyRO | kKeyAccess};
constexpr std::string_view kOrderTip = "nondeterministic_output_order";
constexpr std::string_view kAllFields = "O(N) where N is the number of fields";

constexpr Command kRows[] = {
    {.name = "hgetall",
     .arity = 2,
     .flags = kReadOnly,
     .keys = kRead,
     .acl = kAclHash,
     .handler = HGetAll,
     .since = "2.0.0",
     .complexity = kAllFields,
     .summary = "Answers with all fields of a hash and their values.",
     .syntax = "key",
     .tips = kOrderTip},
    {.name = "hkeys",
     .arity = 2,
     .flags = kReadOnly,
     .keys = kRead,
     .acl = kAclHash,
     .handler = HKeys,
     .since = "2.0.0",
     .complexity = kAllFields,
     .summary = "Answers with the names of all fields of a hash.",
     .syntax = "key",
     .tips = kOrderTip},
    {.name = "hvals",
     .arity = 2,
     .flags = kReadOnly,
     .keys = kRead,
     .acl = kAclHash,
     .handler = HVals,
     .since = "2.0.0",
     .complexity = kAllFields,
     .summary = "Answers with the values of all fields of a hash.",
     .syntax = "key",
     .tips = kOrderTip},
    {.name = "hrandfield",
     .arity = -2,
     .flags = kReadOnly,
     .keys = kRead,
     .acl = kAclHash,
     .handler = HRandField,
     .since = "6.2.0",
     .complexity = "O(N) where N is the number of fields in the reply",
     .summary = "Answers with random fields of a hash.",
     .syntax = "key [count [WITHVALUES]]",
     .argument_notes = "count_withvalues=options",
     .tips = "nondeterministic_output"},
    {.name = "hscan",
     .arity = -3,
     .flags = kReadOnly,
     .keys = kRead,
     .acl = kAclHash,
     .handler = HScan,
     .since = "2.8.0",
     .complexity = "O(COUNT) for a call, O(N) for a whole iteration, N being the number of fields",
     .summary = "Shows the fields of a hash, a page at a time.",
     .syntax = "key cursor [MATCH pattern] [COUNT count] [NOVALUES]",
     .tips = "nondeterministic_output"},
};
const CommandFamily kFamily("hash", kRows);

}  // namespace
}  // namespace mayfly::hash_all_commands
