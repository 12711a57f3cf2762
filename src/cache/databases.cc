#include "cache/databases.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <limits>
#include <utility>

namespace mayfly {

Databases::Databases(Heap& heap, const Hasher& hasher, ChangeHub& changes, unsigned count, Now now)
    : parts_{.heap = heap, .hasher = hasher, .changes = changes, .expiry_stats = expiry_stats_} {
  assert(count >= 1 && count <= kDatabasesMax);
  databases_.reserve(count);
  for (unsigned id = 0; id < count; ++id)
    databases_.push_back(std::make_unique<Keyspace>(parts_, static_cast<uint8_t>(id), id, now));
}

Databases::~Databases() = default;

size_t Databases::total_keys() const noexcept {
  size_t keys = 0;
  for (const auto& database : databases_) keys += database->size();
  return keys;
}

void Databases::Flush(unsigned index, Now now) {
  if (At(index).size() == 0) return;
  DigGraves(1);
  Bury(index, std::make_unique<Keyspace>(parts_, At(index).id(), index, now));
}

void Databases::DigGraves(size_t graves) {
  while (FreeableGraves() + graves > kWaitingMax) FreeSome(std::numeric_limits<size_t>::max());
  graveyard_.reserve(graveyard_.size() + graves);
}

void Databases::Bury(unsigned index, std::unique_ptr<Keyspace> fresh) {
  parts_.stale_guesses.NoteAll();
  graveyard_.push_back(std::exchange(databases_[index], std::move(fresh)));
  Tell(ChangeReason::kFlushed, *graveyard_.back());
}

void Databases::Tell(ChangeReason reason, Keyspace& keyspace) {
  if (!parts_.changes.Wants(reason)) return;
  parts_.changes.Tell({.reason = reason,
                       .event = {},
                       .keyspace = keyspace,
                       .database = keyspace.database(),
                       .key = {},
                       .entry = nullptr,
                       .client = parts_.client},
                      /*observed=*/true);
}

void Databases::MarkAll() noexcept {
  for (const auto& database : databases_) database->MarkAll();
}

void Databases::Swap(unsigned a, unsigned b) {
  assert(a < count() && b < count());
  if (a == b) return;
  parts_.stale_guesses.NoteAll();
  std::swap(databases_[a], databases_[b]);
  for (const unsigned index : {a, b}) At(index).set_database(index);
  for (const unsigned index : {a, b}) Tell(ChangeReason::kSwapped, At(index));
}

void Databases::FlushAll(Now now) {
  std::vector<std::unique_ptr<Keyspace>> fresh(count());
  size_t graves = 0;
  for (unsigned i = 0; i < count(); ++i) {
    if (At(i).size() == 0) continue;
    fresh[i] = std::make_unique<Keyspace>(parts_, At(i).id(), i, now);
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
  for (const auto& database : databases_) database->ForgetHands();
}

void Databases::SetActiveExpiry(bool on) noexcept {
  active_expiry_ = on;
  parts_.rearm = true;
}

bool Databases::Advance(Now now, size_t budget) {
  if (!active_expiry_) return false;
  bool more = false;
  const unsigned from = advance_from_;
  for (unsigned i = 0; i < count(); ++i) {
    const unsigned index = (from + i) % count();
    const bool gets_some = budget != 0;
    if (databases_[index]->expiring() == 0 || !databases_[index]->Advance(now, &budget)) continue;
    // The first one that is not done has spent the budget: the next call begins with those after it.
    if (!more) advance_from_ = gets_some ? (index + 1) % count() : index;
    more = true;
  }
  return more;
}

uint64_t Databases::NextWakeMs(Now now) const noexcept {
  if (!active_expiry_) return UINT64_MAX;
  uint64_t wake = std::numeric_limits<uint64_t>::max();
  for (const auto& database : databases_) {
    wake = std::min(wake, database->NextWakeMs(now));
  }
  return wake;
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
  size_t keys = parts_.buried.size();
  for (const auto& keyspace : graveyard_) keys += keyspace->size();
  return keys;
}

size_t Databases::FreeableGraves() const noexcept {
  return static_cast<size_t>(std::count_if(graveyard_.begin(), graveyard_.end(),
                                           [](const auto& keyspace) { return !keyspace->held(); }));
}

// Values first: while a keyspace is freed, its big values come here.
bool Databases::FreeSome(size_t budget) noexcept {
  budget = parts_.buried.FreeSome(budget);
  if (budget == 0) return MayFreeSome();
  const auto last = std::find_if(graveyard_.rbegin(), graveyard_.rend(),
                                 [](const auto& keyspace) { return !keyspace->held(); });
  if (last != graveyard_.rend() && (*last)->FreeSome(budget)) graveyard_.erase(std::next(last).base());
  return MayFreeSome();
}

}  // namespace mayfly
