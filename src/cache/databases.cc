#include "cache/databases.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace mayfly {

Databases::Databases(Heap& heap, const Hasher& hasher, ChangeHub& changes, unsigned count, Now now)
    : parts_{.heap = heap, .hasher = hasher, .changes = changes, .expiry_stats = expiry_stats_},
      wall_minus_mono_ms_(now.wall_ms - static_cast<int64_t>(now.mono_ms)) {
  assert(count >= 1 && count <= kDatabasesMax);
  databases_.reserve(count);
  for (unsigned id = 0; id < count; ++id) {
    databases_.push_back(std::make_unique<Keyspace>(parts_, static_cast<uint8_t>(id), now));
    databases_.back()->Enlist();
    index_of_.push_back(static_cast<uint8_t>(id));
  }
}

Databases::~Databases() = default;

void Databases::Flush(unsigned index, Now now) {
  if (At(index).size() == 0) return;
  DigGraves(1);
  Bury(index, Successor(At(index), now));
}

std::unique_ptr<Keyspace> Databases::Successor(const Keyspace& old, Now now) {
  auto fresh = std::make_unique<Keyspace>(parts_, old.id(), now);
  fresh->AddOwnersOf(old);
  return fresh;
}

void Databases::DigGraves(size_t graves) {
  while (graveyard_.size() + graves > kWaitingMax) FreeSome(std::numeric_limits<size_t>::max());
  graveyard_.reserve(graveyard_.size() + graves);
}

void Databases::Bury(unsigned index, std::unique_ptr<Keyspace> fresh) noexcept {
  const uint8_t id = At(index).id();
  parts_.stale_guesses.NoteAll();
  At(index).Delist();
  fresh->Enlist();
  graveyard_.push_back(std::exchange(databases_[index], std::move(fresh)));
  parts_.changes.Tell({ChangeReason::kFlushed, id, {}, nullptr});
}

void Databases::Swap(unsigned a, unsigned b) {
  assert(a < count() && b < count());
  if (a == b) return;
  parts_.stale_guesses.NoteAll();
  std::swap(databases_[a], databases_[b]);
  std::swap(index_of_[At(a).id()], index_of_[At(b).id()]);
  for (const unsigned index : {a, b})
    parts_.changes.Tell({ChangeReason::kSwapped, At(index).id(), {}, nullptr});
}

void Databases::FlushAll(Now now) {
  std::vector<std::unique_ptr<Keyspace>> fresh(count());
  size_t graves = 0;
  for (unsigned i = 0; i < count(); ++i) {
    if (At(i).size() == 0) continue;
    fresh[i] = Successor(At(i), now);
    ++graves;
  }
  DigGraves(graves);
  for (unsigned i = 0; i < count(); ++i) {
    if (fresh[i] != nullptr) Bury(i, std::move(fresh[i]));
  }
}

void Databases::TrackAccesses(AccessTracking tracking, const LfuRules& rules) noexcept {
  assert(tracking != AccessTracking::kNone && parts_.tracking != AccessTracking::kNone);
  assert(tracking != AccessTracking::kFrequency || rules.random != nullptr);
  parts_.lfu = rules;
  if (tracking == parts_.tracking) return;
  parts_.tracking = tracking;
  parts_.quotas.ForEach([](Quota& quota) { quota.ForgetHands(); });
  parts_.quotas.ForgetOrder();
}

void Databases::SetActiveExpiry(bool on) noexcept {
  active_expiry_ = on;
  parts_.rearm.any = true;
}

uint64_t Databases::RecordWake(uint8_t id, Now now) noexcept {
  const uint64_t wait = WithId(id).NextWakeMs(now);
  const uint64_t wake = wait < Tournament::kNone - now.mono_ms ? now.mono_ms + wait : Tournament::kNone;
  wakes_.Set(id, wake);
  return wake;
}

void Databases::CatchUp(Now now) noexcept {
  const int64_t wall_minus_mono_ms = now.wall_ms - static_cast<int64_t>(now.mono_ms);
  if (wall_minus_mono_ms != wall_minus_mono_ms_) [[unlikely]] {
    wall_minus_mono_ms_ = wall_minus_mono_ms;
    for (const auto& database : databases_) {
      database->FollowWallStep(now);
      parts_.rearm.who.Add(database->id());
    }
  }
  parts_.rearm.who.TakeEach([&](uint8_t id) { RecordWake(id, now); });
}

bool Databases::AdvanceSome(size_t begin, size_t end, Now now, size_t* budget) {
  for (size_t at = begin; (at = wakes_.NextUpTo(at, now.mono_ms)) < end; ++at) {
    const auto id = static_cast<uint8_t>(at);
    const bool gets_some = *budget != 0;
    const bool more = WithId(id).Advance(now, budget);
    RecordWake(id, now);
    if (!more) continue;
    // It has spent the budget: the next call begins with those after it.
    advance_from_ = gets_some ? (at + 1) % Tournament::kEnd : at;
    return true;
  }
  return false;
}

bool Databases::Advance(Now now, size_t budget) {
  if (!active_expiry_) return false;
  CatchUp(now);
  const size_t from = advance_from_;
  if (AdvanceSome(from, Tournament::kEnd, now, &budget)) return true;
  return AdvanceSome(0, from, now, &budget);
}

uint64_t Databases::NextWakeMs(Now now) noexcept {
  if (!active_expiry_) return UINT64_MAX;
  CatchUp(now);
  for (;;) {
    const uint64_t least = wakes_.least();
    if (least == Tournament::kNone) return UINT64_MAX;
    const uint64_t wake = RecordWake(wakes_.First(), now);
    if (wake <= std::max(least, now.mono_ms)) return wake - now.mono_ms;
  }
}

size_t Databases::Backlog(Now now) const {
  size_t count = 0;
  for (const auto& database : databases_) count += database->Backlog(now, kBacklogCounted - count);
  return count;
}

uint64_t Databases::GraveyardBytes() const noexcept {
  uint64_t bytes = 0;
  for (const auto& keyspace : graveyard_) bytes += keyspace->bytes();
  return bytes;
}

size_t Databases::waiting_keys() const noexcept {
  size_t keys = 0;
  for (const auto& keyspace : graveyard_) keys += keyspace->size();
  return keys;
}

bool Databases::FreeSome(size_t budget) noexcept {
  if (graveyard_.empty()) return false;
  if (graveyard_.back()->FreeSome(budget)) graveyard_.pop_back();
  return !graveyard_.empty();
}

}  // namespace mayfly
