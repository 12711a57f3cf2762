// SUNION, SINTER, SDIFF and kin: union, intersection and difference of sets.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "exec/arguments/set_limits.h"
#include "exec/dispatch/context.h"
#include "exec/values/timed_access.h"

namespace mayfly::set_operations_commands {
namespace {

constexpr Event kSUnionStore{"sunionstore"};
constexpr Event kSInterStore{"sinterstore"};
constexpr Event kSDiffStore{"sdiffstore"};

using Sets = std::vector<const SetValue*>;

// Reads the sets of the keys from argument `first` to before `end`; null for an absent key. Returns false, after an error
// reply, if a key holds another type. Looking up removes only due keys and members, so the values stay.
bool ReadSets(Context& ctx, const Args& args, size_t first, size_t end, Sets& sets) {
  sets.reserve(end - first);
  for (size_t i = first; i < end; ++i) {
    Typed<SetValue> found;
    if (!ReadLive(ctx, ctx.KeyAt(args, i), found)) return false;
    sets.push_back(found.value);
  }
  return true;
}

// ---- each function calls show(member) for the members of the result, until show returns false

// Walks in pages, to allow an early end.
template <typename Fn>
void ForEachWhile(const SetValue& set, Fn&& fn) {
  bool more = true;
  uint64_t cursor = 0;
  do {
    cursor = set.Scan(cursor, [&](std::string_view member) { more = more && fn(member); });
  } while (more && cursor != 0);
}

template <typename Show>
void Intersect(Sets& sets, Show&& show) {
  if (std::find(sets.begin(), sets.end(), nullptr) != sets.end()) return;
  std::sort(sets.begin(), sets.end(),
            [](const SetValue* a, const SetValue* b) { return a->Live() < b->Live(); });
  ForEachWhile(*sets[0], [&](std::string_view member) {
    for (size_t i = 1; i < sets.size(); ++i) {
      if (sets[i] != sets[0] && !sets[i]->Contains(member)) return true;
    }
    return show(member);
  });
}

template <typename Show>
void Subtract(const Sets& sets, Show&& show) {
  if (sets[0] == nullptr) return;
  ForEachWhile(*sets[0], [&](std::string_view member) {
    for (size_t i = 1; i < sets.size(); ++i) {
      if (sets[i] != nullptr && sets[i]->Contains(member)) return true;
    }
    return show(member);
  });
}

// The members of all sets, in a new set.
std::unique_ptr<SetValue> Unite(Context& ctx, const Sets& sets) {
  const SetLimits limits = SetLimitsOf(ctx);
  const MemberHome home = ctx.keyspace.home();
  auto all = std::make_unique<SetValue>();
  for (const SetValue* set : sets) {
    if (set == nullptr) continue;
    set->ForEach([&](std::string_view member) { all->Add(member, limits, home); });
  }
  return all;
}

// The result of the operation, as a new set.
template <typename Operation>
std::unique_ptr<SetValue> Collect(Context& ctx, Operation&& operation) {
  const SetLimits limits = SetLimitsOf(ctx);
  const MemberHome home = ctx.keyspace.home();
  auto result = std::make_unique<SetValue>();
  operation([&](std::string_view member) { return result->Add(member, limits, home), true; });
  return result;
}

template <typename Operation>
void Show(Context& ctx, Operation&& operation) {
  size_t count = 0;
  resp::Deferred header = ctx.reply.Defer();
  operation([&](std::string_view member) {
    ++count;
    ctx.reply.Bulk(member);
    return true;
  });
  header.Set(count);
}

void Store(Context& ctx, const Args& args, std::unique_ptr<SetValue> result, const Event& event) {
  const Key key = ctx.KeyAt(args, 1);
  const auto size = static_cast<int64_t>(result->Size());
  if (size == 0) {
    ctx.keyspace.Delete(key, ctx.now);
  } else {
    ctx.keyspace.PutRich(key, ctx.keyspace.Peek(key, ctx.now), std::move(result), Expiry::Never(), ctx.now,
                         event);
  }
  ctx.reply.Integer(size);
}

void SUnion(Context& ctx, Args& args) {
  Sets sets;
  if (!ReadSets(ctx, args, 1, args.size(), sets)) return;
  std::unique_ptr<SetValue> made;
  const SetValue* all = sets[0];
  if (sets.size() > 1) {
    made = Unite(ctx, sets);
    all = made.get();
  }
  if (all == nullptr) return ctx.reply.Set(0);
  ctx.reply.Set(all->Live());
  all->ForEach([&](std::string_view member) { ctx.reply.Bulk(member); });
}

void SInter(Context& ctx, Args& args) {
  Sets sets;
  if (!ReadSets(ctx, args, 1, args.size(), sets)) return;
  Show(ctx, [&](auto&& show) { Intersect(sets, show); });
}

void SDiff(Context& ctx, Args& args) {
  Sets sets;
  if (!ReadSets(ctx, args, 1, args.size(), sets)) return;
  Show(ctx, [&](auto&& show) { Subtract(sets, show); });
}

void SUnionStore(Context& ctx, Args& args) {
  Sets sets;
  if (!ReadSets(ctx, args, 2, args.size(), sets)) return;
  Store(ctx, args, Unite(ctx, sets), kSUnionStore);
}

void SInterStore(Context& ctx, Args& args) {
  Sets sets;
  if (!ReadSets(ctx, args, 2, args.size(), sets)) return;
  Store(ctx, args, Collect(ctx, [&](auto&& show) { Intersect(sets, show); }), kSInterStore);
}

void SDiffStore(Context& ctx, Args& args) {
  Sets sets;
  if (!ReadSets(ctx, args, 2, args.size(), sets)) return;
  Store(ctx, args, Collect(ctx, [&](auto&& show) { Subtract(sets, show); }), kSDiffStore);
}

void SInterCard(Context& ctx, Args& args) {
  constexpr size_t kFirstKey = 2;
  const std::optional<int64_t> keys = args.NextInteger();
  if (!keys || *keys < 1) return ctx.Fail("ERR numkeys should be greater than 0");
  if (static_cast<uint64_t>(*keys) > args.Left())
    return ctx.Fail("ERR Number of keys can't be greater than number of args");
  args.Skip(static_cast<size_t>(*keys));
  int64_t limit = 0;
  while (!args.Done()) {
    if (!args.Accept("LIMIT", 1)) return ctx.Fail(errors::kSyntax);
    const std::optional<int64_t> number = args.NextInteger();
    if (!number || *number < 0) return ctx.Fail("ERR LIMIT can't be negative");
    limit = *number;
  }
  Sets sets;
  if (!ReadSets(ctx, args, kFirstKey, kFirstKey + static_cast<size_t>(*keys), sets)) return;
  int64_t count = 0;
  Intersect(sets, [&](std::string_view) { return ++count != limit; });
  ctx.reply.Integer(count);
}

constexpr KeySpec kAllRead = {1, -1, 1, kKeyRO | kKeyAccess};
constexpr KeySpec kSourcesRead = {2, -1, 1, kKeyRO | kKeyAccess};
constexpr std::string_view kOfAll = "O(N) where N is the number of members of all sets";
constexpr std::string_view kOfSmallest =
    "O(N*M) where N is the number of members of the smallest set and M the number of sets";

constexpr Command kRows[] = {
    {.name = "sunion",
     .arity = -2,
     .flags = kReadOnly,
     .keys = kAllRead,
     .acl = kAclSet,
     .handler = SUnion,
     .since = "1.0.0",
     .complexity = kOfAll,
     .summary = "Answers with the members that are in any of several sets.",
     .syntax = "key [key ...]",
     .tips = "nondeterministic_output_order"},
    {.name = "sinter",
     .arity = -2,
     .flags = kReadOnly,
     .keys = kAllRead,
     .acl = kAclSet,
     .handler = SInter,
     .since = "1.0.0",
     .complexity = kOfSmallest,
     .summary = "Answers with the members that are in all of several sets.",
     .syntax = "key [key ...]",
     .tips = "nondeterministic_output_order"},
    {.name = "sdiff",
     .arity = -2,
     .flags = kReadOnly,
     .keys = kAllRead,
     .acl = kAclSet,
     .handler = SDiff,
     .since = "1.0.0",
     .complexity = "O(N*M) where N is the number of members of the first set and M the number of sets",
     .summary = "Answers with the members of a set that are in none of the other sets.",
     .syntax = "key [key ...]",
     .tips = "nondeterministic_output_order"},
    {.name = "sunionstore",
     .arity = -3,
     .flags = kWrite | kDenyOom,
     .keys = {1, 1, 1, kKeyOW | kKeyUpdate},
     .more_keys = kSourcesRead,
     .acl = kAclSet,
     .handler = SUnionStore,
     .since = "1.0.0",
     .complexity = kOfAll,
     .summary = "Stores the members that are in any of several sets.",
     .syntax = "destination key [key ...]"},
    {.name = "sinterstore",
     .arity = -3,
     .flags = kWrite | kDenyOom,
     .keys = {1, 1, 1, kKeyRW | kKeyUpdate},
     .more_keys = kSourcesRead,
     .acl = kAclSet,
     .handler = SInterStore,
     .since = "1.0.0",
     .complexity = kOfSmallest,
     .summary = "Stores the members that are in all of several sets.",
     .syntax = "destination key [key ...]"},
    {.name = "sdiffstore",
     .arity = -3,
     .flags = kWrite | kDenyOom,
     .keys = {1, 1, 1, kKeyOW | kKeyUpdate},
     .more_keys = kSourcesRead,
     .acl = kAclSet,
     .handler = SDiffStore,
     .since = "1.0.0",
     .complexity = "O(N*M) where N is the number of members of the first set and M the number of sets",
     .summary = "Stores the members of a set that are in none of the other sets.",
     .syntax = "destination key [key ...]"},
    {.name = "sintercard",
     .arity = -3,
     .flags = kReadOnly | kMovableKeys,
     .keys = {.first = 2, .step = 1, .use = kKeyRO | kKeyAccess, .count_at = 1},
     .acl = kAclSet,
     .handler = SInterCard,
     .since = "7.0.0",
     .complexity = kOfSmallest,
     .summary = "Counts the members that are in all of several sets, up to a limit.",
     .syntax = "numkeys key [key ...] [LIMIT limit]"},
};
const CommandFamily kFamily("set", kRows);

}  // namespace
}  // namespace mayfly::set_operations_commands
