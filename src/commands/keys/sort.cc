// SORT and SORT_RO: elements of a list, set or sorted set in order, or values found by patterns.
#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "base/bits/key_slot.h"
#include "exec/acl/permission.h"
#include "exec/call/value_type.h"
#include "exec/dispatch/executor.h"
#include "exec/values/element_pattern.h"
#include "exec/values/list_access.h"
#include "exec/values/sort_elements.h"
#include "exec/values/timed_access.h"

namespace mayfly::sort_commands {
namespace {

// BY and GET read keys that no permission names: they need the permission for all keys.
bool MayReadAnyKey(Context& ctx, const Args& args) {
  const User* const user = ctx.session.user();
  return !ctx.session.restricted() || MayUseAnyKey(*user, ctx.row, args.all(), kKeyAccess);
}

// Returns true if every key made from the pattern has the slot of `key`: the pattern has a hash tag with that slot, and the
// star stands after the tag.
bool StaysInSlotOf(std::string_view pattern, std::string_view key) noexcept {
  const std::string_view tag = HashTagOf(pattern);
  if (tag.size() == pattern.size()) return false;
  const auto end = static_cast<size_t>(tag.data() - pattern.data()) + tag.size();
  return pattern.find('*') >= end && SlotOf(pattern) == SlotOf(key);
}

struct SortOptions {
  bool descending = false;
  bool by_text = false;
  bool as_it_is = false;  // BY a pattern without a star: no sorting
  std::optional<ElementPattern> by;
  std::vector<ElementPattern> get;
  int64_t offset = 0;
  int64_t count = -1;
  std::optional<std::string_view> store;
};

// Returns false after an error reply.
bool ReadLimit(Context& ctx, Args& args, SortOptions& options) {
  const std::optional<int64_t> offset = args.NextInteger();
  const std::optional<int64_t> count = args.NextInteger();
  if (!offset || !count) return ctx.Fail(errors::kNotInteger), false;
  options.offset = *offset;
  options.count = *count;
  return true;
}

// Returns false after an error reply.
bool ReadSortOptions(Context& ctx, Args& args, bool may_store, SortOptions& options) {
  const std::string_view sorted_key = args[1];
  // The keys of a pattern may belong to another node.
  const bool clustered = (ctx.server.modes & BitOf(Mode::kClustered)) != 0;
  while (!args.Done()) {
    if (args.Accept("ASC")) {
      options.descending = false;
    } else if (args.Accept("DESC")) {
      options.descending = true;
    } else if (args.Accept("ALPHA")) {
      options.by_text = true;
    } else if (args.Accept("LIMIT", 2)) {
      if (!ReadLimit(ctx, args, options)) return false;
    } else if (may_store && args.Accept("STORE", 1)) {
      options.store = args.Next();
    } else if (args.Accept("BY", 1)) {
      const std::string_view text = args.Next();
      const ElementPattern pattern(text);
      if (pattern.has_star() && clustered && !StaysInSlotOf(text, sorted_key))
        return ctx.Fail(
                   "ERR BY option of SORT denied in Cluster mode when keys formed by the pattern may be in "
                   "different slots."),
               false;
      if (pattern.has_star() && !MayReadAnyKey(ctx, args))
        return ctx.Fail("ERR BY option of SORT denied due to insufficient ACL permissions."), false;
      // After a BY without a star, a later BY does not turn sorting on again.
      options.as_it_is = options.as_it_is || !pattern.has_star();
      options.by = pattern;
    } else if (args.Accept("GET", 1)) {
      const std::string_view text = args.Next();
      if (clustered && text != "#" && !StaysInSlotOf(text, sorted_key))
        return ctx.Fail(
                   "ERR GET option of SORT denied in Cluster mode when keys formed by the pattern may be in "
                   "different slots."),
               false;
      if (!MayReadAnyKey(ctx, args))
        return ctx.Fail("ERR GET option of SORT denied due to insufficient ACL permissions."), false;
      options.get.emplace_back(text);
    } else {
      return ctx.Fail(errors::kSyntax), false;
    }
  }
  return true;
}

// The elements of the answer, in their order: `count` elements from `first` on.
struct Sorted {
  SortElements elements;
  size_t first = 0;
  size_t count = 0;
};

// Applies LIMIT to `size` elements.
void ApplyLimit(const SortOptions& options, size_t size, Sorted& sorted) {
  const auto clip = [&](int64_t number) {
    return static_cast<size_t>(std::clamp<int64_t>(number, 0, static_cast<int64_t>(size)));
  };
  sorted.first = clip(options.offset);
  const size_t left = size - sorted.first;
  sorted.count = options.count < 0 ? left : std::min(clip(options.count), left);
}

// Takes elements in stored order, or from the other end. Reads only the elements of the answer.
void TakeAsTheyAre(const ListValue& list, const SortOptions& options, Sorted& sorted) {
  ApplyLimit(options, list.Size(), sorted);
  if (sorted.count == 0) return;
  const size_t first = options.descending ? list.Size() - 1 - sorted.first : sorted.first;
  sorted.elements.LoadRange(list, first, sorted.count, options.descending ? ListEnd::kTail : ListEnd::kHead);
  sorted.first = 0;
}

// Returns false if an element has no number.
bool Weigh(Context& ctx, SortOptions& options, SortElements& elements) {
  std::string text;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!options.by) {
      if (!elements.WeighByOwnNumber(i)) return false;
      continue;
    }
    const std::optional<std::string_view> found = options.by->Find(ctx, elements[i]);
    if (!found) continue;
    if (options.by_text) {
      elements.WeighByText(i, *found);
    } else {
      text = *found;
      if (!elements.WeighByNumber(i, text)) return false;
    }
  }
  return true;
}

// Returns false after an error reply.
bool PutInOrder(Context& ctx, SortOptions& options, Sorted& sorted) {
  using Order = SortElements::Order;
  const bool by_own_text = options.by_text && !options.by;
  if (!by_own_text && !Weigh(ctx, options, sorted.elements))
    return ctx.Fail("ERR One or more scores can't be converted into double"), false;
  const Order order = by_own_text ? Order::kByOwnText : options.by_text ? Order::kByText : Order::kByNumber;
  sorted.elements.Sort(order, options.descending, sorted.first, sorted.count);
  return true;
}

// Returns false after an error reply.
bool Take(Context& ctx, const RichValue& value, SortOptions& options, Sorted& sorted) {
  // A stored result, or a result for a script, must not depend on the order within a set.
  if (options.as_it_is && value.type == ValueType::kSet && (options.store || ctx.origin == Origin::kScript)) {
    options.as_it_is = false;
    options.by_text = true;
    options.by.reset();
  }
  if (options.as_it_is && value.type == ValueType::kList)
    return TakeAsTheyAre(static_cast<const ListValue&>(value), options, sorted), true;
  sorted.elements.Load(value);
  ApplyLimit(options, sorted.elements.size(), sorted);
  if (!options.as_it_is) return PutInOrder(ctx, options, sorted);
  if (options.descending && value.type == ValueType::kSortedSet) sorted.elements.Reverse();
  return true;
}

// Calls fn with each text of the answer; with nullopt if a pattern finds no value.
template <typename Fn>
void ForEachAnswer(Context& ctx, SortOptions& options, const Sorted& sorted, Fn&& fn) {
  for (size_t i = sorted.first; i < sorted.first + sorted.count; ++i) {
    const std::string_view element = sorted.elements[i];
    if (options.get.empty()) fn(std::optional(element));
    for (ElementPattern& pattern : options.get) fn(pattern.Find(ctx, element));
  }
}

// Throws std::bad_alloc if the stored list would be longer than a reply with the same texts may be: else a few GETs of long
// values would fill all memory.
void Store(Context& ctx, SortOptions& options, const Sorted& sorted) {
  constexpr Event kStoreEvent{"sortstore"};
  constexpr uint64_t kLeastBytes = 2;  // of an element
  uint64_t bytes = 0;
  auto list = std::make_unique<ListValue>();
  const ListLimit limit = LimitOf(ctx);
  ForEachAnswer(ctx, options, sorted, [&](std::optional<std::string_view> text) {
    const std::string_view texts[] = {text.value_or("")};
    bytes += texts[0].size() + kLeastBytes;
    if (bytes > ctx.server.executor->most_reply()) throw std::bad_alloc();
    list->Push(ListEnd::kTail, texts, limit);
  });
  const auto size = static_cast<int64_t>(list->Size());
  const Key key = ctx.keyspace.KeyOf(*options.store);
  Entry* const existing = ctx.keyspace.Find(key, ctx.now);
  if (size != 0) {
    ctx.keyspace.PutRich(key, existing, std::move(list), Expiry::Never(), ctx.now, kStoreEvent);
  } else {
    ctx.keyspace.Delete(key, ctx.now);  // also of an absent key, as StoreSortedSet
  }
  ctx.reply.Integer(size);
}

void Reply(Context& ctx, SortOptions& options, const Sorted& sorted) {
  ctx.reply.Array(sorted.count * std::max<size_t>(options.get.size(), 1));
  ForEachAnswer(ctx, options, sorted, [&](std::optional<std::string_view> text) {
    text ? ctx.reply.Bulk(*text) : ctx.reply.Null();
  });
}

template <bool kMayStore>
void Sort(Context& ctx, Args& args) {
  SortOptions options;
  args.Skip(1);
  if (!ReadSortOptions(ctx, args, kMayStore, options)) return;
  const Key key = ctx.KeyAt(args, 1);
  const Entry* const entry = DropDueMembers(ctx, key, ctx.Read(key));
  Sorted sorted;
  if (entry != nullptr) {
    const ValueType type = TypeOf(*entry);
    if (type != ValueType::kList && type != ValueType::kSet && type != ValueType::kSortedSet)
      return ctx.Fail(errors::kWrongType);
    if (!Take(ctx, *entry->rich(), options, sorted)) return;
  }
  options.store ? Store(ctx, options, sorted) : Reply(ctx, options, sorted);
}

// The keys read by BY and GET depend on the elements.
constexpr KeySpec kPatternKeys = {.use = kKeyRO | kKeyAccess,
                                  .notes = "Keys that BY and GET form from the elements."};
constexpr std::string_view kStoreWords[] = {"STORE"};
constexpr KeyAfterWord::Skipped kSkipped[] = {{"LIMIT", 2}, {"GET", 1}, {"BY", 1}};

constexpr Command kRows[] = {
    {.name = "sort",
     .arity = -2,
     .flags = kWrite | kDenyOom | kMovableKeys,
     .keys = {1, 1, 1, kKeyRO | kKeyAccess},
     .more_keys = kPatternKeys,
     .key_after_word = {.words = kStoreWords, .from = 2, .use = kKeyOW | kKeyUpdate, .skipped = kSkipped},
     .acl = kAclSet | kAclSortedSet | kAclList | kAclDangerous,
     .handler = Sort<true>,
     .since = "1.0.0",
     .complexity = "O(N+M*log(M)) where N is the number of elements and M the number of those returned",
     .summary = "Returns or stores the elements of a list, set or sorted set in order.",
     .syntax =
         "key [BY pattern] [LIMIT offset count] [GET pattern] ... [ASC | DESC] [ALPHA] [STORE destination]",
     .argument_notes = "LIMIT=offset_count condition=order ALPHA=sorting"},
    {.name = "sort_ro",
     .arity = -2,
     .flags = kReadOnly | kMovableKeys,
     .keys = {1, 1, 1, kKeyRO | kKeyAccess},
     .more_keys = kPatternKeys,
     .acl = kAclSet | kAclSortedSet | kAclList | kAclDangerous,
     .handler = Sort<false>,
     .since = "7.0.0",
     .complexity = "O(N+M*log(M)) where N is the number of elements and M the number of those returned",
     .summary = "Returns the elements of a list, set or sorted set in order.",
     .syntax = "key [BY pattern] [LIMIT offset count] [GET pattern] ... [ASC | DESC] [ALPHA]",
     .argument_notes = "LIMIT=offset_count condition=order ALPHA=sorting"},
};
const CommandFamily kFamily("generic", kRows);

}  // namespace
}  // namespace mayfly::sort_commands
