#include "cache/types/sorted_set_large.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <span>
#include <vector>

#include "cache/entry/name_listener.h"
#include "cache/types/counted_tree_prune.h"
#include "cache/types/member_table.h"

namespace mayfly {

void LargeSortedSet::Add(std::string_view name, uint64_t hash, double score, uint64_t deadline_ms) {
  MemberParts parts{.name = name, .score = score};
  if (deadline_ms != 0) parts.deadline_ms = deadline_ms;
  Member* const member = members_.Add(parts, hash);
  const HeapRef ref = members_.RefOf(*member);
  try {
    order_.Insert(score, ref);
    if (deadline_ms == 0) return;
    try {
      deadlines_.Insert(deadline_ms, ref);
    } catch (...) {
      order_.Erase(score, ref);
      throw;
    }
  } catch (...) {
    members_.Remove(*member, hash);
    throw;
  }
}

// A search in the order would read some twenty names for each member, from all over the memory. Here the first bytes of
// a name lie beside its score, and mostly tell.
void LargeSortedSet::Arrange() {
  struct Item {
    double score;
    uint64_t start;  // of the name, the first byte highest
    HeapRef ref;
  };
  std::vector<Item> items;
  items.reserve(members_.size());
  members_.ForEach([&](const Member& member) {
    uint64_t start = 0;
    const std::string_view name = member.name();
    for (size_t i = 0; i < sizeof start; ++i)
      start = start << 8 | (i < name.size() ? static_cast<uint8_t>(name[i]) : 0U);
    items.push_back({member.score(), start, members_.RefOf(member)});
  });
  std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
    if (a.score != b.score) return a.score < b.score;
    if (a.start != b.start) return a.start < b.start;
    return order_.policy().TieLess(a.ref, b.ref);
  });
  order_.FreeSome(SIZE_MAX);
  for (const Item& item : items) order_.Append(item.score, item.ref);
}

// A member that never had a deadline is replaced by one with room for it. No tie in the order distinguishes the two, so
// that exchange needs no memory.
void LargeSortedSet::SetDeadline(Member& member, uint64_t deadline_ms) {
  assert(deadline_ms != 0);
  if (deadlines_.empty()) hidden_until_ms_ = 0;  // the deadlines may be on another clock now
  const HeapRef ref = members_.RefOf(member);
  if (!member.timed()) {
    MemberParts parts = member.parts();
    parts.deadline_ms = deadline_ms;
    members_.Change(member, parts, [&](const Member& fresh) {
      deadlines_.Insert(deadline_ms, members_.RefOf(fresh));
      order_.Change(member.score(), ref, member.score(), members_.RefOf(fresh));
    });
    return;
  }
  const uint64_t old_ms = member.deadline_ms();
  if (old_ms == deadline_ms) return;
  deadlines_.Change(old_ms, ref, deadline_ms, ref);
  members_.BeforeChange(member);
  member.set_deadline_ms(deadline_ms);
}

size_t LargeSortedSet::DropUntil(uint64_t ms, size_t budget, NameListener* listener) noexcept {
  const size_t count = std::min(deadlines_.CountUntil(ms), budget);
  std::array<HeapRef, Members::kAtOnce> due;
  for (size_t left = count; left != 0;) {
    const size_t batch = std::min(left, due.size());
    size_t filled = 0;
    deadlines_.EraseNearest(batch, [&](HeapRef ref) { due[filled++] = ref; });
    for (size_t i = 0; i < batch; ++i) {
      const Member& member = *members_.At(due[i]);
      if (IsHidden(member))
        --hidden_;
      else
        order_.Erase(member.score(), due[i]);
    }
    for (size_t i = 0; listener != nullptr && i < batch; ++i) listener->Take(members_.At(due[i])->name());
    members_.RemoveAll(std::span(due).first(batch));
    left -= batch;
  }
  return count;
}

// A search in the order for one member takes as long as a pass does for some fifty. The members that are hidden already
// are the nearest ones; if the clock was set back since, they may lie anywhere, and all are looked at.
void LargeSortedSet::HideUntil(uint64_t ms) noexcept {
  constexpr size_t kPassForSearch = 50;
  const size_t due = deadlines_.CountUntil(ms);
  const size_t known = HiddenUntil(ms);
  if (due <= known) return;
  hidden_until_ms_ = std::max(hidden_until_ms_, ms);
  const auto hide = [&](Member& member) {
    members_.BeforeChange(member);
    member.set_score(std::numeric_limits<double>::quiet_NaN());
    ++hidden_;
  };
  if ((due - known) * kPassForSearch < order_.size()) {
    const auto hide_if_shown = [&](HeapRef ref) {
      Member& member = *members_.At(ref);
      if (IsHidden(member)) return;
      order_.Erase(member.score(), ref);
      hide(member);
    };
    deadlines_.ForEachUntil(ms, known, hide_if_shown);
    if (hidden_ < due) deadlines_.ForEachUntil(ms, 0, hide_if_shown);
    return;
  }
  order_.EraseIf([&](HeapRef ref) { PrefetchToWrite(members_.At(ref)); },
                 [&](double, HeapRef ref) {
                   Member& member = *members_.At(ref);
                   const uint64_t deadline_ms = DeadlineOf(member);
                   if (deadline_ms == 0 || deadline_ms > ms) return false;
                   hide(member);
                   return true;
                 });
}

MemberTable LargeSortedSet::TableAt(uint64_t now_ms) noexcept {
  MemberTable table{.members = &members_, .due_until_ms = now_ms};
  if (now_ms >= hidden_until_ms_ || hidden_ == 0) {
    table.live = size() - deadlines_.CountUntil(now_ms);
    table.nearest_ms = deadlines_.After(now_ms);
    return table;
  }
  members_.ForEach([&](const Member& member) {
    const uint64_t ms = DeadlineOf(member);
    if (IsHidden(member) || (ms != 0 && ms <= now_ms)) return;
    ++table.live;
    if (ms != 0) table.nearest_ms = table.nearest_ms == 0 ? ms : std::min(table.nearest_ms, ms);
  });
  return table;
}

bool LargeSortedSet::Validate() const noexcept {
  if (!members_.Validate() || !order_.Validate() || live() != order_.size()) return false;
  size_t timed = hidden_;
  for (auto at = order_.First(); at; at.Next()) {
    const Member& member = *members_.At(at.ref());
    if (member.score() != at.key() || members_.Find(member.name()) != &member) return false;
    timed += DeadlineOf(member) != 0 ? 1 : 0;
  }
  size_t hidden = 0;
  members_.ForEach([&](const Member& member) { hidden += IsHidden(member) ? 1 : 0; });
  if (hidden != hidden_) return false;
  bool right = deadlines_.Validate() && deadlines_.size() == timed;
  deadlines_.ForEach([&](uint64_t deadline_ms, HeapRef ref) {
    right = right && DeadlineOf(*members_.At(ref)) == deadline_ms;
  });
  return right;
}

}  // namespace mayfly
