#include "cache/types/timed_members.h"

#include <array>
#include <span>

#include "cache/entry/name_listener.h"
#include "cache/types/member_table.h"

namespace mayfly {

std::unique_ptr<TimedMembers> TimedMembers::Clone() const {
  auto copy = std::make_unique<TimedMembers>(members_.other_home());
  copy->gone_until_ms_ = gone_until_ms_;
  members_.ForEach(
      [&](const Member& member) { copy->Add(member.name(), member.parts().value, DeadlineOf(member)); });
  return copy;
}

void TimedMembers::Add(std::string_view name, std::optional<std::string_view> value, uint64_t deadline_ms) {
  AddHashed({.name = name, .value = value}, deadline_ms, members_.HashOf(name));
}

void TimedMembers::AddHashed(MemberParts parts, uint64_t deadline_ms, uint64_t hash) {
  if (deadline_ms != 0) parts.deadline_ms = deadline_ms;
  Member* const member = members_.Add(parts, hash);
  if (deadline_ms == 0) return;
  try {
    deadlines_.Insert(deadline_ms, members_.RefOf(*member));
  } catch (...) {
    members_.Remove(*member, hash);
    throw;
  }
}

bool TimedMembers::Set(std::string_view name, std::string_view value, bool keep_deadline) {
  const uint64_t hash = members_.HashOf(name);
  Member* const member = members_.Find(name, hash);
  if (member == nullptr) {
    members_.Add({.name = name, .value = value}, hash);
    return true;
  }
  const bool is_new = IsGone(*member);
  const uint64_t deadline_ms = DeadlineOf(*member);
  const bool keeps = deadline_ms != 0 && keep_deadline && !is_new;
  if (member->value().size() == value.size()) {
    members_.BeforeChange(*member);
    member->set_value(value);
    if (deadline_ms != 0 && !keeps) ClearDeadline(*member);
    return is_new;
  }
  MemberParts parts{.name = name, .value = value};
  if (keeps) parts.deadline_ms = deadline_ms;
  const HeapRef old = members_.RefOf(*member);
  members_.Change(*member, parts, [&](const Member& fresh) {
    if (keeps) deadlines_.Change(deadline_ms, old, deadline_ms, members_.RefOf(fresh));
  });
  if (deadline_ms != 0 && !keeps) deadlines_.Erase(deadline_ms, old);
  return is_new;
}

bool TimedMembers::Include(std::string_view name) {
  const uint64_t hash = members_.HashOf(name);
  Member* const member = members_.Find(name, hash);
  if (member == nullptr) {
    members_.Add({.name = name}, hash);
    return true;
  }
  if (!IsGone(*member)) return false;
  ClearDeadline(*member);
  return true;
}

bool TimedMembers::IncludeUntil(std::string_view name, uint64_t deadline_ms, bool keep_deadline) {
  const uint64_t hash = members_.HashOf(name);
  Member* const member = members_.Find(name, hash);
  if (member == nullptr) {
    AddHashed({.name = name}, deadline_ms, hash);
    ComesStill(deadline_ms);
    return true;
  }
  const bool is_new = IsGone(*member);
  if (is_new || !keep_deadline) SetDeadline(*member, deadline_ms);
  return is_new;
}

bool TimedMembers::Remove(std::string_view name) noexcept {
  Member* const member = Find(name);
  if (member == nullptr) return false;
  Remove(*member);
  return true;
}

void TimedMembers::Remove(Member& member) noexcept {
  if (DeadlineOf(member) != 0) ClearDeadline(member);
  members_.Remove(member);
}

void TimedMembers::SetDeadline(Member& member, uint64_t deadline_ms) {
  assert(deadline_ms != 0);
  const HeapRef ref = members_.RefOf(member);
  const uint64_t old_ms = DeadlineOf(member);
  if (!member.timed()) {
    MemberParts parts = member.parts();
    parts.deadline_ms = deadline_ms;
    members_.Change(member, parts,
                    [&](const Member& fresh) { deadlines_.Insert(deadline_ms, members_.RefOf(fresh)); });
  } else if (old_ms != deadline_ms) {
    if (old_ms == 0)
      deadlines_.Insert(deadline_ms, ref);
    else
      deadlines_.Change(old_ms, ref, deadline_ms, ref);
    members_.BeforeChange(member);
    member.set_deadline_ms(deadline_ms);
  }
  ComesStill(deadline_ms);
}

void TimedMembers::ClearDeadline(Member& member) noexcept {
  members_.BeforeChange(member);
  deadlines_.Erase(DeadlineOf(member), members_.RefOf(member));
  member.set_deadline_ms(0);
}

size_t TimedMembers::DropUntil(uint64_t ms, size_t budget, NameListener* listener) noexcept {
  gone_until_ms_ = ms;
  const size_t count = std::min(gone(), budget);
  std::array<HeapRef, Members::kAtOnce> due;
  for (size_t left = count; left != 0;) {
    const size_t batch = std::min(left, due.size());
    size_t filled = 0;
    deadlines_.EraseNearest(batch, [&](HeapRef ref) { due[filled++] = ref; });
    for (size_t i = 0; listener != nullptr && i < batch; ++i) listener->Take(members_.At(due[i])->name());
    members_.RemoveAll(std::span(due).first(batch));
    left -= batch;
  }
  return count;
}

MemberTable TimedMembers::TableAt(uint64_t now_ms) noexcept {
  MemberTable table{.members = &members_, .due_until_ms = std::max(now_ms, gone_until_ms_)};
  table.live = LiveAt(now_ms);
  table.nearest_ms = deadlines_.After(table.due_until_ms);
  return table;
}

bool TimedMembers::Validate() const noexcept {
  size_t timed = 0;
  members_.ForEach([&](const Member& member) { timed += DeadlineOf(member) != 0 ? 1 : 0; });
  bool right = true;
  deadlines_.ForEach([&](uint64_t deadline_ms, HeapRef ref) {
    right = right && DeadlineOf(*members_.At(ref)) == deadline_ms;
    --timed;
  });
  return right && timed == 0 && members_.Validate() && deadlines_.Validate();
}

}  // namespace mayfly
