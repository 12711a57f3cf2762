// LPUSH, LRANGE, LPOS and kin: add to the ends of lists, and read lists. list_edit.cc changes elements between the ends,
// list_pop.cc takes elements away, and list_move.cc moves elements to other lists.
#include <algorithm>

#include "exec/arguments/index_range.h"
#include "exec/values/list_access.h"

namespace mayfly::list_commands {
namespace {

enum class IfAbsent : uint8_t { kCreate, kNothing };

template <ListEnd kEnd, IfAbsent kIfAbsent>
void Push(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  TypedList list;
  if (!ctx.FindTyped(key, list)) return;
  if (kIfAbsent == IfAbsent::kNothing && list.entry == nullptr) return ctx.reply.Integer(0);
  const size_t size = PushTexts(ctx, key, list, kEnd, args.all().subspan(2));
  ctx.reply.Integer(static_cast<int64_t>(size));
}

void LLen(Context& ctx, Args& args) {
  TypedList list;
  if (!ctx.ReadTyped(ctx.KeyAt(args, 1), list)) return;
  ctx.reply.Integer(list.value != nullptr ? static_cast<int64_t>(list.value->Size()) : 0);
}

void LRange(Context& ctx, Args& args) {
  const std::optional<int64_t> start = ParseInteger(args[2]);
  const std::optional<int64_t> stop = ParseInteger(args[3]);
  if (!start || !stop) return ctx.Fail(errors::kNotInteger);
  TypedList list;
  if (!ctx.ReadTyped(ctx.KeyAt(args, 1), list)) return;
  const auto range = list.value != nullptr ? ClipMembers(*start, *stop, list.value->Size()) : std::nullopt;
  if (!range) return ctx.reply.EmptyArray();
  ctx.reply.Array(range->size());
  ReplyItems(ctx, *list.value, range->first, range->size(), ListEnd::kHead);
}

void LIndex(Context& ctx, Args& args) {
  TypedList list;
  if (!ctx.ReadTyped(ctx.KeyAt(args, 1), list)) return;
  if (list.value == nullptr) return ctx.reply.Null();
  const std::optional<int64_t> index = ParseInteger(args[2]);
  if (!index) return ctx.Fail(errors::kNotInteger);
  const auto size = static_cast<int64_t>(list.value->Size());
  const int64_t at = *index < 0 ? size + *index : *index;
  if (at < 0 || at >= size) return ctx.reply.Null();
  ReplyItem(ctx, list.value->At(static_cast<uint64_t>(at)));
}

struct PositionOptions {
  ListEnd from = ListEnd::kHead;
  uint64_t rank = 1;
  std::optional<uint64_t> count;  // 0: all
  uint64_t most_compared = 0;     // 0: all
};

// Returns false after an error reply.
bool ReadPositionOptions(Context& ctx, Args& args, PositionOptions& options) {
  const auto natural = [&](std::string_view error) -> std::optional<uint64_t> {
    const std::optional<int64_t> number = args.NextInteger();
    if (!number || *number < 0) return ctx.Fail(error), std::nullopt;
    return static_cast<uint64_t>(*number);
  };
  while (!args.Done()) {
    if (args.Accept("RANK", 1)) {
      const std::optional<int64_t> rank = args.NextInteger();
      if (!rank) return ctx.Fail(errors::kNotInteger), false;
      if (*rank == 0)
        return ctx.Fail(
                   "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or "
                   "use negative to start from the end of the list"),
               false;
      options.from = *rank < 0 ? ListEnd::kTail : ListEnd::kHead;
      // Redis 7.0 treats the smallest number as -1.
      options.rank = *rank == INT64_MIN ? 1 : static_cast<uint64_t>(*rank < 0 ? -*rank : *rank);
    } else if (args.Accept("COUNT", 1)) {
      options.count = natural("ERR COUNT can't be negative");
      if (!options.count) return false;
    } else if (args.Accept("MAXLEN", 1)) {
      const std::optional<uint64_t> most = natural("ERR MAXLEN can't be negative");
      if (!most) return false;
      options.most_compared = *most;
    } else {
      return ctx.Fail(errors::kSyntax), false;
    }
  }
  return true;
}

// Calls found(index) for each match from the wanted rank on, until found returns false.
template <typename Found>
void FindPositions(const ListValue& list, const PackItem& item, const PositionOptions& options,
                   Found&& found) {
  const bool head = options.from == ListEnd::kHead;
  const uint64_t size = list.Size();
  const uint64_t most = options.most_compared == 0 ? size : std::min(size, options.most_compared);
  ListWalk walk(list, head ? 0 : size - 1, options.from);
  uint64_t before = options.rank - 1;  // matches to pass
  for (uint64_t i = 0; i < most; ++i, walk.Next()) {
    if (!walk.Is(item)) continue;
    if (before != 0) {
      --before;
    } else if (!found(head ? i : size - 1 - i)) {
      return;
    }
  }
}

void LPos(Context& ctx, Args& args) {
  PositionOptions options;
  args.Skip(2);
  if (!ReadPositionOptions(ctx, args, options)) return;
  TypedList list;
  if (!ctx.ReadTyped(ctx.KeyAt(args, 1), list)) return;
  const PackItem item = PackItem::Of(args[2]);
  if (!options.count) {
    std::optional<uint64_t> position;
    if (list.value != nullptr)
      FindPositions(*list.value, item, options, [&](uint64_t index) { return position = index, false; });
    return position ? ctx.reply.Integer(static_cast<int64_t>(*position)) : ctx.reply.Null();
  }
  if (list.value == nullptr) return ctx.reply.EmptyArray();
  resp::Deferred header = ctx.reply.Defer();
  uint64_t count = 0;
  FindPositions(*list.value, item, options, [&](uint64_t index) {
    ctx.reply.Integer(static_cast<int64_t>(index));
    return ++count != *options.count;
  });
  header.Array(count);
}

constexpr KeySpec kAdds = {1, 1, 1, kKeyRW | kKeyInsert};
constexpr KeySpec kReads = {1, 1, 1, kKeyRO | kKeyAccess};

constexpr Command kRows[] = {
    {.name = "lpush",
     .arity = -3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kAdds,
     .acl = kAclList,
     .handler = Push<ListEnd::kHead, IfAbsent::kCreate>,
     .since = "1.0.0",
     .complexity = "O(1) for each element",
     .summary = "Adds elements one after another to the head of a list; creates the key if it is absent.",
     .syntax = "key element [element ...]"},
    {.name = "rpush",
     .arity = -3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kAdds,
     .acl = kAclList,
     .handler = Push<ListEnd::kTail, IfAbsent::kCreate>,
     .since = "1.0.0",
     .complexity = "O(1) for each element",
     .summary = "Adds elements one after another to the tail of a list; creates the key if it is absent.",
     .syntax = "key element [element ...]"},
    {.name = "lpushx",
     .arity = -3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kAdds,
     .acl = kAclList,
     .handler = Push<ListEnd::kHead, IfAbsent::kNothing>,
     .since = "2.2.0",
     .complexity = "O(1) for each element",
     .summary = "Adds elements to the head of a list if the list exists.",
     .syntax = "key element [element ...]"},
    {.name = "rpushx",
     .arity = -3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kAdds,
     .acl = kAclList,
     .handler = Push<ListEnd::kTail, IfAbsent::kNothing>,
     .since = "2.2.0",
     .complexity = "O(1) for each element",
     .summary = "Adds elements to the tail of a list if the list exists.",
     .syntax = "key element [element ...]"},
    {.name = "llen",
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = {1, 1, 1, kKeyRO},
     .acl = kAclList,
     .handler = LLen,
     .since = "1.0.0",
     .complexity = "O(1)",
     .summary = "Returns the number of elements of a list.",
     .syntax = "key"},
    {.name = "lrange",
     .arity = 4,
     .flags = kReadOnly,
     .keys = kReads,
     .acl = kAclList,
     .handler = LRange,
     .since = "1.0.0",
     .complexity =
         "O(S+N) where S is the distance from the nearer end, in nodes, and N the number of elements",
     .summary = "Returns the elements of a part of a list.",
     .syntax = "key start stop"},
    {.name = "lindex",
     .arity = 3,
     .flags = kReadOnly,
     .keys = kReads,
     .acl = kAclList,
     .handler = LIndex,
     .since = "1.0.0",
     .complexity = "O(N) where N is the distance from the nearer end, in nodes; O(1) at the ends",
     .summary = "Returns the element with this index; a negative index counts from the tail.",
     .syntax = "key index"},
    {.name = "lpos",
     .arity = -3,
     .flags = kReadOnly,
     .keys = kReads,
     .acl = kAclList,
     .handler = LPos,
     .since = "6.0.6",
     .complexity = "O(N) where N is the number of elements that are compared",
     .summary = "Returns the indices of elements that are equal to a value.",
     .syntax = "key element [RANK rank] [COUNT num-matches] [MAXLEN len]"},
};
const CommandFamily kFamily("list", kRows);

}  // namespace
}  // namespace mayfly::list_commands
