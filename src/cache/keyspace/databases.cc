#include "cache/keyspace/databases.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <limits>
#include <utility>

#include "cache/entry/value_listener.h"
#include "cache/keyspace/reaper.h"
#include "cache/keyspace/tasks.h"

namespace mayfly {

Databases::Databases(Heap& heap, const Hasher& hasher, ChangeHub& changes, unsigned count, Now now)
    : parts_{.heap = heap, .hasher = hasher, .changes = changes, .expiry_stats = expiry_stats_},
      wall_minus_mono_ms_(now.wall_ms - static_cast<int64_t>(now.mono_ms)) {
  assert(count >= 1 && count <= kDatabasesMax);
  parts_.first_share = count;
  databases_.reserve(count);
  for (unsigned id = 0; id < count; ++id) {
    databases_.push_back(std::make_unique<Keyspace>(parts_, static_cast<uint8_t>(id), id, now));
    databases_.back()->Enlist();
    index_of_.push_back(static_cast<uint8_t>(id));
  }
}

// Clears the miss ring first: no lookup will miss the keys that go now.
Databases::~Databases() { parts_.departures.misses() = MissRing(); }

void Databases::Flush(unsigned index, Now now) {
  if (!IsEmpty(index)) {
    DigGraves(1);
    Bury(index, Successor(At(index), now));
  }
  parts_.departures.shadow().ForgetAll(At(index).id());
}

std::unique_ptr<Keyspace> Databases::Successor(const Keyspace& old, Now now) {
  return std::make_unique<Keyspace>(parts_, old.id(), old.database(), now);
}

size_t Databases::FlushNamespace(const Namespace& space) {
  size_t keys = 0;
  for (const auto& database : databases_) {
    Quota* const share = space.ShareIn(*database);
    if (share == nullptr) continue;
    keys += database->owners().Doom(*share);
    Tell(ChangeReason::kNamespaceFlushed, *database, space.prefix());
  }
  parts_.changes.CountByClient(keys);
  return keys;
}

void Databases::PromiseNamespaces(const QuotaLimits& all) noexcept {
  parts_.namespaces.Promise(all);
  parts_.quotas.FollowPromises();
}

void Databases::AdoptNamespaces(Namespaces::Prepared prepared) noexcept {
  parts_.namespaces.Adopt(std::move(prepared));
  parts_.quotas.FollowPromises();
}

void Databases::DigGraves(size_t graves) {
  assert(graves <= kWaitingMax);
  while (FreeableGraves() + graves > kWaitingMax) FreeSome(std::numeric_limits<size_t>::max());
  graveyard_.reserve(graveyard_.size() + graves);
}

void Databases::Bury(unsigned index, std::unique_ptr<Keyspace> fresh) {
  assert(graveyard_.size() < graveyard_.capacity());
  parts_.void_guesses.NoteAll();
  At(index).Delist();
  parts_.big_keys.ForgetAll(At(index).id());
  fresh->Enlist();
  graveyard_.push_back(std::exchange(databases_[index], std::move(fresh)));
  parts_.changes.CountByClient(graveyard_.back()->size());
  Tell(ChangeReason::kFlushed, *graveyard_.back(), {});
}

void Databases::Tell(ChangeReason reason, Keyspace& keyspace, std::string_view prefix) {
  if (!parts_.changes.Wants(reason)) return;
  parts_.changes.Tell({.reason = reason,
                       .event = events::kUnnamed,
                       .keyspace = keyspace,
                       .database = keyspace.database(),
                       .key = prefix,
                       .entry = nullptr,
                       .client = parts_.client},
                      /*listened=*/true);
}

void Databases::StartWalk() noexcept {
  assert(!walked_);
  walked_ = true;
  for (const auto& database : databases_) database->MarkAll();
  FollowEffect();
}

void Databases::EndWalk() noexcept {
  assert(walked_);
  walked_ = false;
  FollowEffect();
}

SlicedReader* Databases::ReaderOf(const Entry& entry) const noexcept {
  if (entry.encoding() == Encoding::kRich) return entry.rich()->listener();
  if (entry.encoding() != Encoding::kBlock) return nullptr;
  const auto held = std::find_if(held_texts_.begin(), held_texts_.end(), [&](const HeldText& candidate) {
    return candidate.text == entry.block().data();
  });
  return held != held_texts_.end() ? held->reader : nullptr;
}

void Databases::FollowEffect() noexcept {
  const bool moves = effect_ == AccessEffect::kRecency;
  parts_.access_effect = suspended_         ? AccessEffect::kNone
                         : walked_ && moves ? AccessEffect::kWalkedRecency
                                            : effect_;
}

void Databases::Swap(unsigned a, unsigned b) {
  assert(a < count() && b < count());
  if (a == b) return;
  parts_.void_guesses.NoteAll();
  std::swap(databases_[a], databases_[b]);
  std::swap(index_of_[At(a).id()], index_of_[At(b).id()]);
  for (const unsigned index : {a, b}) At(index).set_database(index);
  parts_.changes.CountByClient();
  for (const unsigned index : {a, b}) Tell(ChangeReason::kSwapped, At(index), {});
}

void Databases::FlushAll(Now now) {
  std::vector<std::unique_ptr<Keyspace>> fresh(count());
  size_t graves = 0;
  for (unsigned i = 0; i < count(); ++i) {
    if (IsEmpty(i)) continue;
    fresh[i] = Successor(At(i), now);
    ++graves;
  }
  DigGraves(graves);
  for (unsigned i = 0; i < count(); ++i) {
    if (fresh[i] != nullptr) Bury(i, std::move(fresh[i]));
  }
  parts_.departures.shadow().Clear();
}

Miss Databases::NoteMiss(const Keyspace& keyspace, const Key& key, Now now) noexcept {
  const auto was_flushed = [&](const auto& grave) {
    return grave->id() == keyspace.id() && grave->Holds(key.text, now);
  };
  const bool remembers = !graveyard_.empty() && parts_.departures.misses().capacity() != 0;
  if (remembers && std::any_of(graveyard_.begin(), graveyard_.end(), was_flushed))
    return {MissReason::kDeleted, false};
  const bool touches = !accesses_suspended();
  return {parts_.departures.Why(keyspace.id(), key.hash),
          parts_.departures.shadow().Hit(keyspace.id(), key.hash, touches, now)};
}

size_t Databases::total_tasks() const noexcept {
  size_t tasks = 0;
  for (const auto& database : databases_) tasks += database->tasks().count();
  return tasks;
}

size_t Databases::ready_tasks() const noexcept {
  size_t tasks = 0;
  for (const auto& database : databases_) tasks += database->tasks().ready_count();
  return tasks;
}

void Databases::ReleaseTasks(Now now) noexcept {
  parts_.tasks.held = false;
  for (const auto& database : databases_) {
    database->tasks().SortReady(now);
    database->tasks().Retry();
  }
}

// Tasks that came due at a writable replica are ready, and nothing has woken their databases since.
void Databases::FollowMaster(bool follows) noexcept {
  const bool is_over = parts_.follows_master && !follows;
  parts_.follows_master = follows;
  if (!is_over) return;
  for (const auto& database : databases_) database->tasks().Retry();
}

bool Databases::RemoveInvalidated() {
  if (parts_.doomed == 0) return false;
  return std::any_of(databases_.begin(), databases_.end(), [](const auto& database) {
    size_t one = 1;
    database->reaper().FreeInvalidated(&one);
    return one == 0;
  });
}

bool Databases::IsDone(uint64_t doom) const noexcept {
  if (parts_.doomed == 0 && !parts_.draining) return true;
  return std::none_of(databases_.begin(), databases_.end(), [&](const auto& database) {
    return database->reaper().OldestDoom() <= doom || database->tasks().HasDrained();
  });
}

bool Databases::HasPromised(Now now) const noexcept {
  if (parts_.doomed == 0 && !parts_.draining) return false;
  return std::any_of(databases_.begin(), databases_.end(),
                     [&](const auto& database) { return database->reaper().HasPromised(now); });
}

bool Databases::DoPromised(Now now, size_t* budget) {
  if (parts_.doomed == 0 && !parts_.draining) return false;
  const bool more = std::any_of(databases_.begin(), databases_.end(), [&](const auto& database) {
    return database->reaper().DoPromised(now, budget);
  });
  if (!more)
    parts_.draining = std::any_of(databases_.begin(), databases_.end(),
                                  [](const auto& database) { return database->tasks().HasDrained(); });
  return more;
}

void Databases::FinishPromised(Now now) {
  parts_.client = 0;
  for (const auto& database : databases_) {
    size_t budget = std::numeric_limits<size_t>::max();
    database->reaper().DoPromised(now, &budget);
    database->reaper().FreeDoomed(&budget);
  }
}

bool Databases::EvictStale(Now now) noexcept {
  Keyspace* home = nullptr;
  uint64_t longest_ms = 0;
  parts_.with_stale.ForEach([&](uint8_t id) {
    const uint64_t idle_ms = Entry::IdleMs(WithId(id).stale().Coldest()->stamp(), now.mono_ms);
    if (home != nullptr && idle_ms <= longest_ms) return;
    home = &WithId(id);
    longest_ms = idle_ms;
  });
  if (home == nullptr) return false;
  home->stale().Evict();
  return true;
}

bool Databases::DropSomeStale(size_t budget) noexcept {
  for (const auto& database : databases_) {
    for (; database->stale().size() != 0; --budget) {
      if (budget == 0) return true;
      database->stale().DropColdest();
    }
  }
  return false;
}

size_t Databases::stale_values() const noexcept {
  size_t values = 0;
  for (const auto& database : databases_) values += database->stale().size();
  return values;
}

uint64_t Databases::stale_bytes() const noexcept {
  uint64_t bytes = 0;
  for (const auto& database : databases_) bytes += database->stale().bytes();
  return bytes;
}

void Databases::SetAccessEffect(AccessEffect effect, const LfuRules& rules) noexcept {
  assert(effect != AccessEffect::kNone && effect != AccessEffect::kWalkedRecency);
  assert(effect != AccessEffect::kFrequency || rules.random != nullptr);
  parts_.lfu = rules;
  if (effect == effect_) return;
  effect_ = effect;
  FollowEffect();
  parts_.quotas.ForEach([](Quota& quota) { quota.ForgetHands(); });
  parts_.quotas.ForgetOrder();
}

void Databases::SetActiveExpiry(bool on) noexcept {
  active_expiry_ = on;
  parts_.rearm.any = true;
}

void Databases::TreatExpired(ExpiredKeys how) noexcept {
  const bool kept = how != ExpiredKeys::kRemoved;
  if (kept != (parts_.expired_keys != ExpiredKeys::kRemoved)) SetActiveExpiry(!kept);
  parts_.expired_keys = how;
}

uint64_t Databases::RecordWake(uint8_t id, Now now) noexcept {
  const uint64_t wait = WithId(id).reaper().NextWakeMs(now);
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
    const bool more = WithId(id).reaper().Advance(now, budget);
    RecordWake(id, now);
    if (!more) continue;
    // The keyspace has spent the budget: the next call begins with the keyspaces after it.
    advance_from_ = gets_some ? (at + 1) % Tournament::kEnd : at;
    return true;
  }
  return false;
}

bool Databases::Advance(Now now, size_t budget) {
  parts_.client = 0;
  if (!active_expiry_) return DoPromised(now, &budget);
  CatchUp(now);
  const size_t from = advance_from_;
  if (AdvanceSome(from, Tournament::kEnd, now, &budget)) return true;
  return AdvanceSome(0, from, now, &budget);
}

bool Databases::FreeCutOff(Now cutoff, bool expires, Now now, size_t budget) {
  parts_.client = 0;
  return std::any_of(databases_.begin(), databases_.end(), [&](const auto& database) {
    return database->reaper().FreeCutOff(cutoff, expires, now, &budget);
  });
}

uint64_t Databases::NextWakeMs(Now now) noexcept {
  if (!active_expiry_) return HasPromised(now) ? 0 : UINT64_MAX;
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
  for (const auto& database : databases_)
    count += database->lifetimes().deadlines().Backlog(now, kBacklogCounted - count);
  return count;
}

uint64_t Databases::DoomedBytes() const noexcept {
  uint64_t bytes = 0;
  for (const auto& keyspace : graveyard_) bytes += keyspace->bytes();
  if (parts_.shares_to_free == 0) return bytes;
  parts_.quotas.ForEach([&](const Quota& quota) { bytes += quota.doomed ? quota.bytes : 0; });
  return bytes;
}

size_t Databases::waiting_keys() const noexcept {
  size_t keys = parts_.buried.size();
  for (const auto& keyspace : graveyard_) keys += keyspace->size() + keyspace->stale().size();
  if (parts_.shares_to_free == 0) return keys;
  parts_.quotas.ForEach([&](const Quota& quota) { keys += quota.doomed ? quota.size() : 0; });
  return keys;
}

size_t Databases::FreeableGraves() const noexcept {
  return static_cast<size_t>(std::count_if(graveyard_.begin(), graveyard_.end(),
                                           [](const auto& keyspace) { return !keyspace->held(); }));
}

// Values first: freeing a keyspace adds its big values to parts_.buried.
bool Databases::FreeSome(size_t budget) noexcept {
  budget = parts_.departures.shadow().FreeSome(parts_.buried.FreeSome(budget));
  for (const auto& database : databases_) {
    if (budget == 0 || parts_.shares_to_free == 0) break;
    database->reaper().FreeDoomed(&budget);
  }
  if (budget == 0) return MayFreeSome();
  const auto last = std::find_if(graveyard_.rbegin(), graveyard_.rend(),
                                 [](const auto& keyspace) { return !keyspace->held(); });
  if (last != graveyard_.rend() && (*last)->FreeSome(budget)) graveyard_.erase(std::next(last).base());
  return MayFreeSome();
}

}  // namespace mayfly
