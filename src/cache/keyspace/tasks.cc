#include "cache/keyspace/tasks.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "base/bits/key_slot.h"
#include "base/text/numbers.h"
#include "cache/changes/stream_addition.h"
#include "cache/keyspace/keyspace.h"
#include "cache/tags/task_name.h"
#include "cache/time/expiry_stats.h"
#include "cache/time/lifetime.h"
#include "cache/types/stream/stream_value.h"

namespace mayfly {
namespace {

constexpr Event kXAdd{.name = "xadd", .by_client = false};
constexpr Event kXAddAndTrim{.name = "xadd", .then = "xtrim", .by_client = false};

// How long tasks that no stream takes wait for the next round. In a round a stream's first failure speaks for its other tasks, of
// the first streams that fail; beyond these, an owner's tasks may fail this often. So tasks for streams that never will take
// them cost little, however many they are, and hold up no others.
constexpr uint64_t kRoundMs = 1000;
constexpr size_t kFailuresPerRound = 10'000;

// The fields and values of the entry for a task. Views into the task's entry and into itself.
class TaskFields {
 public:
  TaskFields(const Entry& entry, int64_t due_unix_ms) {
    Add("key", entry.key());
    if (entry.encoding() != Encoding::kRich) Add("value", TextOf(entry));
    Add("due", {due_, FormatInteger(due_unix_ms, due_)});
  }
  std::span<const std::string_view> pairs() const noexcept { return {texts_.data(), count_}; }
  bool TooLong() const noexcept { return bytes_ >= Pack::kTooLong; }

 private:
  void Add(std::string_view name, std::string_view value) noexcept {
    texts_[count_++] = name;
    texts_[count_++] = value;
    bytes_ += name.size() + value.size();
  }
  std::string_view TextOf(const Entry& entry) noexcept {
    if (entry.encoding() != Encoding::kInteger) return entry.text();
    return {number_, FormatInteger(entry.integer(), number_)};
  }

  std::array<std::string_view, 6> texts_;
  size_t count_ = 0;
  size_t bytes_ = 0;
  char number_[kMaxIntegerText];
  char due_[kMaxIntegerText];
};

}  // namespace

Tasks::Tasks(Keyspace& keyspace) noexcept
    : keyspace_(keyspace), parts_(keyspace.parts_), tags_(keyspace.tags_), owners_(keyspace.owners_) {}

size_t Tasks::count() const noexcept { return owners_.CountOf(Quota::kTasks) + ready_count(); }
size_t Tasks::ready_count() const noexcept { return owners_.CountOf(Quota::kReady); }

// ---- delivery

Tasks::Delivery Tasks::Deliver(const Entry& entry, Now now) {
  if (parts_.HoldsTasks()) return Delivery::kRefused;
  const TaskTarget target = tags_.TargetOf(entry);
  Delivery delivery = Delivery::kRefused;
  try {
    delivery = DeliverTo(keyspace_.KeyOf(target.stream), target.most, entry, now);
  } catch (const std::bad_alloc&) {
  }
  if (delivery == Delivery::kTaken) ++parts_.expiry_stats.tasks_delivered;
  if (delivery == Delivery::kRefused) ++parts_.expiry_stats.tasks_refused;
  return delivery;
}

// A key that is absent and not yet freed is not removed here: it may be among the due ones that the wheel has just returned, and
// a chain of tasks would have no end. The task is tried again as soon as the key is freed.
Tasks::Delivery Tasks::DeliverTo(const Key& stream, uint64_t most, const Entry& entry, Now now) {
  Entry* const existing = keyspace_.LookUp(stream.text, stream.hash);
  if (existing != nullptr && keyspace_.Absent(*existing, now)) return Delivery::kSoon;
  if (existing == &entry) return Delivery::kRefused;
  const bool fits = existing == nullptr ||
                    (existing->encoding() == Encoding::kRich && existing->rich()->type == ValueType::kStream);
  const int64_t due = std::max<int64_t>(UnixDeadlineMs(entry, now), 0);
  const TaskFields fields(entry, due);
  if (!fits || fields.TooLong()) return Delivery::kRefused;
  const StreamLimits limits{.node_bytes = parts_.tasks.node_bytes, .node_entries = parts_.tasks.node_entries};
  // A drained task may be due later: no id lies in the future.
  StreamId id{std::min(static_cast<uint64_t>(due), Deadlines::WallMs(now)), 0};
  if (existing == nullptr) {
    if (id == StreamId{}) id.Increment();
    auto value = std::make_unique<StreamValue>();
    value->Append(id, fields.pairs(), limits);
    constexpr Expiry kUnruled{Expiry::Kind::kNever, 0, Expiry::Stage::kKept};
    keyspace_.PutRich(stream, nullptr, std::move(value), kUnruled, now, kXAdd);
    return Delivery::kTaken;
  }
  auto& value = static_cast<StreamValue&>(*existing->rich());
  const StreamId last = value.last_id();
  if (last == StreamId::Max()) return Delivery::kRefused;
  if (id <= last) id = last, id.Increment();
  StreamAddition addition(parts_.changes.WantsEffects(), id, fields.pairs());
  keyspace_.TellBefore(*existing);
  const uint64_t before = value.Bytes();
  value.Append(id, fields.pairs(), limits);
  const bool trims = most != 0 && value.length() > most;
  const bool trimmed = trims && value.Trim({.whole_nodes = true, .length = most}).entries != 0;
  keyspace_.CountEdit(*existing, before, value.Bytes());
  const Event event = addition.Tell(trimmed ? kXAddAndTrim : kXAdd, trimmed, value.length());
  keyspace_.FinishEdit(stream, *existing, false, now, event);
  return Delivery::kTaken;
}

void Tasks::DeliverDue(const Key& key, Entry& entry, Now now) {
  const Delivery delivery = Deliver(entry, now);
  if (delivery == Delivery::kTaken) {
    keyspace_.CountExpired(entry, now);
    return keyspace_.Remove(key, entry, ChangeReason::kExpired);
  }
  if (delivery == Delivery::kSoon)
    retry_ms_ = 0;
  else if (ready_count() == 0)
    retry_ms_ = now.mono_ms + kRoundMs;
  MakeReady(entry, now);
}

// ---- ready tasks

void Tasks::MakeReady(Entry& entry, Now now) noexcept {
  assert(entry.task() && !entry.ready());
  keyspace_.TellBefore(entry);
  owners_.Remove(entry);
  entry.extra()->ready = true;
  owners_.Push(entry);
  keyspace_.FileAnew(entry, now);
  if (owners_.CountOf(Quota::kReady) == 1) parts_.rearm.Note(keyspace_.id());
}

void Tasks::MakeUnready(Entry& entry, Now now) noexcept {
  assert(entry.ready());
  owners_.Remove(entry);
  entry.extra()->ready = false;
  owners_.Push(entry);
  keyspace_.FileAnew(entry, now);
}

bool Tasks::Advance(Now now, size_t* budget) {
  const bool more = MakeDrainedReady(now, budget);
  return DeliverReady(now, budget) || more;
}

bool Tasks::HasDrained() const noexcept { return draining_ && (tags_.draining() || ready_count() != 0); }

uint64_t Tasks::NextWakeMs(Now now) const noexcept { return tags_.draining() ? 0 : NextReadyMs(now); }

uint64_t Tasks::NextReadyMs(Now now) const noexcept {
  if (parts_.HoldsTasks() || owners_.CountOf(Quota::kReady) == 0) return UINT64_MAX;
  return retry_ms_ - std::min(retry_ms_, now.mono_ms);
}

void Tasks::Retry() noexcept {
  retry_ms_ = 0;
  round_ = {};
  parts_.rearm.Note(keyspace_.id());
}

void Tasks::SortReady(Now now) noexcept {
  owners_.ForEach([&](const Quota& quota) {
    if (quota.doomed || quota.CountOf(Quota::kReady) > kMostSorted) return;
    std::vector<Entry*> tasks;
    try {
      quota.ForColdest(Quota::kReady, kMostSorted, [&](Entry& entry) { tasks.push_back(&entry); });
    } catch (const std::bad_alloc&) {
      return;
    }
    std::sort(tasks.begin(), tasks.end(),
              [&](const Entry* a, const Entry* b) { return TtlMs(*a, now) < TtlMs(*b, now); });
    for (Entry* const entry : tasks) {
      keyspace_.TellBefore(*entry);
      owners_.Remove(*entry);
      owners_.Push(*entry);
    }
  });
}

// A delivery may make a share for the stream's key: then quotas change their places, and one may have to wait for the next round.
bool Tasks::DeliverReady(Now now, size_t* budget) {
  if (NextReadyMs(now) != 0) return false;
  while (Quota* const quota = owners_.At(round_.owner)) {
    if (!quota->doomed && DeliverReadyOf(*quota, now, budget)) return true;
    ++round_.owner;
    round_.failed = 0;
  }
  round_ = {};
  retry_ms_ = now.mono_ms + kRoundMs;
  draining_ = tags_.draining();
  return false;
}

bool Tasks::DeliverReadyOf(Quota& quota, Now now, size_t* budget) {
  if (quota.CountOf(Quota::kReady) == 0) return false;
  do {
    if (*budget == 0) return true;
    --*budget;
    TryReady(*quota.NextInTurn(Quota::kReady), now);
  } while (quota.CountOf(Quota::kReady) != 0 && !quota.TurnIsComplete(Quota::kReady) &&
           round_.failed < kFailuresPerRound);
  return false;
}

// Unlike DeliverDue, this may free the stream's key before: no due entries are in anybody's hands.
void Tasks::TryReady(Entry& entry, Now now) {
  const Key key = keyspace_.KeyOf(entry.key());
  if (keyspace_.Absent(entry, now)) return keyspace_.RemoveAbsent(key, entry, now);
  const HeapRef tag = tags_.TaskTagOf(entry);
  auto& blocked = round_.blocked;
  const auto end = blocked.begin() + static_cast<ptrdiff_t>(round_.blocked_tags);
  if (std::find(blocked.begin(), end, tag) != end) return;
  const Key stream = keyspace_.KeyOf(tags_.TargetOf(entry).stream);
  Entry* const existing = keyspace_.LookUp(stream.text, stream.hash);
  if (existing != nullptr && !existing->task() && keyspace_.Absent(*existing, now))
    keyspace_.RemoveAbsent(stream, *existing, now);
  if (Deliver(entry, now) == Delivery::kTaken) {
    keyspace_.CountExpired(entry, now);
    return keyspace_.Remove(key, entry, ChangeReason::kExpired);
  }
  if (end != blocked.end())
    blocked[round_.blocked_tags++] = tag;
  else
    ++round_.failed;
}

// ---- DRAIN

size_t Tasks::CountDrainable(std::string_view stream, Now now) const noexcept {
  const size_t count = tags_.CountTasks(stream);
  const bool any_other = tags_.doomed() != 0 || owners_.doomed_keys() != 0 || ready_count() != 0;
  if (count <= kMostSorted || !any_other) return count;
  size_t drainable = 0;
  tags_.ForEachTask(stream, [&](const Entry& entry) {
    drainable += !entry.ready() && !keyspace_.Absent(entry, now) ? 1 : 0;
  });
  return drainable;
}

size_t Tasks::Drain(std::string_view stream, size_t most, Now now, size_t budget) {
  const size_t count = CountDrainable(stream, now);
  size_t drained = 0;
  if (count > kMostSorted && most >= count) {
    tags_.Drain(stream);
    drained = count;
    parts_.rearm.Note(keyspace_.id());
  } else if (count != 0) {
    std::vector<Entry*> tasks;
    tags_.ForEachTask(stream, [&](Entry& entry) {
      if (!entry.ready() && !keyspace_.Absent(entry, now)) tasks.push_back(&entry);
    });
    drained = std::min(most, tasks.size());
    const auto sooner = [&](const Entry* a, const Entry* b) { return TtlMs(*a, now) < TtlMs(*b, now); };
    std::partial_sort(tasks.begin(), tasks.begin() + static_cast<ptrdiff_t>(drained), tasks.end(), sooner);
    for (size_t i = 0; i < drained; ++i) {
      Entry& entry = *tasks[i];
      i < budget ? DeliverDue(keyspace_.KeyOf(entry.key()), entry, now) : MakeReady(entry, now);
    }
  }
  if (drained > budget) Retry();
  if (drained > budget) draining_ = parts_.draining = true;
  size_t to_mark = budget;
  if (MakeDrainedReady(now, &to_mark)) DeliverReady(now, &budget);
  return drained;
}

bool Tasks::MakeDrainedReady(Now now, size_t* budget) {
  if (!tags_.draining()) return false;
  try {
    for (; *budget != 0; --*budget) {
      Entry* const entry = tags_.NextToDrain();
      if (entry == nullptr) return false;
      if (entry->ready()) continue;
      MakeReady(*entry, now);
      Retry();
    }
  } catch (const std::bad_alloc&) {
  }
  return true;
}

void Tasks::Fit(std::string_view key, bool asked, Expiry expiry, TagHold& tags) {
  if (expiry.kind == Expiry::Kind::kNever || tags_.GoesInto(tags, key)) return tags_.ForgetTask(tags);
  if (!asked || tags.task() || tags.size() == EntryExtra::kMostTags) return;
  const std::string_view task = parts_.ttl_rules.TaskTagOf(key);
  if (task.empty()) return;
  const std::string_view stream = TaskTargetOf(task).stream;
  if (stream == key || (parts_.tasks.by_slots && SlotOf(stream) != SlotOf(key))) return;
  tags = tags_.Hold({&task, 1}, std::move(tags));
}

}  // namespace mayfly
