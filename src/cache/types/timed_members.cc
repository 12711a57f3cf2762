#include "cache/types/large_hash.h"

#include <algorithm>
#include <array>
#include <span>

namespace mayfly {

std::unique_ptr<LargeHash> LargeHash::Clone() const {
  auto copy = std::make_unique<LargeHash>(fields_.home());
  copy->gone_until_ms_ = gone_until_ms_;
  fields_.ForEach(
      [&](const Member& member) { copy->Add(member.name(), member.value(), DeadlineOf(member)); });
  return copy;
}

void LargeHash::Add(std::string_view field, std::string_view value, uint64_t deadline_ms) {
  MemberParts parts{.name = field, .value = value};
  if (deadline_ms == 0) {
    fields_.Add(parts);
    return;
  }
  parts.deadline_ms = deadline_ms;
  Member* const member = fields_.Add(parts);
  try {
    deadlines_.Insert(deadline_ms, fields_.RefOf(*member));
  } catch (...) {
    fields_.Remove(*member);
    throw;
  }
}

bool LargeHash::Set(std::string_view field, std::string_view value, bool keep_deadline) {
  const uint64_t hash = fields_.HashOf(field);
  Member* const member = fields_.Find(field, hash);
  if (member == nullptr) {
    fields_.Add({.name = field, .value = value}, hash);
    return true;
  }
  const bool is_new = IsGone(*member);
  const uint64_t deadline_ms = DeadlineOf(*member);
  const bool keeps = deadline_ms != 0 && keep_deadline && !is_new;
  if (member->value().size() == value.size()) {
    member->set_value(value);
    if (deadline_ms != 0 && !keeps) ClearDeadline(*member);
    return is_new;
  }
  MemberParts parts{.name = field, .value = value};
  if (keeps) parts.deadline_ms = deadline_ms;
  const HeapRef old = fields_.RefOf(*member);
  fields_.Change(*member, parts, [&](const Member& fresh) {
    if (keeps) deadlines_.Change(deadline_ms, old, deadline_ms, fields_.RefOf(fresh));
  });
  if (deadline_ms != 0 && !keeps) deadlines_.Erase(deadline_ms, old);
  return is_new;
}

bool LargeHash::Remove(std::string_view field) noexcept {
  Member* const member = Find(field);
  if (member == nullptr) return false;
  if (DeadlineOf(*member) != 0) ClearDeadline(*member);
  fields_.Remove(*member);
  return true;
}

void LargeHash::SetDeadline(Member& member, uint64_t deadline_ms) {
  assert(deadline_ms != 0);
  const HeapRef ref = fields_.RefOf(member);
  if (!member.timed()) {
    MemberParts parts = member.parts();
    parts.deadline_ms = deadline_ms;
    fields_.Change(member, parts,
                   [&](const Member& fresh) { deadlines_.Insert(deadline_ms, fields_.RefOf(fresh)); });
    return;
  }
  const uint64_t old_ms = member.deadline_ms();
  if (old_ms == deadline_ms) return;
  if (old_ms == 0)
    deadlines_.Insert(deadline_ms, ref);
  else
    deadlines_.Change(old_ms, ref, deadline_ms, ref);
  member.set_deadline_ms(deadline_ms);
}

void LargeHash::ClearDeadline(Member& member) noexcept {
  deadlines_.Erase(DeadlineOf(member), fields_.RefOf(member));
  member.set_deadline_ms(0);
}

size_t LargeHash::DropUntil(uint64_t ms, size_t budget) noexcept {
  gone_until_ms_ = ms;
  const size_t count = std::min(gone(), budget);
  std::array<HeapRef, Members::kAtOnce> due;
  for (size_t left = count; left != 0;) {
    const size_t batch = std::min(left, due.size());
    size_t filled = 0;
    deadlines_.EraseNearest(batch, [&](HeapRef ref) { due[filled++] = ref; });
    fields_.RemoveAll(std::span(due).first(batch));
    left -= batch;
  }
  return count;
}

bool LargeHash::Validate() const noexcept {
  size_t timed = 0;
  fields_.ForEach([&](const Member& member) { timed += DeadlineOf(member) != 0 ? 1 : 0; });
  bool right = true;
  deadlines_.ForEach([&](uint64_t deadline_ms, HeapRef ref) {
    right = right && DeadlineOf(*fields_.At(ref)) == deadline_ms;
    --timed;
  });
  return right && timed == 0 && fields_.Validate() && deadlines_.Validate();
}

}  // namespace mayfly
