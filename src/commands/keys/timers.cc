// TIMERS and DRAIN: the tasks of a stream, keys that go into the stream at their deadlines (SET ... INTO).
#include <algorithm>
#include <limits>
#include <vector>

#include "cache/keyspace/tasks.h"
#include "cache/tags/task_name.h"
#include "exec/values/expiring_pages.h"

namespace mayfly::timers_commands {
namespace {

// Tasks delivered before the answer; about half a slice of time.
constexpr size_t kDeliveredAtOnce = 512;

// A cursor of the pages by deadline: this bit, and the deadline of the next page's first task as Unix time in ms. Cursors of a
// walk through the wheels have another bit (DuePage), and those through the table are below 2^53.
constexpr uint64_t kByDeadline = uint64_t{1} << 61;

bool IsByDeadline(uint64_t cursor) noexcept { return !DuePage::Owns(cursor) && (cursor & kByDeadline) != 0; }

// A page of exactly the nearest tasks, from the list of all tasks of the stream. Tasks with one deadline are on one page.
uint64_t NearestTasks(Context& ctx, std::string_view stream, const PageWords& words,
                      std::vector<ShownDeadline>& shown) {
  const auto deadline_ms =
      [&ctx](const Entry& entry) {  // the last that a cursor can name stands for all behind it
        return std::min(UnixDeadlineMs(entry, ctx.now), static_cast<int64_t>(kByDeadline) - 1);
      };
  const auto from_ms = static_cast<int64_t>(words.cursor & ~kByDeadline);
  const bool first = words.cursor == 0;
  ctx.keyspace.tags().ForEachTask(stream, [&](const Entry& entry) {
    const bool is_behind = first || deadline_ms(entry) >= from_ms;
    if (is_behind && words.options.Matches(entry.key()) && !ctx.keyspace.Absent(entry, ctx.now))
      shown.push_back({TtlMs(entry, ctx.now), &entry});
  });
  if (shown.size() <= words.options.count) return 0;
  std::sort(shown.begin(), shown.end(),
            [](const ShownDeadline& a, const ShownDeadline& b) { return a.ttl_ms < b.ttl_ms; });
  auto end = shown.begin() + static_cast<ptrdiff_t>(words.options.count);
  while (end != shown.end() && deadline_ms(*end->entry) == deadline_ms(*(end - 1)->entry)) ++end;
  if (end == shown.end()) return 0;
  const uint64_t next = kByDeadline | static_cast<uint64_t>(deadline_ms(*end->entry));
  shown.erase(end, shown.end());
  return next;
}

// A page of a stream with too many tasks for NearestTasks: as EXPIRING, of the stream's tasks alone. Tasks whose time has come
// are in no wheel.
uint64_t WalkTasks(Context& ctx, std::string_view stream, const PageWords& words,
                   std::vector<ShownDeadline>& shown) {
  const auto look = [&](const Entry& entry) {
    if (entry.task() && ctx.keyspace.tags().TargetOf(entry).stream == stream &&
        words.options.Matches(entry.key()) && !ctx.keyspace.Absent(entry, ctx.now))
      shown.push_back({TtlMs(entry, ctx.now), &entry});
  };
  if (words.cursor == 0) {
    ctx.keyspace.owners().ForEach(
        [&](const Quota& quota) { quota.ForColdest(Keyspace::kReady, Tasks::kMostSorted, look); });
  }
  return WalkExpiring(ctx, words, std::numeric_limits<int64_t>::max(), look);
}

void Timers(Context& ctx, Args& args) {
  PageWords words;
  const std::string_view stream = args[1];
  args.Skip(1);
  if (!ReadPageWords(ctx, args, words)) return;
  const bool few = ctx.keyspace.tags().CountTasks(stream) <= Tasks::kMostSorted;
  std::vector<ShownDeadline> shown;
  const bool by_deadline = IsByDeadline(words.cursor) || (words.cursor == 0 && few);
  const uint64_t next =
      by_deadline ? NearestTasks(ctx, stream, words, shown) : WalkTasks(ctx, stream, words, shown);
  ReplyDeadlines(ctx, next, shown);
}

void Drain(Context& ctx, Args& args) {
  size_t most = std::numeric_limits<size_t>::max();
  const std::string_view stream = args[1];
  args.Skip(1);
  while (!args.Done()) {
    if (!args.Accept("COUNT", 1)) return ctx.Fail(SyntaxErrorAt(ctx.row, args));
    const std::optional<uint64_t> count = ReadPageCount(ctx, args);
    if (!count) return;
    most = *count;
  }
  ctx.reply.Integer(
      static_cast<int64_t>(ctx.keyspace.tasks().Drain(stream, most, ctx.now, kDeliveredAtOnce)));
}

constexpr Command kRows[] = {
    {.name = "timers",
     .arity = -2,
     .flags = kReadOnly | kUntouched,
     .keys = {1, 1, 1, kKeyRO | kKeyAccess},
     .acl = kAclKeyspace,
     .handler = Timers,
     .since = "0.2.0",
     .complexity =
         ("O(N*log(N)) for a call, where N is the number of the stream's tasks; above 10,000 tasks as "
          "EXPIRING"),
     .summary = "Shows the keys that will go into a stream, the nearest deadline first, a page at a time.",
     .syntax = "stream [MATCH pattern] [COUNT count] [CURSOR cursor]",
     .tips = "nondeterministic_output",
     .notes = "A command of Mayfly. A task with less than 0 ms waits for its stream: for memory, or for the "
              "end of a "
              "key of another type."},
    {.name = "drain",
     .arity = -2,
     .flags = kWrite,
     .keys = {1, 1, 1, kKeyRW | kKeyUpdate},
     .acl = kAclKeyspace,
     .handler = Drain,
     .since = "0.2.0",
     .complexity =
         ("O(N*log(N)) where N is the number of the stream's tasks; O(1) without COUNT above 10,000 "
          "tasks, which then go in slices; O(N) to count them while tasks are late, or gone and not freed"),
     .summary = "Lets the keys that will go into a stream go now, and answers how many.",
     .syntax = "stream [COUNT count]",
     .notes = "A command of Mayfly. With COUNT the nearest go. Up to 512 are in the stream before the "
              "answer, the rest "
              "follows in slices."},
};
const CommandFamily kFamily("generic", kRows);

}  // namespace
}  // namespace mayfly::timers_commands
